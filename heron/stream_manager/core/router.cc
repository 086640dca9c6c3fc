#include "heron/stream_manager/core/router.h"

#include <algorithm>
#include <utility>

#include "heron/model/ack_batch.h"
#include "heron/model/tuple_batch.h"
#include "heron/net/frame.h"
#include "proto/frame.pb.h"
#include "proto/stream.pb.h"

namespace heron::stream_manager {
namespace {

// A held frame keeps the whole receive buffer alive that it is a slice of. Small ones are copied, so that a slow
// destination with a trickle of tuples does not hold on to everybody's bytes.
constexpr size_t kCopyHeldBytes = 16u << 10;

std::string_view Body(const BufferSlice& frame) {
  return frame.view().substr(net::kFrameHeaderBytes);
}

}  // namespace

Router::Router(ContainerId self, const CoreSettings* settings, Effects* effects,
               Counters* counters)
    : self_(self), settings_(settings), effects_(effects), counters_(counters) {}

void Router::SetFeedback(const model::TaskLayout& layout) {
  feedback_.clear();
  components_.clear();
  const proto::Topology& topology = layout.topology();
  for (int reader = 0; reader < topology.components_size(); ++reader) {
    for (const proto::InputStream& input : topology.components(reader).inputs()) {
      const int source = layout.ComponentIndex(input.component());
      if (!input.feedback() || source < 0) continue;
      const proto::Component& component = topology.components(source);
      for (int stream = 0; stream < component.outputs_size(); ++stream) {
        if (component.outputs(stream).name() != input.stream()) continue;
        feedback_.emplace(source, static_cast<uint32_t>(stream), reader);
      }
    }
  }
  if (feedback_.empty()) return;
  for (const model::TaskInfo& info : layout.tasks()) components_[info.task] = info.component;
}

bool Router::IsFeedback(const model::BatchHeader& header) const {
  if (feedback_.empty()) return false;
  auto source = components_.find(header.source_task);
  auto reader = components_.find(header.destination_task);
  return source != components_.end() && reader != components_.end() &&
         feedback_.contains({source->second, header.stream, reader->second});
}

void Router::SetLayout(const model::TaskLayout& layout, MonotonicTime now) {
  SetFeedback(layout);
  absl::flat_hash_map<TaskId, std::unique_ptr<Destination>> old;
  old.swap(destinations_);
  for (auto& [container, peer] : peers_) {
    peer.ready.clear();
    peer.destinations.clear();
  }
  for (const model::TaskInfo& info : layout.tasks()) {
    std::unique_ptr<Destination> d;
    auto known = old.find(info.task);
    if (known != old.end() && known->second->container == info.container) {
      d = std::move(known->second);
      old.erase(known);
    } else {
      d = std::make_unique<Destination>();
      d->task = info.task;
      d->container = info.container;
    }
    d->listed = false;
    if (IsLocal(*d)) {
      auto [it, added] = instances_.try_emplace(info.task);
      if (added) it->second.down_since = now;
    } else {
      auto [it, added] = peers_.try_emplace(info.container);
      if (added) it->second.down_since = now;
      it->second.destinations.push_back(d.get());
      if (!d->queue.empty()) List(it->second, *d);
    }
    destinations_.emplace(info.task, std::move(d));
  }
  // What is left was removed or has moved to another container.
  for (auto& [task, d] : old) {
    for (const Held& held : d->queue) Drop(*d, held, kDropUnknownDestination);
    for (TaskId feeder : feeders_.Release(task)) effects_->ResumeInstance(feeder);
  }
  if (!reading_) {
    reading_ = true;
    for (auto& [task, instance] : instances_) {
      if (!instance.up) instance.down_since = now;
      if (instance.up) effects_->ResumeInstance(task);
    }
    for (auto& [container, peer] : peers_) {
      if (!peer.up) peer.down_since = now;
      if (peer.up) effects_->ResumePeer(container);
    }
  }
  stopped_changed_ = true;
  for (auto& [container, peer] : peers_) PumpPeer(container, peer);
  ComputeNextExpiry();
}

Router::Receiver& Router::ReceiverOf(const Destination& d) {
  // Both exist for every destination since SetLayout.
  return IsLocal(d) ? instances_[d.task] : peers_[d.container];
}

Router::Destination* Router::Find(TaskId task) {
  auto it = destinations_.find(task);
  return it == destinations_.end() ? nullptr : it->second.get();
}

void Router::InstanceUp(TaskId task, MonotonicTime now) {
  InstanceDown(task, now);  // a session that was replaced
  Receiver& instance = instances_[task];
  instance.up = true;
  instance.given_up = false;
  if (!reading_) effects_->PauseInstance(task);
  ComputeNextExpiry();
  PumpInstance(task);
}

void Router::InstanceDown(TaskId task, MonotonicTime now) {
  auto it = instances_.find(task);
  if (it == instances_.end() || !it->second.up) return;
  it->second.up = false;
  it->second.down_since = now;
  feeders_.Forget(task);
  ComputeNextExpiry();
}

void Router::PeerUp(ContainerId container, MonotonicTime now) {
  PeerDown(container, now);
  Peer& peer = peers_[container];
  peer.up = true;
  peer.given_up = false;
  if (!reading_) effects_->PausePeer(container);
  ComputeNextExpiry();
  for (Destination* d : peer.destinations) {
    if (!d->queue.empty()) List(peer, *d);
  }
  PumpPeer(container, peer);
}

void Router::PeerDown(ContainerId container, MonotonicTime now) {
  auto it = peers_.find(container);
  if (it == peers_.end() || !it->second.up) return;
  Peer& peer = it->second;
  peer.up = false;
  peer.down_since = now;
  peer.ready.clear();
  for (Destination* d : peer.destinations) {
    d->listed = false;
    d->remote_stopped = false;  // leased with the session
    UpdateBlocking(*d);
  }
  ComputeNextExpiry();
}

void Router::FromInstance(TaskId task, proto::Lane lane, uint16_t type, BufferSlice frame) {
  if (lane == proto::DATA && type == proto::TUPLE_BATCH) {
    Result<model::BatchView> batch = model::DecodeBatch(Body(frame));
    if (!batch.ok()) {
      ++counters_->malformed_frames;
    } else if (batch->header.source_task != task) {
      ++counters_->forged_frames;
    } else {
      const TaskId destination = batch->header.destination_task;
      const bool feedback = IsFeedback(batch->header);
      Route(task, destination,
            Held{std::move(frame), task, batch->header.tuple_count, feedback});
    }
  } else if (lane == proto::DATA && type == proto::ENDED) {
    proto::Ended ended;
    if (!net::ParseBody(Body(frame), ended).ok()) {
      ++counters_->malformed_frames;
    } else if (ended.source_task() != task) {
      ++counters_->forged_frames;
    } else {
      Route(task, ended.destination_task(), Held{std::move(frame), task, 0});
    }
  } else if (lane == proto::ACK && type == proto::ENDED_CONFIRMED) {
    proto::EndedConfirmed confirmed;
    if (!net::ParseBody(Body(frame), confirmed).ok()) {
      ++counters_->malformed_frames;
    } else if (confirmed.destination_task() != task) {
      ++counters_->forged_frames;
    } else {
      RouteConfirmation(confirmed.source_task(), false, std::move(frame));
    }
  } else if (lane == proto::ACK && type == proto::ACK_BATCH) {
    Result<model::AckView> acks = model::DecodeAckBatch(Body(frame));
    if (!acks.ok()) {
      ++counters_->malformed_frames;
    } else if (acks->header.source_task != task) {
      ++counters_->forged_frames;
    } else {
      const TaskId destination = acks->header.destination_task;
      RouteAcks(destination, false, std::move(frame));
    }
  } else {
    ++counters_->unknown_frames;
  }
}

void Router::FromPeer(ContainerId container, uint16_t type, BufferSlice frame) {
  auto known = peers_.find(container);
  if (known == peers_.end() || !known->second.up) return;
  if (type == proto::TUPLE_BATCH) {
    Result<model::BatchView> batch = model::DecodeBatch(Body(frame));
    if (!batch.ok()) {
      ++counters_->malformed_frames;
      return;
    }
    const model::BatchHeader header = batch->header;
    Route(0, header.destination_task, Held{std::move(frame), header.source_task, header.tuple_count});
  } else if (type == proto::ENDED) {
    proto::Ended ended;
    if (!net::ParseBody(Body(frame), ended).ok()) {
      ++counters_->malformed_frames;
      return;
    }
    Route(0, ended.destination_task(), Held{std::move(frame), ended.source_task(), 0});
  } else if (type == proto::ENDED_CONFIRMED) {
    proto::EndedConfirmed confirmed;
    if (!net::ParseBody(Body(frame), confirmed).ok()) {
      ++counters_->malformed_frames;
      return;
    }
    RouteConfirmation(confirmed.source_task(), true, std::move(frame));
  } else if (type == proto::ACK_BATCH) {
    Result<model::AckView> acks = model::DecodeAckBatch(Body(frame));
    if (!acks.ok()) {
      ++counters_->malformed_frames;
      return;
    }
    const TaskId destination = acks->header.destination_task;
    RouteAcks(destination, true, std::move(frame));
  } else {
    ++counters_->unknown_frames;
  }
}

void Router::Route(TaskId feeder, TaskId destination, Held held) {
  Destination* d = Find(destination);
  if (d == nullptr) {
    ++counters_->unknown_destinations;
    if (feeder != 0) drops_[feeder][kDropUnknownDestination] += held.tuples;
    return;
  }
  if (feeder == 0 && !IsLocal(*d)) {
    ++counters_->misrouted_frames;
    return;
  }
  Accept(*d, feeder, std::move(held));
}

void Router::Accept(Destination& d, TaskId feeder, Held held) {
  if (ReceiverOf(d).given_up) {
    ++counters_->dropped_frames;
    Drop(d, held, kDropDestinationDown);
    return;
  }
  const size_t size = held.frame.size();
  const bool held_back = feeder != 0 && !held.feedback;
  if (!held_back && d.bytes + size > HardCapBytes()) {
    ++counters_->overflow_frames;
    Drop(d, held, kDropOverflow);
    return;
  }
  if (!d.queue.empty() || !TrySend(d, held)) {
    if (size <= kCopyHeldBytes) held.frame = BufferSlice::Copy(held.frame.view());
    d.bytes += size;
    d.queue.push_back(std::move(held));
    if (!IsLocal(d)) {
      Peer& peer = peers_[d.container];
      if (peer.up && !d.remote_stopped) {
        List(peer, d);
        PumpPeer(d.container, peer);
      }
    } else {
      PumpInstance(d.task);
    }
  }
  UpdateBlocking(d);
  if (held_back && d.blocking && feeders_.Block(feeder, d.task)) {
    effects_->PauseInstance(feeder);
  }
}

bool Router::TrySend(Destination& d, Held& held) {
  if (IsLocal(d)) {
    if (!instances_[d.task].up ||
        effects_->InstanceQueuedBytes(d.task, proto::DATA) >= settings_->lane_bytes) {
      return false;
    }
    ++counters_->frames_forwarded;
    counters_->bytes_forwarded += held.frame.size();
    effects_->SendToInstance(d.task, proto::DATA, std::move(held.frame));
    return true;
  }
  const Peer& peer = peers_[d.container];
  // Others that wait for the same lane have their turn first.
  if (!peer.up || d.remote_stopped || !peer.ready.empty() ||
      effects_->PeerQueuedBytes(d.container, proto::DATA) >= settings_->lane_bytes) {
    return false;
  }
  ++counters_->frames_forwarded;
  counters_->bytes_forwarded += held.frame.size();
  effects_->SendToPeer(d.container, proto::DATA, std::move(held.frame));
  return true;
}

void Router::PumpInstance(TaskId task) {
  Destination* d = Find(task);
  if (d == nullptr || !IsLocal(*d) || !instances_[task].up) return;
  while (!d->queue.empty() &&
         effects_->InstanceQueuedBytes(task, proto::DATA) < settings_->lane_bytes) {
    Held held = std::move(d->queue.front());
    d->queue.pop_front();
    d->bytes -= held.frame.size();
    ++counters_->frames_forwarded;
    counters_->bytes_forwarded += held.frame.size();
    effects_->SendToInstance(task, proto::DATA, std::move(held.frame));
  }
  UpdateBlocking(*d);
}

void Router::List(Peer& peer, Destination& d) {
  if (d.listed) return;
  d.listed = true;
  peer.ready.push_back(&d);
}

void Router::PumpPeer(ContainerId container, Peer& peer) {
  if (!peer.up) return;
  while (!peer.ready.empty() &&
         effects_->PeerQueuedBytes(container, proto::DATA) < settings_->lane_bytes) {
    Destination& d = *peer.ready.front();
    peer.ready.pop_front();
    d.listed = false;
    if (d.queue.empty() || d.remote_stopped) continue;
    Held held = std::move(d.queue.front());
    d.queue.pop_front();
    d.bytes -= held.frame.size();
    ++counters_->frames_forwarded;
    counters_->bytes_forwarded += held.frame.size();
    effects_->SendToPeer(container, proto::DATA, std::move(held.frame));
    if (!d.queue.empty()) List(peer, d);
    UpdateBlocking(d);
  }
}

void Router::RouteBack(TaskId source, bool from_peer, BufferSlice frame, size_t most_bytes,
                       uint64_t& dropped) {
  const Destination* d = Find(source);
  if (d == nullptr) {
    ++counters_->unknown_destinations;
    return;
  }
  if (IsLocal(*d)) {
    if (instances_[source].up &&
        effects_->InstanceQueuedBytes(source, proto::ACK) < most_bytes) {
      effects_->SendToInstance(source, proto::ACK, std::move(frame));
      return;
    }
  } else if (from_peer) {
    ++counters_->misrouted_frames;
    return;
  } else if (peers_[d->container].up &&
             effects_->PeerQueuedBytes(d->container, proto::DATA) <
                 settings_->lane_bytes + most_bytes) {
    effects_->SendToPeer(d->container, proto::DATA, std::move(frame));
    return;
  }
  ++dropped;
}

void Router::InstanceWritable(TaskId task) { PumpInstance(task); }

void Router::PeerWritable(ContainerId container) {
  auto it = peers_.find(container);
  if (it != peers_.end()) PumpPeer(container, it->second);
}

void Router::SetRemoteStopped(TaskId task, bool stopped) {
  Destination* d = Find(task);
  if (d == nullptr || IsLocal(*d) || d->remote_stopped == stopped) return;
  Peer& peer = peers_[d->container];
  if (!peer.up) return;
  d->remote_stopped = stopped;
  if (!stopped && !d->queue.empty()) {
    List(peer, *d);
    PumpPeer(d->container, peer);
  }
  UpdateBlocking(*d);
}

void Router::UpdateBlocking(Destination& d) {
  if (!d.blocking) {
    if (!d.remote_stopped && d.bytes <= settings_->queue_high_bytes) return;
    d.blocking = true;
    if (IsLocal(d)) {
      stopped_changed_ = true;
      ++counters_->stops;
      effects_->Log("task " + std::to_string(d.task) + " is stopped: " + std::to_string(d.bytes) +
                    " bytes wait for it");
    }
    return;
  }
  if (d.remote_stopped || d.bytes > settings_->queue_low_bytes()) return;
  d.blocking = false;
  if (IsLocal(d)) {
    stopped_changed_ = true;
    effects_->Log("task " + std::to_string(d.task) + " is released");
  }
  for (TaskId feeder : feeders_.Release(d.task)) effects_->ResumeInstance(feeder);
}

void Router::Expire(MonotonicTime now) {
  if (!reading_) return;
  const auto expired = [&](Receiver& r) {
    if (r.up || r.given_up || now - r.down_since < settings_->destination_grace) return false;
    r.given_up = true;
    return true;
  };
  for (auto& [task, instance] : instances_) {
    if (!expired(instance)) continue;
    if (Destination* d = Find(task); d != nullptr && IsLocal(*d)) GiveUp(*d);
  }
  for (auto& [container, peer] : peers_) {
    if (!expired(peer)) continue;
    for (Destination* d : peer.destinations) GiveUp(*d);
  }
  ComputeNextExpiry();
}

void Router::GiveUp(Destination& d) {
  if (!d.queue.empty()) {
    effects_->Log("task " + std::to_string(d.task) + " in container " +
                  std::to_string(d.container) + " has been away for the grace time: dropping " +
                  std::to_string(d.bytes) + " bytes that wait for it");
  }
  for (const Held& held : d.queue) Drop(d, held, kDropDestinationDown);
  counters_->dropped_frames += d.queue.size();
  d.queue.clear();
  d.bytes = 0;
  UpdateBlocking(d);
}

void Router::RestartGrace(MonotonicTime now) {
  for (auto& [task, instance] : instances_) instance.down_since = now;
  for (auto& [container, peer] : peers_) peer.down_since = now;
  ComputeNextExpiry();
}

void Router::ComputeNextExpiry() {
  next_expiry_.reset();
  if (!reading_) return;
  const auto consider = [this](const Receiver& r) {
    if (r.up || r.given_up) return;
    const MonotonicTime at = r.down_since + settings_->destination_grace;
    if (!next_expiry_ || at < *next_expiry_) next_expiry_ = at;
  };
  for (const auto& [task, instance] : instances_) consider(instance);
  for (const auto& [container, peer] : peers_) consider(peer);
}

void Router::Drop(const Destination& d, const Held& held, const char* reason) {
  if (held.tuples == 0) return;
  drops_[IsLocal(d) ? d.task : held.source][reason] += held.tuples;
}

size_t Router::HardCapBytes() const {
  return 4 * settings_->queue_high_bytes +
         peers_.size() * (settings_->peer_in_flight_bytes + settings_->frame_max_bytes);
}

bool Router::IsStopped(TaskId task) const {
  auto it = destinations_.find(task);
  return it != destinations_.end() && IsLocal(*it->second) && it->second->blocking;
}

bool Router::TakeStoppedChanged() { return std::exchange(stopped_changed_, false); }

const Router::Drops* Router::DropsOf(TaskId task) const {
  auto it = drops_.find(task);
  return it == drops_.end() ? nullptr : &it->second;
}

size_t Router::QueuedBytes(TaskId task) const {
  auto it = destinations_.find(task);
  return it == destinations_.end() ? 0 : it->second->bytes;
}

size_t Router::TotalQueuedBytes() const {
  size_t total = 0;
  for (const auto& [task, d] : destinations_) total += d->bytes;
  return total;
}

}  // namespace heron::stream_manager
