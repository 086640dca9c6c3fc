// The command `heron topologies`: what there is and how it is.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "proto/state.pb.h"
#include "tools/cli/context.h"
#include "tools/cli/target.h"

namespace tools::cli {

struct TaskRow {
  int task = 0;
  int container = 0;
  int component_index = 0;
  std::string component;
  bool bounded = false;
  heron::proto::TaskStatus status;
};

struct TopologyRow {
  heron::state::TopologyKey key;
  std::string id;
  // SUBMITTING, STARTING, RUNNING, INACTIVE, KILLING, FINISHED, FAILED or LOST
  std::string state;
  std::string reason;       // of FAILED and LOST, and of what broke off
  std::string waiting_for;  // of STARTING
  int containers = 0;
  uint64_t restarts = 0;
  int64_t since_unix_ms = 0;
  std::vector<std::string> incomplete;
  std::vector<heron::proto::ProcessFailure> failures;
  std::vector<TaskRow> tasks;
};

// With an empty `name` all of the place: of the cluster, or of the role and env where those were
// given.
heron::Status TopologiesCommand(Cli& cli, const Place& place, const std::string& name);

// How a topology is now.
heron::Result<TopologyRow> ReadTopologyRow(Cli& cli, const heron::state::TopologyKey& key);

}  // namespace tools::cli
