#include "tools/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

#include "heron/model/names.h"
#include "heron/model/nearest_hint.h"
#include "heron/settings/keys.h"
#include "tools/cli/target.h"

namespace tools::cli {
namespace {

using heron::InvalidArgument;
using heron::Result;
using heron::Status;

// As typed, before the typed values are made of it.
struct RawOptions {
  std::string output = "text";
  std::string wait;
  std::string wait_for;
  std::string timeout;
  std::string containers;
  std::string parallelism_all;
  std::string tail;
  std::string since;
  std::string level;
  std::string container;
  std::string task;
  std::vector<std::string> parallelism;
  std::string help_about;
};

// Of a component, and containers of a topology.
constexpr int kMostTasks = 10'000;

constexpr char kPlaceHelp[] =
    "CLUSTER[/ROLE[/ENV]] may stand first: cluster by default as configured (local), role your "
    "user name, env default.";

// The library makes a usage line of its own that knows neither the optional place nor "--".
class UsageFormatter : public CLI::Formatter {
 public:
  explicit UsageFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: " + usage_ + "\n";
  }

 private:
  const std::string usage_;
};

std::shared_ptr<CLI::FormatterBase> Usage(std::string usage) {
  auto formatter = std::make_shared<UsageFormatter>(std::move(usage));
  formatter->column_width(32);
  return formatter;
}

class Parser {
 public:
  explicit Parser(CommandLine* line)
      : line_(*line), app_("Runs stream processing topologies.", "heron") {
    app_.require_subcommand(1);
    app_.footer(
        "heron COMMAND --help shows a command's options and an example.\n"
        "Exit codes: 0 done, 1 refused by the system, 2 bad usage.");
    AddSubmit();
    AddRun();
    AddWait();
    AddKill();
    AddDesire("activate", "Let the spouts of a deactivated topology emit again");
    AddDesire("deactivate", "Let the spouts of a topology pause; it stays in place");
    AddRestart();
    AddTopologies();
    AddExplain();
    AddLogs();
    AddCluster();
    AddConfig();
    AddNew();
    AddCommand("doctor", "Look for what on this machine may keep Heron from working",
               "heron doctor");
    AddCompletion();
    AddCommand("version", "Print the version", "heron version");
    AddCommand("help", "Explain a command", "heron help submit")
        ->add_option("COMMAND", raw_.help_about, "The command to explain");
  }

  Status Parse(std::vector<std::string> words);
  std::vector<CommandSpec> Specs() const;

 private:
  CLI::App* AddCommand(const std::string& name, const std::string& what,
                       const std::string& example) {
    CLI::App* command = app_.add_subcommand(name, what);
    command->footer("Example:\n  " + example);
    if (name != "logs" && name != "help" && name != "completion" && name != "new" &&
        name != "run") {
      command->add_option("--output", raw_.output, "text or json")
          ->check(CLI::IsMember({"text", "json"}));
    }
    names_.push_back(name);
    return command;
  }
  // Too few or too many are refused by AssignPositionals, which knows what to say.
  void AddPositionals(CLI::App* command, const std::string& what) {
    command->add_option(what, line_.positionals, kPlaceHelp)->expected(0, 1000);
  }
  void AddChanges(CLI::App* command);
  void AddSubmit();
  void AddRun();
  void AddWait();
  void AddKill();
  void AddDesire(const std::string& name, const std::string& what);
  void AddRestart();
  void AddTopologies();
  void AddExplain();
  void AddLogs();
  void AddCluster();
  void AddConfig();
  void AddNew();
  void AddCompletion();
  Status TakeValues();

