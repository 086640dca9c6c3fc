// What the store says about a topology, parsed and checked together: the base of everything the
// master sends.
//
// Thread: the master's event loop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "heron/base/status.h"
#include "heron/model/task_layout.h"
#include "heron/topology_master/core/stored_nodes.h"
#include "proto/plan.pb.h"
#include "proto/state.pb.h"

namespace heron::topology_master {

// What /desired says to the master of one topology id.
struct Wish {
  enum class Kind {
    kWait,       // the submit is under way
    kRun,        // see desire
    kNotWanted,  // killed, gone, or another topology has the name
  };
  Kind kind = Kind::kWait;
  proto::DesiredState::Desire desire = proto::DesiredState::DESIRE_UNSPECIFIED;
  std::string text;  // kNotWanted: why
};

// `value` is nullopt when there is no node. DataLoss for damaged bytes.
Result<Wish> ParseWish(const std::optional<StoredValue>& value, const std::string& topology_id);

struct TopologyRecord {
  proto::SubmittedTopology submitted;
  proto::PhysicalPlan plan;
  bool plan_stored = false;  // false: made from the packing plan, nobody may see it yet
  // nullptr: topology and plan do not fit together, which nothing but a new submit heals;
  // plan_error says why.
  std::shared_ptr<const model::TaskLayout> layout;
  std::string plan_error;
  std::optional<proto::ExecutionState> state;  // of this topology id
  int task_max_restarts = 3;
  bool tracked = false;  // topology.reliability.mode is ATLEAST_ONCE

  // From complete nodes. An error may pass when the store is read again.
  static Result<TopologyRecord> Parse(const StoredNodes& nodes, const std::string& topology_id);
};

}  // namespace heron::topology_master
