// The data path of a stream manager: a queue of whole frames per destination task, filled from local instances and from
// other stream managers ("peers"), emptied into the data lanes.
//
// - A local destination whose queue grows over the high mark is *stopped* until it is under the low mark again. The owner
//   tells the peers; this router holds back the local feeders. Peers' lanes are never paused: see protocols rule 5 in
//   heron/docs/life_of_a_topology.md, "Data and back pressure".
// - A remote destination blocks its local feeders while its stream manager says it is stopped, or while its queue here
//   has been over the high mark and is not yet under the low one. Nothing is sent to it while it is stopped.
// - A batch of a feedback stream, which closes a cycle, never holds back its feeder: the cycle would wait for itself. Over
//   the hard cap it is dropped.
// - A destination that is down keeps its queue for a grace time, then loses it, and everything until it is back.
//
// Memory: for each destination at most
//     high mark + one frame per local feeder + hard cap for what comes from peers (local destinations) and by feedback,
// hard cap = 4 x high mark + peers x (what one can have under way + one frame). Each data lane holds at most lane_bytes and one
// frame on top.
//
// Frames that were handed to a lane when its session died are lost; the receiver's batch numbers show how many.
//
// Plain object without threads or I/O; the owner's thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "heron/base/buffer.h"
#include "heron/base/clock.h"
#include "heron/base/ids.h"
#include "heron/model/task_layout.h"
#include "heron/model/tuple_batch.h"
#include "heron/stream_manager/core/counters.h"
#include "heron/stream_manager/core/effects.h"
#include "heron/stream_manager/core/feeders.h"
#include "heron/stream_manager/core/settings.h"

namespace heron::stream_manager {

inline constexpr char kDropDestinationDown[] = "destination_down";
inline constexpr char kDropOverflow[] = "queue_overflow";
inline constexpr char kDropUnknownDestination[] = "unknown_destination";

class Router {
 public:
  // Everything must outlive it.
  Router(ContainerId self, const CoreSettings* settings, Effects* effects, Counters* counters);

  // Before the first one no data lane is read. Tasks that are gone lose their queues.
  void SetLayout(const model::TaskLayout& layout, MonotonicTime now);

  void InstanceUp(TaskId task, MonotonicTime now);
  void InstanceDown(TaskId task, MonotonicTime now);
  void PeerUp(ContainerId container, MonotonicTime now);
  void PeerDown(ContainerId container, MonotonicTime now);

  // Frames of data lanes and (instances) ack lanes.
  void FromInstance(TaskId task, proto::Lane lane, uint16_t type, BufferSlice frame);
  void FromPeer(ContainerId container, uint16_t type, BufferSlice frame);
  void InstanceWritable(TaskId task);
  void PeerWritable(ContainerId container);

  // What the stream manager of a remote task says. Unknown and local tasks are ignored.
  void SetRemoteStopped(TaskId task, bool stopped);

  // Gives up destinations that have been down for the grace time.
  void Expire(MonotonicTime now);
  // The judge was paused: all grace periods start again.
  void RestartGrace(MonotonicTime now);
  std::optional<MonotonicTime> NextExpiry() const { return next_expiry_; }

  bool IsStopped(TaskId task) const;  // a local task over its mark
  // True once after the stopped mark of any local task changed.
  bool TakeStoppedChanged();

  // Tuples dropped here since the start by task and reason: of a local destination under the destination, of others
  // under the local source.
  using Drops = std::map<std::string, uint64_t>;
  const Drops* DropsOf(TaskId task) const;

  bool reading() const { return reading_; }
  size_t QueuedBytes(TaskId task) const;
  size_t TotalQueuedBytes() const;
  const Feeders& feeders() const { return feeders_; }

 private:
  struct Held {
    BufferSlice frame;
    TaskId source = 0;
    uint32_t tuples = 0;
    bool feedback = false;
  };
  struct Destination {
    TaskId task = 0;
    ContainerId container = 0;
    std::deque<Held> queue;
    size_t bytes = 0;
    bool remote_stopped = false;
    bool blocking = false;  // its feeders are held back
    bool listed = false;    // in its peer's `ready`
  };
  // A local instance or a peer: where frames leave.
  struct Receiver {
    bool up = false;
    bool given_up = false;  // down for longer than the grace time
    MonotonicTime down_since{};
  };
  struct Peer : Receiver {
    std::deque<Destination*> ready;  // with frames to send, in turn
    std::vector<Destination*> destinations;
  };

  void SetFeedback(const model::TaskLayout& layout);
  bool IsFeedback(const model::BatchHeader& header) const;
  bool IsLocal(const Destination& d) const { return d.container == self_; }
  Receiver& ReceiverOf(const Destination& d);
  Destination* Find(TaskId task);
  void Route(TaskId feeder, TaskId destination, Held held);
  // What goes back to a source, past the queues: a destination's queue may be stopped, the lane never
  // is. Dropped, and counted in `dropped`, where more than `most_bytes` would wait.
  void RouteBack(TaskId source, bool from_peer, BufferSlice frame, size_t most_bytes,
                 uint64_t& dropped);
  void RouteConfirmation(TaskId source, bool from_peer, BufferSlice frame) {
    RouteBack(source, from_peer, std::move(frame), settings_->confirm_lane_bytes,
              counters_->dropped_confirmations);
  }
  void RouteAcks(TaskId source, bool from_peer, BufferSlice frame) {
    RouteBack(source, from_peer, std::move(frame), settings_->ack_lane_bytes,
              counters_->dropped_acks);
  }
  void Accept(Destination& d, TaskId feeder, Held held);
  bool TrySend(Destination& d, Held& held);
  void PumpInstance(TaskId task);
  void PumpPeer(ContainerId container, Peer& peer);
  void List(Peer& peer, Destination& d);
  void UpdateBlocking(Destination& d);
  void GiveUp(Destination& d);
  void Drop(const Destination& d, const Held& held, const char* reason);
  void ComputeNextExpiry();
  size_t HardCapBytes() const;

  const ContainerId self_;
  const CoreSettings* const settings_;
  Effects* const effects_;
  Counters* const counters_;
  bool reading_ = false;
  bool stopped_changed_ = false;
  absl::flat_hash_map<TaskId, std::unique_ptr<Destination>> destinations_;
  absl::flat_hash_map<TaskId, Receiver> instances_;
  std::map<ContainerId, Peer> peers_;
  // (component, stream, reading component), and the component of each task; both empty without feedback streams.
  std::set<std::tuple<int, uint32_t, int>> feedback_;
  absl::flat_hash_map<TaskId, int> components_;
  Feeders feeders_;
  std::map<TaskId, Drops> drops_;
  std::optional<MonotonicTime> next_expiry_;
};

}  // namespace heron::stream_manager
