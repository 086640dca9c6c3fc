// What the state store says about going on with a topology: read by an executor without a topology
// master, and by the supervisor before it restarts an executor.
#pragma once

#include <optional>
#include <string>

#include "proto/state.pb.h"

namespace heron::model {

enum class StoreVerdict {
  kGoOn,       // or nothing is known: a store that cannot be reached changes nothing
  kEnded,      // FINISHED or FAILED
  kNotWanted,  // killed, or the name belongs to another topology id
};

// What was read; nodes that are missing are nullopt.
struct StoreView {
  std::optional<proto::DesiredState> desired;
  std::optional<proto::ExecutionState> execution;
};

StoreVerdict Judge(const StoreView& view, const std::string& topology_id);

}  // namespace heron::model
