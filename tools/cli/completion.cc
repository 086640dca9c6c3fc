#include "tools/cli/completion.h"

#include "tools/cli/records.h"

namespace tools::cli {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

// In single quotes, for a shell.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

enum class Words { kFiles, kFolders, kTopologies, kCommands, kChoice };

Words WordsOf(const OptionSpec& positional) {
  const std::string& name = positional.names.front();
  if (!positional.values.empty()) return Words::kChoice;
  if (name.starts_with("NAME")) return Words::kTopologies;
  if (name == "COMMAND") return Words::kCommands;
  if (name == "DIR") return Words::kFolders;
  return Words::kFiles;
}

// A word in lower case stands for itself: heron config show.
bool IsLiteral(const OptionSpec& positional) {
  return positional.names.front().find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
}

std::vector<std::string> CommandNames(const std::vector<CommandSpec>& commands) {
  std::vector<std::string> names;
  for (const CommandSpec& command : commands) names.push_back(command.name);
  return names;
}

std::string BashWords(const CommandSpec& command, const std::vector<CommandSpec>& commands) {
  std::string line;
  for (const OptionSpec& positional : command.positionals) {
    if (IsLiteral(positional)) {
      line += " words+=' " + Joined(positional.names) + "';";
      continue;
    }
    switch (WordsOf(positional)) {
      case Words::kFiles:
        line += " files=-f;";
        break;
      case Words::kFolders:
        line += " files=-d;";
        break;
      case Words::kTopologies:
        line += " words+=\" $(_heron_names \"$1\")\";";
        break;
      case Words::kCommands:
        line += " words+=' " + Joined(CommandNames(commands)) + "';";
        break;
      case Words::kChoice:
        line += " words+=' " + Joined(positional.values) + "';";
        break;
    }
  }
  return line;
}

// In the brackets of an _arguments specification.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshOption(const OptionSpec& option) {
  std::string lines;
  for (const std::string& name : option.names) {
    std::string spec = "*" + name;
    if (option.takes_value && name.starts_with("--")) spec += option.only_with_equals ? "=-" : "=";
    spec += "[" + ZshText(option.what) + "]";
    if (option.takes_value) {
      spec += option.only_with_equals ? "::" : ":";
      spec += "value:" + (option.values.empty() ? " " : "(" + Joined(option.values) + ")");
    }
    lines += " \\\n        " + Quoted(spec);
  }
  return lines;
}

std::string ZshPositionals(const CommandSpec& command) {
  for (const OptionSpec& positional : command.positionals) {
    if (IsLiteral(positional)) return " \\\n        '1:word:(" + positional.names.front() + ")'";
    switch (WordsOf(positional)) {
      case Words::kFiles:
        return " \\\n        '*:file:_files'";
      case Words::kFolders:
        return " \\\n        '*:folder:_files -/'";
      case Words::kTopologies:
        return " \\\n        '*:topology:_heron_names'";
      case Words::kCommands:
        return " \\\n        '1:command:_heron_commands'";
      case Words::kChoice:
        return " \\\n        '1:word:(" + Joined(positional.values) + ")'";
    }
  }
  return "";
}

}  // namespace

std::string BashCompletion(const std::vector<CommandSpec>& commands) {
  std::string script = R"TXT(# bash completion for heron, printed by: heron completion bash

# Topologies; a state store that does not answer must not hold the shell up.
_heron_names() { timeout 1 "$1" completion --names 2>/dev/null; }

_heron_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$1" -- "$cur")
}

_heron() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word words='' files=''
  COMPREPLY=()
  # "--option=value" comes as three words.
  if [ "$cur" = '=' ]; then
    cur=''
  elif [ "$prev" = '=' ]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ "$word" = -- ]; then _heron_files -f; return; fi
    if [ -z "$command" ] && [ "${word#-}" = "$word" ]; then command=$word; fi
  done
  if [ -z "$command" ]; then
    COMPREPLY=($(compgen -W ')TXT" +
                       Joined(CommandNames(commands)) + R"TXT( --help' -- "$cur"))
    return
  fi
  case "$command $prev" in
)TXT";
  for (const CommandSpec& command : commands) {
    for (const OptionSpec& option : command.options) {
      if (!option.takes_value) continue;
      // Without the "=" the next word is not the value.
      const std::string guard = option.only_with_equals
                                    ? "if [ \"${COMP_WORDS[COMP_CWORD]}\" != '=' ] && "
                                      "[ \"${COMP_WORDS[COMP_CWORD-1]}\" != '=' ]; then :; else "
                                    : "";
      for (const std::string& name : option.names) {
        script += "    '" + command.name + " " + name + "') " + guard +
                  "COMPREPLY=($(compgen -W '" + Joined(option.values) + "' -- \"$cur\")); return" +
                  (guard.empty() ? "" : "; fi") + " ;;\n";
      }
    }
  }
  script += R"TXT(  esac
  if [ "${cur#-}" != "$cur" ]; then
    case $command in
)TXT";
  for (const CommandSpec& command : commands) {
    std::string names;
    for (const OptionSpec& option : command.options) names += " " + Joined(option.names);
    script +=
        "      " + command.name + ") words='" + names.substr(names.empty() ? 0 : 1) + "' ;;\n";
  }
  script += R"TXT(    esac
  else
    case $command in
)TXT";
  for (const CommandSpec& command : commands) {
    script += "      " + command.name + ")" + BashWords(command, commands) + " ;;\n";
  }
  script += R"TXT(    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [ -n "$files" ]; then _heron_files "$files"; fi
}
complete -F _heron heron
)TXT";
  return script;
}

std::string ZshCompletion(const std::vector<CommandSpec>& commands) {
  std::string script = R"TXT(#compdef heron
# zsh completion for heron, printed by: heron completion zsh

# Topologies; a state store that does not answer must not hold the shell up.
_heron_names() {
  local -a names
  names=(${(f)"$(timeout 1 ${_heron_program:-heron} completion --names 2>/dev/null)"})
  compadd -a names
}

_heron_commands() {
  local -a commands
  commands=(
)TXT";
  for (const CommandSpec& command : commands) {
    script += "    " + Quoted(command.name + ":" + command.what) + "\n";
  }
  script += R"TXT(  )
  _describe command commands
}

_heron() {
  local _heron_program=$words[1]
  if (( CURRENT == 2 )); then
    _heron_commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  # Behind "--" stand the arguments of the program.
  if (( ${words[(i)--]} < CURRENT )); then
    _files
    return
  fi
  case $command in
)TXT";
  for (const CommandSpec& command : commands) {
    script += "    " + command.name + ")\n      _arguments";
    for (const OptionSpec& option : command.options) script += ZshOption(option);
    script += ZshPositionals(command) + "\n      ;;\n";
  }
  script += R"TXT(  esac
}

# Loaded by compinit, or sourced.
if [[ $funcstack[1] == _heron ]]; then _heron "$@"; else compdef _heron heron; fi
)TXT";
  return script;
}

heron::Status TopologyNamesCommand(Cli& cli, const Place& place) {
  auto topologies = ListTopologies(*cli.store);
  if (!topologies.ok()) return topologies.status();
  for (const heron::state::TopologyKey& key : *topologies) {
    if (key.role == place.role && key.env == place.env) *cli.out << key.name << "\n";
  }
  cli.out->flush();
  return heron::Status::Ok();
}

}  // namespace tools::cli
