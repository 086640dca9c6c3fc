// PROGRAM --heron-local: a topology in this process, from the command line to the exit code.
//
// Thread: main's. Takes SIGINT and SIGTERM while it runs.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "heron/api/topology_builder.h"

namespace heron::local {

struct LocalRun {
  std::vector<std::pair<std::string, std::string>> options;  // internal::CommandLine::local_options
  std::vector<std::string> arguments;
};

// Progress, what was lost and failures go to `err`. The exit code: see heron/api/main.h. Leaves by
// _exit when user code does not return after a signal or a failure.
int RunLocal(const TopologyBuilder& builder, const LocalRun& run, std::ostream& err);

}  // namespace heron::local
