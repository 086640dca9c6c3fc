// The command `heron logs`: the last lines of a topology's log files, and what comes after them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "proto/plan.pb.h"
#include "tools/cli/context.h"
#include "tools/cli/log_level.h"
#include "tools/cli/log_reader.h"

namespace tools::cli {

struct LogsOptions {
  // COMPONENT, COMPONENT[i], TASK, tm, sm, sm:C, executor, executor:C, supervisor; empty: all files
  std::string target;
  // Lines of each file, 0: none. Not said: 100, and all with `previous` or `since`.
  std::optional<int> tail;
  // Until Ctrl-C, or until the topology has ended or it and its logs are gone.
  bool follow = false;
  bool previous = false;  // begin with what was rotated into older files
  // Only from the first line on that says it was written since then; a file without a line that
  // says when is shown if it was written to since then.
  std::optional<heron::Duration> since;
  // Only lines of this level and worse ones, `tail` of them; a line that begins with a space
  // belongs to the one before it.
  std::optional<LogLevel> level;
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
