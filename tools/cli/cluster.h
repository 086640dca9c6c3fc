// The command `heron cluster`: all topologies of a cluster at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heron/base/status.h"
#include "heron/settings/cluster_config.h"
#include "heron/state/paths.h"
#include "tools/cli/context.h"

namespace tools::cli {

// What `start` or `stop` did with one topology.
struct ClusterStep {
  heron::state::TopologyKey key;
  std::string did;     // "restarted", "stopped", "nothing" or "failed"
  std::string detail;  // for people: its state, the number of processes, the cause
};

struct ClusterFacts {
  std::string folder;                     // of the cluster
  std::string state_store;                // its url
  std::string state_error;                // empty: it can be read
  std::map<std::string, int> topologies;  // by state
  int processes = 0;
  int64_t disk_free_bytes = -1;  // -1: not known
};

// Starts again what is wanted and LOST: after a reboot, after `stop`. Does not wait until it runs.
// An error counts those that could not be started; the others are.
heron::Status ClusterStartCommand(Cli& cli, const heron::settings::ClusterConfig& config);

// Ends every process of every topology; their records stay. An error as above.
heron::Status ClusterStopCommand(Cli& cli);

heron::Status ClusterStatusCommand(Cli& cli, const heron::settings::ClusterConfig& config);

}  // namespace tools::cli
