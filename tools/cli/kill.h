// The command `heron kill`.
#pragma once

#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "tools/cli/context.h"

namespace tools::cli {

// Ends and removes it, whatever of it exists. Killing a killed one again is success; NotFound for a
// name never seen.
heron::Status KillCommand(Cli& cli, const heron::state::TopologyKey& key);

}  // namespace tools::cli
