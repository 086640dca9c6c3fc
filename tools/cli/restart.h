// The command `heron restart`: the same topology again, by its id and its plan, or a part of it.
#pragma once

#include <optional>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/settings/cluster_config.h"
#include "heron/state/paths.h"
#include "tools/cli/context.h"

namespace tools::cli {

inline constexpr heron::Duration kRestartTimeout = std::chrono::seconds(60);

// At most one of container, component and task; none of them: everything.
struct RestartOptions {
  std::optional<int> container;
  std::string component;
  std::optional<int> task;
  heron::Duration timeout = kRestartTimeout;  // until it runs again
};

// Returns when it runs (or is INACTIVE, if that is wanted) with new processes. FailedPrecondition
// when it has ended, is being submitted or killed, or when a part is asked for that is not there.
heron::Status RestartCommand(Cli& cli, const heron::state::TopologyKey& key,
                             const RestartOptions& options,
                             const heron::settings::ClusterConfig& config);

// Starts all processes anew, behind the checks of RestartCommand, and does not wait. The id.
heron::Result<std::string> RestartWhole(Cli& cli, const heron::state::TopologyKey& key,
                                        const heron::settings::ClusterConfig& config);

}  // namespace tools::cli
