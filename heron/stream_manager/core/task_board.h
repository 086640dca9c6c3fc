// What is known of all tasks: the local ones first hand, those of other containers as their stream managers say (leased: gone
// with the session). Makes the TaskStates for peers (local tasks) and for instances (all).
// Plain object; the owner's thread.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "heron/base/ids.h"
#include "heron/model/task_layout.h"
#include "heron/stream_manager/core/counters.h"
#include "proto/stream.pb.h"

namespace heron::stream_manager {

class TaskBoard {
 public:
  TaskBoard(ContainerId self, Epoch epoch, Counters* counters)
      : self_(self), epoch_(epoch), counters_(counters) {}

  void LocalUp(TaskId task, Epoch epoch) { local_[task] = {epoch, true}; }
  void LocalDown(TaskId task) { local_[task].up = false; }

  void PeerUp(ContainerId container, Epoch epoch);
  void PeerDown(ContainerId container);
  enum class Applied { kRefused, kSame, kChanged };
  // kRefused: not from the session's peer, or older than what is known; nothing was taken.
  Applied Apply(ContainerId container, const proto::TaskStates& states);
  // The last ones of a peer; nullptr if it said nothing in this session.
  const proto::TaskStates* Of(ContainerId container) const;

  using IsStopped = std::function<bool(TaskId)>;
  // Each call gives a new number.
  proto::TaskStates ForPeers(const model::TaskLayout& layout, const IsStopped& stopped);
  proto::TaskStates ForInstances(const model::TaskLayout& layout, const IsStopped& stopped);

 private:
  struct Local {
    Epoch epoch;
    bool up = false;
  };
  struct Peer {
    Epoch epoch;
    bool up = false;
    bool spoke = false;
    proto::TaskStates last;                  // kept after the session's end for the epochs
    std::map<TaskId, proto::TaskStates::Task> tasks;
  };
  void AddLocal(TaskId task, const IsStopped& stopped, proto::TaskStates* out) const;

  const ContainerId self_;
  const Epoch epoch_;
  Counters* const counters_;
  uint64_t number_ = 0;
  std::map<TaskId, Local> local_;
  std::map<ContainerId, Peer> peers_;
};

}  // namespace heron::stream_manager