  CommandLine& line_;
  RawOptions raw_;
  CLI::App app_;
  std::vector<std::string> names_;
};

// To what the program describes.
void Parser::AddChanges(CLI::App* command) {
  command->add_option("--containers", raw_.containers, "Containers to spread the tasks over")
      ->type_name("N");
  command->add_option("--parallelism", raw_.parallelism, "Tasks of a component; may be repeated")
      ->type_name("COMPONENT=N")
      ->allow_extra_args(false);
  command->add_option("--parallelism-all", raw_.parallelism_all, "Tasks of every component")
      ->type_name("N");
  command->add_option("--config,--config-property", line_.config, "A setting; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void Parser::AddRun() {
  CLI::App* run = AddCommand("run", "Run a topology in one process here, without a cluster",
                             "heron run ./wordcount --parallelism split=4 -- in.txt out.tsv");
  run->formatter(Usage("heron run PROGRAM [OPTIONS] [-- ARGUMENTS]"));
  run->add_option("PROGRAM", line_.positionals,
                  "The program; it runs as PROGRAM --heron-local, until the topology has finished "
                  "or Ctrl-C")
      ->expected(0, 1000);
  AddChanges(run);
}

void Parser::AddSubmit() {
  CLI::App* submit = AddCommand("submit", "Start a topology",
                                "heron submit local ./wordcount my-count --wait=finished "
                                "--parallelism split=4 -- in.txt out.tsv");
  submit->formatter(
      Usage("heron submit [CLUSTER[/ROLE[/ENV]]] PROGRAM NAME [OPTIONS] [-- ARGUMENTS]"));
  AddPositionals(submit, "PROGRAM_NAME");
  submit
      ->add_option("--wait", raw_.wait,
                   "Wait until it is 'running' (if nothing is said) or 'finished'")
      ->type_name("[=running|finished]");
  submit->add_option("--timeout", raw_.timeout, "How long to wait, e.g. 30s, 5m")
      ->type_name("TIME");
  AddChanges(submit);
  submit->add_flag("--deploy-deactivated", line_.deploy_deactivated,
                   "Start it, but let the spouts wait for: heron activate");
  submit->add_flag("--dry-run", line_.dry_run,
                   "Check everything, show the packing plan, start nothing");
}

void Parser::AddWait() {
  CLI::App* wait = AddCommand("wait", "Wait until a topology runs or has finished",
                              "heron wait my-count --for finished --timeout 10m");
  wait->formatter(Usage("heron wait [CLUSTER[/ROLE[/ENV]]] NAME [OPTIONS]"));
  AddPositionals(wait, "NAME");
  wait->add_option("--for", raw_.wait_for, "running or finished (if nothing is said)")
      ->check(CLI::IsMember({"running", "finished"}));
  wait->add_option("--timeout", raw_.timeout, "How long, e.g. 30s, 5m; for ever if not said")
      ->type_name("TIME");
}

void Parser::AddKill() {
  CLI::App* kill = AddCommand("kill", "End a topology and remove everything of it, logs too",
                              "heron kill my-count");
  kill->formatter(Usage("heron kill [CLUSTER[/ROLE[/ENV]]] NAME"));
  AddPositionals(kill, "NAME");
}

void Parser::AddDesire(const std::string& name, const std::string& what) {
  CLI::App* command = AddCommand(name, what, "heron " + name + " my-count");
  command->formatter(Usage("heron " + name + " [CLUSTER[/ROLE[/ENV]]] NAME [OPTIONS]"));
  AddPositionals(command, "NAME");
  command->add_option("--timeout", raw_.timeout, "How long to wait until it is so; 30s if not said")
      ->type_name("TIME");
}

void Parser::AddRestart() {
  CLI::App* restart =
      AddCommand("restart", "Start a topology, or a part of it, anew; brings back a LOST one",
                 "heron restart my-count --container 2");
  restart->formatter(Usage("heron restart [CLUSTER[/ROLE[/ENV]]] NAME [OPTIONS]"));
  AddPositionals(restart, "NAME");
  restart->add_option("--container", raw_.container, "Only the processes of this container")
      ->type_name("K");
  restart->add_option("--component", line_.component, "Only the tasks of this component")
      ->type_name("NAME");
  restart->add_option("--task", raw_.task, "Only this task, by its number")->type_name("T");
  restart
      ->add_option("--timeout", raw_.timeout,
                   "How long to wait until it runs again; 60s if not said")
      ->type_name("TIME");
}

void Parser::AddTopologies() {
  CLI::App* command =
      AddCommand("topologies", "Show the topologies and how they are", "heron topologies my-count");
  command->formatter(Usage("heron topologies [CLUSTER[/ROLE[/ENV]]] [NAME] [OPTIONS]"));
  command->add_option("NAME", line_.positionals, kPlaceHelp)->expected(0, 2);
}

void Parser::AddExplain() {
  CLI::App* command =
      AddCommand("explain", "Tell why a topology is not (fully) running, or does not finish",
                 "heron explain my-count");
  command->formatter(Usage("heron explain [CLUSTER[/ROLE[/ENV]]] NAME [OPTIONS]"));
  AddPositionals(command, "NAME");
}

void Parser::AddLogs() {
  CLI::App* logs = AddCommand("logs", "Show the logs of a topology",
                              "heron logs my-count split[0] --tail 50 --follow");
  logs->formatter(Usage(
      "heron logs [CLUSTER[/ROLE[/ENV]]] NAME [TARGET] [OPTIONS]\n"
      "TARGET: COMPONENT, COMPONENT[i], a task's number, tm, sm[:C], executor[:C] or supervisor; "
      "all if not said"));
  AddPositionals(logs, "NAME_TARGET");
  logs->add_option("--tail", raw_.tail,
                   "Lines of each file; 100 if not said, all with --previous or --since")
      ->type_name("N");
  logs->add_flag("--previous,-p", line_.previous, "Begin with what was rotated into older files");
  logs->add_option("--since", raw_.since, "Only what was written since then, e.g. 5m ago")
      ->type_name("TIME");
  logs->add_option("--level", raw_.level, "Only lines of this level and worse ones")
      ->type_name("info|warning|error")
      ->check(CLI::IsMember({"info", "warning", "error"}));
  logs->add_flag("--follow,-f", line_.follow, "Show new lines until Ctrl-C");
}

void Parser::AddCluster() {
  CLI::App* cluster = AddCommand(
      "cluster", "Stop all topologies of a cluster, bring back the LOST ones, show its facts",
      "heron cluster start local");
  cluster->formatter(
      Usage("heron cluster start|stop|status [CLUSTER] [OPTIONS]\n"
            "start: starts what is wanted and LOST, after a reboot say\n"
            "stop: ends all processes and keeps the records, so that start brings them back\n"
            "status: folder, state store, topologies by state, processes, free disk space"));
  cluster
      ->add_option("ACTION", line_.positionals,
                   "start, stop or status, then the cluster; by default as configured (local)")
      ->expected(1, 2)
      ->required();
}

void Parser::AddConfig() {
  CLI::App* config = AddCommand("config", "Show the settings in effect and where each was said",
                                "heron config show local topology.containers");
  config->formatter(Usage("heron config show [CLUSTER] [KEY] [OPTIONS]"));
  config
      ->add_option("show", line_.positionals,
                   "What to do (show), then the cluster, by default as configured (local), then a "
                   "key; all if not said")
      ->expected(1, 3)
      ->required();
}

void Parser::AddNew() {
  CLI::App* command =
      AddCommand("new", "Make a project for a topology of your own", "heron new my-topology");
  command->formatter(Usage("heron new DIR [OPTIONS]"));
  command->add_option("DIR", line_.positionals, "The folder to make; an empty one is fine too")
      ->expected(1, 1)
      ->required();
  command->add_option("--name", line_.name, "Name of the topology; as the folder if not said")
      ->type_name("NAME");
}

void Parser::AddCompletion() {
  CLI::App* completion = AddCommand("completion", "Print a script that completes command lines",
                                    "source <(heron completion bash)");
  completion->formatter(Usage("heron completion bash|zsh"));
  completion->add_option("SHELL", line_.shell, "bash or zsh")
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion->add_flag("--names", line_.topology_names)->group("");  // for the scripts
}

// The words of "{a,b}" or "[=a|b]" in a type's name.
std::vector<std::string> Choice(const std::string& type) {
  const bool equals = type.starts_with("[=");
  const size_t begin = equals ? 2 : type.find('{') + 1;
  const size_t end = type.find(equals ? ']' : '}');
  std::vector<std::string> words;
  if (begin == 0 || end == std::string::npos) return words;
  std::istringstream list(type.substr(begin, end - begin));
  for (std::string word; std::getline(list, word, equals ? '|' : ',');) words.push_back(word);
  return words;
}

std::vector<CommandSpec> Parser::Specs() const {
  std::vector<CommandSpec> specs;
  for (const std::string& name : names_) {
    const CLI::App* command = app_.get_subcommand(name);
    CommandSpec spec{name, command->get_description(), {}, {}};
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      OptionSpec one;
      one.what = option->get_description();
      one.values = Choice(option->get_type_name());
      one.takes_value = option->get_items_expected_max() > 0;
      one.only_with_equals = option->get_type_name().starts_with("[=");
      for (const std::string& word : option->get_lnames()) one.names.push_back("--" + word);
      for (const std::string& word : option->get_snames()) one.names.push_back("-" + word);
      if (option->get_positional()) one.names = {option->get_name(true)};
      (option->get_positional() ? spec.positionals : spec.options).push_back(std::move(one));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

Status Parser::Parse(std::vector<std::string> words) {
  if (words.empty()) {
    return InvalidArgument("no command given" + heron::model::NearestHint("", names_));
  }
  // The first word that is no option is the command: a wrong one deserves a better answer than the
  // library's.
  for (const std::string& word : words) {
    if (word.starts_with("-")) continue;
    if (std::find(names_.begin(), names_.end(), word) == names_.end()) {
      return InvalidArgument("no command '" + word + "'" + heron::model::NearestHint(word, names_));
    }
    break;
  }
  // An option with an optional value would swallow the word behind it.
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "--wait") continue;
    if (i + 1 < words.size() && (words[i + 1] == "running" || words[i + 1] == "finished")) {
      return InvalidArgument("--wait takes its value with =: --wait=" + words[i + 1]);
    }
    words[i] = "--wait=running";
  }
  // The library would show the help of `help` only.
  if (words == std::vector<std::string>{"help"}) words = {"--help"};
  std::reverse(words.begin(), words.end());  // as the library wants it
  try {
    app_.parse(words);
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> commands = app_.get_subcommands();
    line_.help = commands.empty() ? app_.help() : commands.front()->help();
    return Status::Ok();
  } catch (const CLI::ParseError& error) {
    return InvalidArgument(error.what());
  }
  line_.command = app_.get_subcommands().front()->get_name();
  if (line_.command == "help") {
    if (raw_.help_about.empty()) {
      line_.help = app_.help();
      return Status::Ok();
    }
    if (std::find(names_.begin(), names_.end(), raw_.help_about) == names_.end()) {
      return InvalidArgument("no command '" + raw_.help_about + "'" +
                             heron::model::NearestHint(raw_.help_about, names_));
    }
    line_.help = app_.get_subcommand(raw_.help_about)->help();
    return Status::Ok();
  }
  return TakeValues();
}

Status Parser::TakeValues() {
  line_.json = raw_.output == "json";
  std::string wait = raw_.wait;
  if (line_.command == "wait") wait = raw_.wait_for.empty() ? "finished" : raw_.wait_for;
  if (wait == "running") line_.wait = WaitOptions::For::kRunning;
  if (wait == "finished") line_.wait = WaitOptions::For::kFinished;
  if (!wait.empty() && !line_.wait) {
    return InvalidArgument("--wait=" + wait + ": write --wait=running or --wait=finished");
  }
  if (!raw_.timeout.empty()) {
    Result<heron::Duration> timeout = ParseDuration(raw_.timeout);
    if (!timeout.ok()) return timeout.status().WithContext("--timeout");
    line_.timeout = *timeout;
  }
  const auto number = [](const char* option, const std::string& text, int least, int most,
                         std::optional<int>* into) -> Status {
    if (text.empty()) return Status::Ok();
    Result<int> parsed = ParseNumber(option, text, least, most);
    if (!parsed.ok()) return parsed.status();
    *into = *parsed;
    return Status::Ok();
  };
  HERON_RETURN_IF_ERROR(
      number("--containers", raw_.containers, 1, kMostTasks, &line_.overrides.containers));
  HERON_RETURN_IF_ERROR(number("--parallelism-all", raw_.parallelism_all, 1, kMostTasks,
                               &line_.overrides.parallelism_all));
  HERON_RETURN_IF_ERROR(number("--tail", raw_.tail, 0, 1'000'000, &line_.tail));
  if (raw_.level == "info") line_.level = LogLevel::kInfo;
  if (raw_.level == "warning") line_.level = LogLevel::kWarning;
  if (raw_.level == "error") line_.level = LogLevel::kError;
  HERON_RETURN_IF_ERROR(number("--container", raw_.container, 0, kMostTasks, &line_.container));
  HERON_RETURN_IF_ERROR(number("--task", raw_.task, 1, kMostTasks, &line_.task));
  if (line_.container.has_value() + line_.task.has_value() + !line_.component.empty() > 1) {
    return InvalidArgument("--container, --component and --task: give one of them");
  }
  if (!raw_.since.empty()) {
    Result<heron::Duration> since = ParseDuration(raw_.since);
    if (!since.ok()) return since.status().WithContext("--since");
    line_.since = *since;
  }
  for (const std::string& text : raw_.parallelism) {
    if (!heron::model::IsUtf8(text)) {
      return InvalidArgument("--parallelism " + heron::model::Quoted(text) +
                             " is no UTF-8 text; no component has such a name");
    }
    auto assignment = ParseAssignment("--parallelism", text);
    if (!assignment.ok()) return assignment.status();
    auto tasks =
        ParseNumber("--parallelism " + assignment->first, assignment->second, 1, kMostTasks);
    if (!tasks.ok()) return tasks.status();
    line_.overrides.parallelism.emplace_back(assignment->first, *tasks);
  }
  for (const std::string& text : line_.config) {
    // Messages show what was given, and the topology's record is UTF-8.
    const std::string key = text.substr(0, text.find('='));
    if (!heron::model::IsUtf8(text)) {
      return InvalidArgument("--config " + heron::model::Quoted(key) + ": its " +
                             (heron::model::IsUtf8(key) ? "value" : "name") +
                             " is no UTF-8 text; write it in UTF-8");
    }
    auto assignment = ParseAssignment("--config", text);
    if (!assignment.ok()) return assignment.status();
  }
  return Status::Ok();
}

}  // namespace

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& words) {
  CommandLine line;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> own(words.begin(), dashes);
  if (dashes != words.end()) line.arguments.assign(dashes + 1, words.end());
  Parser parser(&line);
  HERON_RETURN_IF_ERROR(parser.Parse(std::move(own)));
  if (line.help.empty() && !line.arguments.empty() && line.command != "submit" &&
      line.command != "run") {
    return InvalidArgument("only submit and run take arguments after --");
  }
  return line;
}

