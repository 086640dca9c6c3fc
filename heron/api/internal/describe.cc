#include "heron/api/internal/describe.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ostream>
#include <string_view>

#include "heron/api/internal/builder_access.h"
#include "heron/base/exit_codes.h"
#include "heron/model/described.h"
#include "heron/model/names.h"
#include "heron/model/topology_check.h"

namespace heron::internal {

namespace {

constexpr std::string_view kInstanceOptions[] = {
    "topology", "topology-id", "container", "component",   "task",
    "index",    "epoch",       "executor",  "secret-file", "container-folder"};

constexpr std::string_view kLocalOptions[] = {"containers", "parallelism", "parallelism-all",
                                              "config"};

bool IsLocalOption(std::string_view name) {
  for (std::string_view option : kLocalOptions) {
    if (option == name) return true;
  }
  return false;
}

bool IsInstanceOption(std::string_view name) {
  for (std::string_view option : kInstanceOptions) {
    if (option == name) return true;
  }
  return false;
}

void ReadDescribeFd(std::string_view text, CommandLine& line) {
  int fd = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  if (error != std::errc() || end != text.data() + text.size() || fd < 0) {
    line.mistakes.push_back("--heron-describe-fd=" + std::string(text) +
                            ": not the number of a file descriptor");
    return;
  }
  line.describe_fd = fd;
}

void ReadOption(std::string_view argument, CommandLine& line) {
  std::string_view text = argument.substr(std::string_view("--heron-").size());
  size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  bool has_value = equals != std::string_view::npos;
  std::string_view value = has_value ? text.substr(equals + 1) : std::string_view();
  if (name == "instance" && !has_value) {
    line.instance = true;
  } else if (name == "local" && !has_value) {
    line.local = true;
  } else if (IsLocalOption(name) && has_value) {
    line.local_options.emplace_back(name, value);
  } else if (name == "help" && !has_value) {
    line.help = true;
  } else if (name == "describe-fd" && has_value) {
    ReadDescribeFd(value, line);
  } else if (IsInstanceOption(name) && has_value) {
    if (!line.values.emplace(name, value).second) {
      line.mistakes.push_back("--heron-" + std::string(name) + " is given twice");
    }
  } else if (name == "instance" || name == "local" || name == "help" || name == "describe-fd" ||
             IsInstanceOption(name) || IsLocalOption(name)) {
    line.mistakes.push_back(
        "--heron-" + std::string(name) +
        (has_value ? " takes no value" : " needs a value: --heron-" + std::string(name) + "=..."));
  } else {
    line.mistakes.push_back("unknown option " + model::Quoted(argument) +
                            "; options that begin with --heron- are the engine's");
  }
}

std::string TypeName(const proto::Field& field) {
  if (!field.user_type().empty()) return field.user_type();
  return std::string(DeclaredTypeName(static_cast<DeclaredType>(field.type())));
}

void ExplainComponent(const proto::Component& component, std::ostream& out) {
  out << "\n  " << (component.kind() == proto::SPOUT ? "spout " : "bolt  ") << component.name()
      << " x " << component.parallelism() << (component.bounded() ? " (bounded)" : "") << "\n";
  for (const proto::InputStream& input : component.inputs()) {
    out << "    reads  " << input.component() << "/" << input.stream()
        << (input.feedback() ? " (feedback)" : "") << " by "
        << model::GroupingName(input.grouping());
    for (int i = 0; i < input.fields_size(); ++i) {
      out << (i == 0 ? " of " : ", ") << input.fields(i);
    }
    out << "\n";
  }
  if (component.has_tick_interval_us()) {
    out << "    ticks  every " << static_cast<double>(component.tick_interval_us()) / 1000
        << " ms\n";
  }
  for (const proto::OutputStream& output : component.outputs()) {
    out << "    emits  " << output.name() << "(";
    for (int i = 0; i < output.fields_size(); ++i) {
      out << (i == 0 ? "" : ", ") << output.fields(i).name() << ": " << TypeName(output.fields(i));
    }
    out << ")\n";
  }
}

void Explain(const std::string& program, const proto::Topology& topology, std::ostream& out) {
  int64_t tasks = 0;
  for (const proto::Component& component : topology.components()) tasks += component.parallelism();
  out << "Topology " << topology.name() << ": " << topology.components_size() << " component"
      << (topology.components_size() == 1 ? "" : "s") << ", " << tasks << " task"
      << (tasks == 1 ? "" : "s") << "\n";
  for (const proto::Component& component : topology.components()) ExplainComponent(component, out);
  out << "\nThis program is a topology. To run it in a cluster:\n"
      << "  heron submit local " << program << " " << topology.name() << " -- ARGUMENTS...\n"
      << "To run all of it in this process, in a debugger say:\n"
      << "  " << program << " --heron-local [OPTIONS] -- ARGUMENTS...\n"
      << "    --heron-containers=N             containers the tasks are spread over\n"
      << "    --heron-parallelism=COMPONENT=N  tasks of a component; may be repeated\n"
      << "    --heron-parallelism-all=N        tasks of every component\n"
      << "    --heron-config=KEY=VALUE         a setting; may be repeated\n";
}

// All of it, whatever write(2) takes at once. 0 or errno.
int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

int PrintMistakes(const std::string& program, const std::string& what,
                  const std::vector<std::string>& mistakes, std::ostream& err) {
  err << program << ": " << what
      << (mistakes.size() == 1 ? " has a mistake:\n" : " has mistakes:\n");
  for (const std::string& mistake : mistakes) err << "  " << mistake << "\n";
  err.flush();
  return kExitUsage;
}

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--") break;
    if (argument.starts_with("--heron-")) {
      ReadOption(argument, line);
    } else if (argument == "--help" || argument == "-h") {
      line.help = true;
    } else {
      line.mistakes.push_back("unexpected argument " + model::Quoted(argument) +
                              "; the program's own arguments come after --");
    }
  }
  if (line.instance + line.local + (line.describe_fd >= 0) > 1) {
    line.mistakes.push_back(
        "--heron-instance, --heron-local and --heron-describe-fd exclude each other");
  }
  if (!line.local && !line.local_options.empty()) {
    line.mistakes.push_back("--heron-" + line.local_options.front().first +
                            " goes with --heron-local only");
  }
  for (std::string_view option : kInstanceOptions) {
    bool given = line.values.count(std::string(option)) > 0;
    if (given == line.instance) continue;
    line.mistakes.push_back(
        "--heron-" + std::string(option) +
        (given ? " goes with --heron-instance only" : " is missing; --heron-instance needs it"));
  }
  return line;
}

std::optional<int> RunUnlessTasks(const CommandLine& command_line, const std::string& program,
                                     const TopologyBuilder& builder, std::ostream& out,
                                     std::ostream& err) {
  if (!command_line.mistakes.empty()) {
    return PrintMistakes(program, "the command line", command_line.mistakes, err);
  }
  std::vector<std::string> mistakes = BuilderAccess::Mistakes(builder);
  if (!mistakes.empty()) {
    return PrintMistakes(program, "topology " + model::Quoted(builder.name()), mistakes, err);
  }
  const proto::Topology& definition = BuilderAccess::Definition(builder);
  if (command_line.describe_fd >= 0) {
    int error = WriteAll(command_line.describe_fd, model::SerializeDescribed(definition));
    if (error == 0) return kExitOk;
    err << program << ": cannot write the definition to file descriptor "
        << command_line.describe_fd << ": " << std::strerror(error) << std::endl;
    return kExitError;
  }
  if (command_line.instance) return std::nullopt;
  if (command_line.local && !command_line.help) return std::nullopt;
  Explain(program, definition, out);
  out.flush();
  return kExitOk;
}

}  // namespace heron::internal
