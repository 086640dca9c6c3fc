// The command line of `heron`, parsed. The only place that knows the library that parses it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "tools/cli/definition.h"
#include "tools/cli/wait.h"

namespace tools::cli {

struct CommandLine {
  std::string help;     // not empty: print this and do nothing
  std::string command;  // "submit", ...
  bool json = false;

  // What stands before "--"; AssignPositionals makes the next four of them.
  std::vector<std::string> positionals;
  std::string place;       // CLUSTER[/ROLE[/ENV]]; may be empty
  std::string program;     // submit
  std::string name;        // may be empty for topologies
  std::string log_target;  // logs
  std::string config_key;  // config show; empty: all

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
};

// `words` without the program's name. InvalidArgument for what is not understood, with what would
// be.
heron::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& words);

// Sorts out the optional CLUSTER[/ROLE[/ENV]]. Where only the text can tell, it is one when it has
// a '/' or is "local" or `default_cluster`.
heron::Status AssignPositionals(const std::string& default_cluster, CommandLine* line);

}  // namespace tools::cli
