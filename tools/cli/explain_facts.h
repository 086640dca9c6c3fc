// What `heron explain` looks at, gathered before anything is judged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "proto/plan.pb.h"
#include "proto/state.pb.h"
#include "scheduler/scheduler.h"
#include "tools/cli/context.h"
#include "tools/cli/failed_submits.h"
#include "tools/cli/topologies.h"

namespace tools::cli {

struct ExplainFacts {
  heron::state::TopologyKey key;
  std::string place;  // "local/ada/prod " where a command needs it, or ""
  int64_t now_unix_ms = 0;

  heron::Status store;    // not ok: nothing below was read
  heron::Status unknown;  // not ok: there is no such topology; names the nearest
  bool was_killed = false;
  std::optional<FailedSubmit> failed_submit;

  TopologyRow row;
  std::optional<heron::proto::DesiredState> desired;
  bool author_alive = true;  // whoever wrote `desired` last may be
  heron::proto::SubmittedTopology submitted;
  heron::proto::PackingPlan plan;
  heron::proto::ExecutionState execution;  // of this topology id; STATE_UNSPECIFIED: none yet

  std::optional<std::vector<scheduler::ProcessInfo>> processes;  // nullopt: could not be listed

  enum class Master { kNever, kAlive, kSilent };
  Master master = Master::kNever;  // kSilent: it does not renew its lease
  int64_t master_pid = 0;

  // The last lines with something in them of a log of the topology, newest last. `target` as of
  // `heron logs`.
  std::function<std::vector<std::string>(const std::string& target, int lines)> last_lines;
};

// Reads everything; waits up to a few lease times for a sign of life of the topology master.
ExplainFacts GatherFacts(Cli& cli, const heron::state::TopologyKey& key);

}  // namespace tools::cli
