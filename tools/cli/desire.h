// The commands `heron activate` and `heron deactivate`: they store what is wanted and wait until it
// is so.
#pragma once

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "tools/cli/context.h"

namespace tools::cli {

inline constexpr heron::Duration kDesireTimeout = std::chrono::seconds(30);

heron::Status ActivateCommand(Cli& cli, const heron::state::TopologyKey& key,
                              heron::Duration timeout);
heron::Status DeactivateCommand(Cli& cli, const heron::state::TopologyKey& key,
                                heron::Duration timeout);

}  // namespace tools::cli
