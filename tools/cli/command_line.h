// The command line of `heron`, parsed. The only place that knows the library that parses it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "tools/cli/definition.h"
#include "tools/cli/log_level.h"
#include "tools/cli/wait.h"

namespace tools::cli {

struct CommandLine {
  std::string help;     // not empty: print this and do nothing
  std::string command;  // "submit", ...
  bool json = false;

  // What stands before "--"; AssignPositionals makes the next four of them.
  std::vector<std::string> positionals;
  std::string place;       // CLUSTER[/ROLE[/ENV]]; may be empty
  std::string program;     // submit, run
  std::string name;        // may be empty for topologies
  std::string log_target;  // logs
  std::string config_key;  // config show; empty: all
  std::string action;      // cluster: "start", "stop" or "status"

  std::vector<std::string> arguments;  // after "--", untouched
  std::vector<std::string> config;     // key=value
  Overrides overrides;
  std::optional<WaitOptions::For> wait;  // submit --wait, wait --for
  std::optional<heron::Duration> timeout;
  bool deploy_deactivated = false;
  bool dry_run = false;
  std::optional<int> tail;
  bool follow = false;
  bool previous = false;
  std::optional<heron::Duration> since;
  std::string shell;            // completion
  bool topology_names = false;  // completion --names, which the scripts call
  std::optional<LogLevel> level;
  std::optional<int> container;  // restart; at most one of these
  std::string component;
  std::optional<int> task;
};

// What may stand on a command line, told from the same definition that parses it.
struct OptionSpec {
  std::vector<std::string> names;   // "--follow", "-f"
  std::string what;                 // for people
  std::vector<std::string> values;  // known ones, if there is a choice
  bool takes_value = false;
  bool only_with_equals = false;  // --wait=running, not --wait running
};
struct CommandSpec {
  std::string name;
  std::string what;
  std::vector<OptionSpec> options;
  // What its words are: "NAME" (of a topology), "PROGRAM", "DIR", "COMMAND", or a choice.
  std::vector<OptionSpec> positionals;
};
std::vector<CommandSpec> CommandSpecs();

// `words` without the program's name. InvalidArgument for what is not understood, with what would
// be.
heron::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& words);

// Sorts out the optional CLUSTER[/ROLE[/ENV]]. Where only the text can tell, it is one when it has
// a '/' or is "local" or `default_cluster`.
heron::Status AssignPositionals(const std::string& default_cluster, CommandLine* line);

}  // namespace tools::cli
