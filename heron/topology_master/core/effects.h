// What the topology master's core asks of the world, and the small types that both speak.
//
// Thread: the master's event loop. The core is called with one event at a time and calls Effects
// from inside that event; an effect must not call back into the core before it has returned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heron/base/clock.h"
#include "proto/master.pb.h"

namespace heron::topology_master {

// One connection of an executor or a stream manager. Never given twice in a process; a later one
// has a higher number.
using SessionId = uint64_t;

// When an event happens: for timeouts, and for people.
struct Moment {
  MonotonicTime now{};
  int64_t unix_ms = 0;
};

// The nodes of the state store that the master reads; it writes the last two.
enum class Node { kTopology, kPackingPlan, kDesired, kPhysicalPlan, kExecutionState };
inline constexpr Node kAllNodes[] = {Node::kTopology, Node::kPackingPlan, Node::kDesired,
                                     Node::kPhysicalPlan, Node::kExecutionState};

struct StoredValue {
  std::string value;
  int64_t version = 0;
};

class Effects {
 public:
  virtual ~Effects() = default;

  // Answered by MasterCore::OnRead with the same number, at most once.
  virtual void ReadNode(Node node, uint64_t request) = 0;
  // Conditional on the version; without one the node must not exist yet. Answered by
  // MasterCore::OnWritten.
  virtual void WriteNode(Node node, uint64_t request, std::string value,
                         std::optional<int64_t> expected_version) = 0;
  // To a session that is up.
  virtual void SendContainerPlan(SessionId session, const proto::ContainerPlan& plan) = 0;
  virtual void SendMasterUpdate(SessionId session, const proto::MasterUpdate& update) = 0;
  // Ends the process. The core does nothing any more afterwards.
  virtual void Exit(int code, const std::string& why) = 0;
};

}  // namespace heron::topology_master
