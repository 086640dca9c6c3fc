// Waits until a topology runs or has finished, showing what it waits for and what fails meanwhile.
#pragma once

#include <optional>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "tools/cli/context.h"
#include "tools/cli/progress.h"

namespace tools::cli {

struct WaitOptions {
  enum class For { kRunning, kFinished };
  For what = For::kRunning;
  std::optional<heron::Duration> timeout;  // none: for ever
  bool inactive_will_do =
      false;  // a deactivated topology with all its tasks ready counts as running
};

// Of this topology id. Ok: it runs, is INACTIVE where that will do, or has FINISHED (then also
// until its processes have ended). FailedPrecondition: it FAILED, was killed or replaced, lost its
// processes, or Ctrl-C came. DeadlineExceeded says what was still missing.
heron::Status WaitForTopology(Cli& cli, const heron::state::TopologyKey& key,
                              const std::string& topology_id, const WaitOptions& options,
                              Progress& progress);

// The command `heron wait`.
heron::Status WaitCommand(Cli& cli, const heron::state::TopologyKey& key,
                          const WaitOptions& options);

}  // namespace tools::cli
