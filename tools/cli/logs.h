// The command `heron logs`: the last lines of a topology's log files, and what comes after them.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "proto/plan.pb.h"
#include "tools/cli/context.h"

namespace tools::cli {

struct LogsOptions {
  // COMPONENT, COMPONENT[i], TASK, tm, sm:C, executor:C, supervisor; empty: all files
  std::string target;
  int tail = 100;       // lines of each file, 0: none
  bool follow = false;  // until Ctrl-C, or until the topology and its logs are gone
};

struct LogFile {
  std::string path;
  std::string name;  // "split-7", "tm", "sm:1", "executor:0", "supervisor"
};

// The files that the target means, whether they exist or not; of all files those that exist.
// InvalidArgument names what there is.
heron::Result<std::vector<LogFile>> FindLogFiles(const std::string& log_folder,
                                                 const heron::proto::PackingPlan& plan,
                                                 const std::string& target);

// Lines of several files carry their file's name.
heron::Status LogsCommand(Cli& cli, const heron::state::TopologyKey& key,
                          const LogsOptions& options);

}  // namespace tools::cli