std::vector<CommandSpec> CommandSpecs() {
  CommandLine line;
  return Parser(&line).Specs();
}

Status AssignPositionals(const std::string& default_cluster, CommandLine* line) {
  std::vector<std::string> words = line->positionals;
  const auto is_place = [&](const std::string& word) {
    return word.find('/') != std::string::npos || word == "local" || word == default_cluster;
  };
  const auto take_place = [&] {
    line->place = words.front();
    words.erase(words.begin());
  };
  if (line->command == "submit") {
    if (words.size() > 3) {
      return InvalidArgument("submit takes a place, a program and a name, so what is " +
                             heron::model::Quoted(words[3]) +
                             "? Arguments of the program stand after --: heron submit "
                             "[CLUSTER[/ROLE[/ENV]]] PROGRAM NAME -- ARGUMENTS");
    }
    if (words.size() == 3) take_place();
    if (words.size() != 2) {
      return InvalidArgument(
          "submit needs a program and a name: heron submit [CLUSTER[/ROLE[/ENV]]] PROGRAM NAME");
    }
    line->program = words[0];
    line->name = words[1];
    return Status::Ok();
  }
  if (line->command == "run") {
    if (words.size() != 1) {
      return InvalidArgument("write: heron run PROGRAM [OPTIONS] -- ARGUMENTS");
    }
    line->program = words[0];
    return Status::Ok();
  }
  if (line->command == "topologies") {
    if (words.size() > 2) {
      return InvalidArgument("write: heron topologies [CLUSTER[/ROLE[/ENV]]] [NAME]");
    }
    if (words.size() == 2 || (words.size() == 1 && is_place(words[0]))) take_place();
    if (!words.empty()) line->name = words[0];
    return Status::Ok();
  }
  if (line->command == "logs") {
    if (words.empty() || words.size() > 3) {
      return InvalidArgument("logs needs a name: heron logs [CLUSTER[/ROLE[/ENV]]] NAME [TARGET]");
    }
    if (words.size() == 3 || (words.size() == 2 && is_place(words[0]))) take_place();
    if (words.size() == 2) line->log_target = words[1];
    line->name = words[0];
    return Status::Ok();
  }
  if (line->command == "version" || line->command == "doctor" || line->command == "new") {
    return Status::Ok();
  }
  if (line->command == "completion") {
    if (!line->shell.empty() || line->topology_names) return Status::Ok();
    return InvalidArgument(
        "for which shell? Write: heron completion bash, or: heron completion zsh");
  }
  if (line->command == "cluster") {
    const std::vector<std::string> actions = {"start", "stop", "status"};
    if (words.empty() || words.size() > 2 ||
        std::find(actions.begin(), actions.end(), words[0]) == actions.end()) {
      return InvalidArgument("write: heron cluster start|stop|status [CLUSTER]" +
                             (words.empty() ? "" : heron::model::NearestHint(words[0], actions)));
    }
    line->action = words[0];
    words.erase(words.begin());
    if (!words.empty()) take_place();
    if (line->place.find('/') != std::string::npos) {
      return InvalidArgument("it is about a whole cluster: write CLUSTER instead of '" +
                             line->place + "'");
    }
    return Status::Ok();
  }
  if (line->command == "config") {
    if (words.empty() || words[0] != "show" || words.size() > 3) {
      return InvalidArgument("write: heron config show [CLUSTER] [KEY]");
    }
    words.erase(words.begin());
    // One word is a key when it looks like one ("heron.x", "topology.x", "cluster").
    if (words.size() == 2 || (words.size() == 1 && !heron::settings::IsReserved(words[0]))) {
      take_place();
    }
    if (line->place.find('/') != std::string::npos) {
      return InvalidArgument("settings belong to a cluster: write CLUSTER instead of '" +
                             line->place + "'");
    }
    if (!words.empty()) line->config_key = words[0];
    return Status::Ok();
  }
  if (words.empty() || words.size() > 2) {
    return InvalidArgument(line->command + " needs a name: heron " + line->command +
                           " [CLUSTER[/ROLE[/ENV]]] NAME");
  }
  if (words.size() == 2) take_place();
  line->name = words[0];
  return Status::Ok();
}

}  // namespace tools::cli
