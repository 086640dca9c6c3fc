#include "heron/stream_manager/core/stream_manager_core.h"

#include <algorithm>
#include <utility>

#include "heron/net/frame.h"
#include "heron/stream_manager/core/epochs.h"
#include "proto/frame.pb.h"

namespace heron::stream_manager {
namespace {

std::string_view Body(const BufferSlice& frame) {
  return frame.view().substr(net::kFrameHeaderBytes);
}

}  // namespace

StreamManagerCore::StreamManagerCore(CoreIdentity identity, CoreSettings settings,
                                     ReadSettings read_settings, Effects* effects,
                                     MonotonicTime now)
    : identity_(std::move(identity)),
      settings_(settings),
      read_settings_(std::move(read_settings)),
      effects_(effects),
      master_(identity_.topology_id, &counters_),
      router_(identity_.container, &settings_, effects, &counters_),
      board_(identity_.container, identity_.epoch, &counters_),
      is_stopped_([this](TaskId task) { return router_.IsStopped(task); }),
      next_interval_(now + settings_.heartbeat_interval) {}

std::optional<std::string> StreamManagerCore::RefuseInstance(TaskId task) const {
  if (!master_.has_plan()) return std::nullopt;
  const model::TaskInfo* info = master_.layout().Find(task);
  if (info != nullptr && info->container == identity_.container) return std::nullopt;
  return "plan version " + std::to_string(master_.plan_version()) + " has no task " +
         std::to_string(task) + " in container " + std::to_string(identity_.container);
}

std::optional<std::string> StreamManagerCore::RefusePeer(ContainerId container) const {
  if (container >= identity_.container) {
    return "stream managers of lower containers dial those of higher ones; " +
           std::to_string(container) + " is not lower than " +
           std::to_string(identity_.container);
  }
  if (!master_.has_plan()) return std::nullopt;
  const std::vector<ContainerId> containers = master_.layout().Containers();
  if (std::find(containers.begin(), containers.end(), container) != containers.end()) {
    return std::nullopt;
  }
  return "plan version " + std::to_string(master_.plan_version()) + " has no container " +
         std::to_string(container);
}

// ---- master

void StreamManagerCore::OnMasterUp(MonotonicTime now) {
  master_up_ = true;
  SendReport(now);
  Flush(now);
}

void StreamManagerCore::OnMasterDown(MonotonicTime now) {
  master_up_ = false;
  Flush(now);
}

void StreamManagerCore::OnMasterFrame(uint16_t type, const BufferSlice& frame, MonotonicTime now) {
  if (type != proto::MASTER_UPDATE) {
    ++counters_.unknown_frames;
    return;
  }
  proto::MasterUpdate update;
  if (!net::ParseBody(Body(frame), update).ok()) {
    ++counters_.malformed_frames;
    return;
  }
  OnMasterUpdate(update, now);
  Flush(now);
}

void StreamManagerCore::OnMasterUpdate(const proto::MasterUpdate& update, MonotonicTime now) {
  const MasterView::Change change = master_.Apply(update);
  if (!change.error.empty()) effects_->Log(change.error);
  if (!change.accepted) return;
  if (change.plan) OnPlan(now);
  if (!master_.has_plan()) return;
  if (change.plan || change.addresses) FollowAddresses();
  if (change.plan || change.active || change.grants) {
    for (auto& [task, instance] : instances_) instance.plan_due = true;
    plans_due_ = true;
  }
}

void StreamManagerCore::OnPlan(MonotonicTime now) {
  if (!settings_read_) {
    settings_read_ = true;
    settings_ = read_settings_(master_.topology());
  }
  CloseUnwanted(now);
  router_.SetLayout(master_.layout(), now);
  for (const auto& [container, epoch] : peers_) {
    if (const proto::TaskStates* states = board_.Of(container)) ApplyStopped(*states);
  }
  states_due_ = true;
  report_due_ = true;
}

void StreamManagerCore::CloseUnwanted(MonotonicTime now) {
  for (auto it = instances_.begin(); it != instances_.end();) {
    const auto why = RefuseInstance(it->first);
    if (!why) {
      ++it;
      continue;
    }
    effects_->CloseInstance(it->first, *why);
    router_.InstanceDown(it->first, now);
    board_.LocalDown(it->first);
    it = instances_.erase(it);
  }
  const std::vector<ContainerId> containers = master_.layout().Containers();
  for (auto it = peers_.begin(); it != peers_.end();) {
    if (std::find(containers.begin(), containers.end(), it->first) != containers.end()) {
      ++it;
      continue;
    }
    effects_->ClosePeer(it->first, "the plan has no such container");
    router_.PeerDown(it->first, now);
    board_.PeerDown(it->first);
    it = peers_.erase(it);
  }
}

void StreamManagerCore::FollowAddresses() {
  const std::vector<ContainerId> containers = master_.layout().Containers();
  const std::set<ContainerId> planned(containers.begin(), containers.end());
  for (const auto& [container, address] : master_.addresses()) {
    if (container <= identity_.container || !planned.contains(container)) continue;
    effects_->SetPeerTarget(container, address.host, address.port, address.epoch);
    targets_.insert(container);
  }
  for (auto it = targets_.begin(); it != targets_.end();) {
    if (planned.contains(*it)) {
      ++it;
      continue;
    }
    effects_->ClearPeerTarget(*it);
    it = targets_.erase(it);
  }
}

// ---- instances

void StreamManagerCore::OnInstanceUp(TaskId task, Epoch epoch, MonotonicTime now) {
  instances_[task] = Instance{epoch};
  plans_due_ = true;
  board_.LocalUp(task, epoch);
  states_due_ = true;
  router_.InstanceUp(task, now);
  Flush(now);
}

void StreamManagerCore::OnInstanceDown(TaskId task, MonotonicTime now) {
  if (instances_.erase(task) == 0) return;
  router_.InstanceDown(task, now);
  board_.LocalDown(task);
  reports_.Down(task);
  states_due_ = true;
  report_due_ = true;
  Flush(now);
}

void StreamManagerCore::OnInstanceFrame(TaskId task, proto::Lane lane, uint16_t type,
                                        BufferSlice frame, MonotonicTime now) {
  auto it = instances_.find(task);
  if (it == instances_.end()) return;
  if (lane == proto::CONTROL) {
    if (type == proto::TASK_REPORT) {
      OnTaskReport(task, it->second, frame);
    } else {
      ++counters_.unknown_frames;
    }
  } else if (frame.size() > settings_.frame_max_bytes + net::kFrameHeaderBytes) {
    ++counters_.malformed_frames;
  } else {
    router_.FromInstance(task, lane, type, std::move(frame));
  }
  Flush(now);
}

void StreamManagerCore::OnTaskReport(TaskId task, const Instance& instance,
                                     const BufferSlice& frame) {
  proto::TaskReport report;
  if (!net::ParseBody(Body(frame), report).ok()) {
    ++counters_.malformed_frames;
    return;
  }
  if (report.status().task() != task || ToEpoch(report.status().epoch()) != instance.epoch) {
    ++counters_.forged_frames;
    return;
  }
  if (reports_.Apply(task, report.status())) report_due_ = true;
}

void StreamManagerCore::OnInstanceWritable(TaskId task, MonotonicTime now) {
  router_.InstanceWritable(task);
  Flush(now);
}

// ---- peers

void StreamManagerCore::OnPeerUp(ContainerId container, Epoch epoch, MonotonicTime now) {
  peers_[container] = epoch;
  board_.PeerUp(container, epoch);
  router_.PeerUp(container, now);
  if (master_.has_plan()) SendStatesToPeer(container);
  instance_states_due_ = true;
  report_due_ = true;
  Flush(now);
}

void StreamManagerCore::OnPeerDown(ContainerId container, MonotonicTime now) {
  if (peers_.erase(container) == 0) return;
  board_.PeerDown(container);
  router_.PeerDown(container, now);
  instance_states_due_ = true;
  report_due_ = true;
  Flush(now);
}

void StreamManagerCore::OnPeerFrame(ContainerId container, proto::Lane lane, uint16_t type,
                                    BufferSlice frame, MonotonicTime now) {
  if (!peers_.contains(container)) return;
  if (lane == proto::CONTROL) {
    if (type == proto::TASK_STATES) {
      OnTaskStates(container, frame);
    } else {
      ++counters_.unknown_frames;
    }
  } else if (frame.size() > settings_.frame_max_bytes + net::kFrameHeaderBytes) {
    ++counters_.malformed_frames;
  } else {
    router_.FromPeer(container, type, std::move(frame));
  }
  Flush(now);
}

void StreamManagerCore::OnTaskStates(ContainerId container, const BufferSlice& frame) {
  proto::TaskStates states;
  if (!net::ParseBody(Body(frame), states).ok()) {
    ++counters_.malformed_frames;
    return;
  }
  const TaskBoard::Applied applied = board_.Apply(container, states);
  if (applied == TaskBoard::Applied::kRefused) return;
  if (master_.has_plan()) ApplyStopped(states);
  if (applied == TaskBoard::Applied::kChanged) instance_states_due_ = true;
}

void StreamManagerCore::ApplyStopped(const proto::TaskStates& states) {
  for (const proto::TaskStates::Task& task : states.tasks()) {
    const model::TaskInfo* info = master_.layout().Find(task.task());
    // Only its own stream manager knows a task.
    if (info == nullptr || info->container != states.container()) continue;
    router_.SetRemoteStopped(task.task(), task.stopped());
  }
}

void StreamManagerCore::OnPeerWritable(ContainerId container, MonotonicTime now) {
  router_.PeerWritable(container);
  Flush(now);
}

// ---- time

void StreamManagerCore::OnTimer(MonotonicTime now) {
  if (now >= next_interval_) {
    // A judge that was away itself has no idea how long others were.
    if (now - next_interval_ > settings_.heartbeat_interval / 2) router_.RestartGrace(now);
    next_interval_ = now + settings_.heartbeat_interval;
    states_due_ = true;
    instance_states_due_ = true;
    report_due_ = true;
  }
  router_.Expire(now);
  Flush(now);
}

MonotonicTime StreamManagerCore::NextWake() const {
  MonotonicTime next = next_interval_;
  if (const auto expiry = router_.NextExpiry()) next = std::min(next, *expiry);
  if (instance_states_due_ && master_.has_plan()) {
    next = std::min(next, last_instance_states_ + settings_.instance_states_spacing);
  }
  if (report_due_ && master_up_) next = std::min(next, last_report_ + settings_.report_spacing);
  return next;
}

// ---- what is said

void StreamManagerCore::Flush(MonotonicTime now) {
  if (router_.TakeStoppedChanged()) states_due_ = true;
  if (master_.has_plan()) {
    if (plans_due_) SendDuePlans();
    if (states_due_) {
      states_due_ = false;
      instance_states_due_ = true;
      SendStatesToPeers();
    }
    if (instance_states_due_ && now - last_instance_states_ >= settings_.instance_states_spacing) {
      SendStatesToInstances(now);
    }
  }
  if (report_due_ && master_up_ && now - last_report_ >= settings_.report_spacing) SendReport(now);
}

void StreamManagerCore::SendStatesToPeers() {
  if (peers_.empty()) return;
  const BufferSlice frame =
      net::EncodeFrame(proto::TASK_STATES, board_.ForPeers(master_.layout(), is_stopped_));
  for (const auto& [container, epoch] : peers_) {
    if (effects_->PeerQueuedBytes(container, proto::CONTROL) > settings_.control_lane_bytes) {
      ++counters_.skipped_updates;
      continue;
    }
    effects_->SendToPeer(container, proto::CONTROL, frame);
  }
}

void StreamManagerCore::SendStatesToPeer(ContainerId container) {
  effects_->SendToPeer(
      container, proto::CONTROL,
      net::EncodeFrame(proto::TASK_STATES, board_.ForPeers(master_.layout(), is_stopped_)));
}

void StreamManagerCore::SendStatesToInstances(MonotonicTime now) {
  instance_states_due_ = false;
  last_instance_states_ = now;
  if (instances_.empty()) return;
  const BufferSlice frame =
      net::EncodeFrame(proto::TASK_STATES, board_.ForInstances(master_.layout(), is_stopped_));
  for (const auto& [task, instance] : instances_) {
    if (effects_->InstanceQueuedBytes(task, proto::CONTROL) > settings_.control_lane_bytes) {
      ++counters_.skipped_updates;
      continue;
    }
    effects_->SendToInstance(task, proto::CONTROL, frame);
  }
}

void StreamManagerCore::SendDuePlans() {
  plans_due_ = false;
  for (auto& [task, instance] : instances_) {
    if (!instance.plan_due) continue;
    if (effects_->InstanceQueuedBytes(task, proto::CONTROL) > settings_.control_lane_bytes) {
      ++counters_.skipped_updates;
      plans_due_ = true;  // with the next event
      continue;
    }
    SendPlan(task, instance);
  }
}

void StreamManagerCore::SendPlan(TaskId task, Instance& instance) {
  proto::InstancePlan plan;
  if (!instance.topology_sent) *plan.mutable_topology() = master_.topology();
  *plan.mutable_plan() = master_.plan();
  plan.set_active(master_.active());
  if (const proto::TaskGrant* grant = master_.GrantOf(task)) {
    *plan.mutable_grant() = *grant;
  } else {
    plan.mutable_grant()->set_task(task);
  }
  effects_->SendToInstance(task, proto::CONTROL, net::EncodeFrame(proto::INSTANCE_PLAN, plan));
  instance.topology_sent = true;
  instance.plan_due = false;
}

void StreamManagerCore::SendReport(MonotonicTime now) {
  if (effects_->MasterQueuedBytes() > settings_.control_lane_bytes) {
    ++counters_.skipped_updates;
    last_report_ = now;
    return;
  }
  report_due_ = false;
  last_report_ = now;
  proto::StreamManagerReport report;
  report.set_container(identity_.container);
  FillEpoch(identity_.epoch, report.mutable_epoch());
  report.set_host(identity_.host);
  report.set_port(identity_.port);
  report.set_plan_version(master_.plan_version());
  reports_.AddTo(router_, &report);
  for (const auto& [container, epoch] : peers_) report.add_peers_connected(container);
  effects_->SendToMaster(net::EncodeFrame(proto::STREAM_MANAGER_REPORT, report));
}

}  // namespace heron::stream_manager
