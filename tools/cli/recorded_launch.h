// What the scheduler needs to start a topology again: from its records.
#pragma once

#include <string>

#include "heron/base/status.h"
#include "heron/settings/cluster_config.h"
#include "heron/state/paths.h"
#include "proto/topology.pb.h"
#include "scheduler/scheduler.h"
#include "tools/cli/context.h"

namespace tools::cli {

// HERON_SETTINGS of the processes of this topology.
heron::Result<std::string> ProcessSettingsOf(const heron::proto::Topology& topology,
                                             const heron::settings::ClusterConfig& config);

// Same id, same plan, same program and engine; a new secret. FailedPrecondition names what is
// missing and the remedy.
heron::Result<scheduler::LaunchRequest> RecordedLaunch(
    Cli& cli, const heron::state::TopologyKey& key, const std::string& topology_id,
    const heron::settings::ClusterConfig& config);

}  // namespace tools::cli
