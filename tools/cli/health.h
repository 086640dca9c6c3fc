// What the commands say of a topology that nobody runs.
#pragma once

#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "scheduler/scheduler.h"
#include "tools/cli/context.h"

namespace tools::cli {

// Of a wanted topology, with its containers as planned; without a plan only as a whole.
heron::Result<scheduler::Health> ExamineTopology(Cli& cli, const heron::state::TopologyKey& key,
                                                 const std::string& topology_id);

// The reason and the remedy.
std::string LostText(const Cli& cli, const heron::state::TopologyKey& key,
                     const scheduler::Health& health);

}  // namespace tools::cli
