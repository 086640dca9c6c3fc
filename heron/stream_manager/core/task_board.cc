#include "heron/stream_manager/core/task_board.h"

#include <algorithm>

#include "heron/stream_manager/core/epochs.h"

namespace heron::stream_manager {
namespace {

bool SameTasks(const proto::TaskStates& a, const proto::TaskStates& b) {
  const auto same = [](const proto::TaskStates::Task& x, const proto::TaskStates::Task& y) {
    return x.task() == y.task() && x.up() == y.up() && x.stopped() == y.stopped() &&
           ToEpoch(x.epoch()) == ToEpoch(y.epoch());
  };
  return std::equal(a.tasks().begin(), a.tasks().end(), b.tasks().begin(), b.tasks().end(), same);
}

}  // namespace

void TaskBoard::PeerUp(ContainerId container, Epoch epoch) {
  Peer& peer = peers_[container];
  peer.epoch = epoch;
  peer.up = true;
  peer.spoke = false;
}

void TaskBoard::PeerDown(ContainerId container) {
  auto it = peers_.find(container);
  if (it == peers_.end()) return;
  it->second.up = false;
  it->second.spoke = false;
}

TaskBoard::Applied TaskBoard::Apply(ContainerId container, const proto::TaskStates& states) {
  Peer& peer = peers_[container];
  if (!peer.up) return Applied::kRefused;
  if (states.container() != container || ToEpoch(states.epoch()) != peer.epoch) {
    ++counters_->forged_frames;
    return Applied::kRefused;
  }
  if (peer.spoke && states.number() <= peer.last.number()) {
    ++counters_->stale_task_states;
    return Applied::kRefused;
  }
  const bool same = peer.spoke && SameTasks(peer.last, states);
  peer.spoke = true;
  peer.last = states;
  peer.tasks.clear();
  for (const proto::TaskStates::Task& task : states.tasks()) peer.tasks[task.task()] = task;
  return same ? Applied::kSame : Applied::kChanged;
}

const proto::TaskStates* TaskBoard::Of(ContainerId container) const {
  auto it = peers_.find(container);
  return it == peers_.end() || !it->second.spoke ? nullptr : &it->second.last;
}

void TaskBoard::AddLocal(TaskId task, const IsStopped& stopped, proto::TaskStates* out) const {
  proto::TaskStates::Task* state = out->add_tasks();
  state->set_task(task);
  state->set_stopped(stopped(task));
  auto known = local_.find(task);
  if (known == local_.end()) return;
  FillEpoch(known->second.epoch, state->mutable_epoch());
  state->set_up(known->second.up);
}

proto::TaskStates TaskBoard::ForPeers(const model::TaskLayout& layout, const IsStopped& stopped) {
  proto::TaskStates out;
  out.set_container(self_);
  FillEpoch(epoch_, out.mutable_epoch());
  out.set_number(++number_);
  for (TaskId task : layout.TasksIn(self_)) AddLocal(task, stopped, &out);
  return out;
}

proto::TaskStates TaskBoard::ForInstances(const model::TaskLayout& layout,
                                          const IsStopped& stopped) {
  proto::TaskStates out;
  out.set_container(self_);
  FillEpoch(epoch_, out.mutable_epoch());
  out.set_number(++number_);
  for (const model::TaskInfo& info : layout.tasks()) {
    if (info.container == self_) {
      AddLocal(info.task, stopped, &out);
      continue;
    }
    proto::TaskStates::Task* state = out.add_tasks();
    state->set_task(info.task);
    auto peer = peers_.find(info.container);
    if (peer == peers_.end()) continue;
    auto known = peer->second.tasks.find(info.task);
    if (known == peer->second.tasks.end()) continue;
    *state = known->second;
    if (!peer->second.up || !peer->second.spoke) {
      state->set_up(false);
      state->set_stopped(false);
    }
  }
  return out;
}

}  // namespace heron::stream_manager
