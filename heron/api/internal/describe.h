// What heron::Main does apart from running a task. heron/instance defines Main and calls these.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heron/api/topology_builder.h"

namespace heron::internal {

// The part of the command line before "--".
struct CommandLine {
  bool instance = false;  // --heron-instance
  bool help = false;      // --help, --heron-help
  int describe_fd = -1;   // --heron-describe-fd=N
  // The companions of --heron-instance, without "--heron-": "topology", "topology-id", "container",
  // "component", "task", "index", "epoch", "executor", "secret-file", "container-folder". With
  // --heron-instance all of them are there.
  std::map<std::string, std::string> values;
  bool local = false;  // --heron-local
  // The companions of --heron-local, in order, without "--heron-": ("containers", "2"),
  // ("parallelism", "split=4"), ("parallelism-all", "2"), ("config", "key=value").
  std::vector<std::pair<std::string, std::string>> local_options;
  std::vector<std::string> mistakes;  // unknown, repeated, malformed or missing options, for people
};

CommandLine ParseCommandLine(int argc, const char* const* argv);

// Does all but --heron-instance and --heron-local: prints mistakes, describes or explains. Returns
// the exit code, or nullopt when the command line, free of mistakes, asks for one of the two. A
// topology with mistakes never gets that far.
std::optional<int> RunUnlessTasks(const CommandLine& command_line, const std::string& program,
                                     const TopologyBuilder& builder, std::ostream& out,
                                     std::ostream& err);

}  // namespace heron::internal
