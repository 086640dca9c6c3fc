#include "heron/topology_master/core/task_board.h"

#include <algorithm>

namespace heron::topology_master {

using proto::TaskStatus;

namespace {

bool SameHolders(const TaskStatus& a, const TaskStatus& b) {
  return std::equal(a.held_by().begin(), a.held_by().end(), b.held_by().begin(),
                    b.held_by().end());
}

}  // namespace

Epoch EpochOf(const proto::Epoch& epoch) { return {epoch.incarnation(), epoch.restart()}; }

void SetEpoch(Epoch epoch, proto::Epoch* out) {
  out->set_incarnation(epoch.incarnation);
  out->set_restart(epoch.restart);
}

void TaskBoard::Load(const model::TaskLayout& layout, const proto::ExecutionState* stored) {
  std::map<TaskId, TaskRecord> before;
  before.swap(records_);
  registered_ = opened_ = 0;
  for (const model::TaskInfo& info : layout.tasks()) {
    TaskRecord& record = records_[info.task];
    if (auto it = before.find(info.task); it != before.end()) record = std::move(it->second);
    record.status.set_task(info.task);
    if (HasRegistered(record.status)) ++registered_;
    if (record.opened) ++opened_;
  }
  if (stored == nullptr) return;
  for (const TaskStatus& status : stored->tasks()) {
    auto it = records_.find(status.task());
    if (it == records_.end()) continue;
    if (!it->second.fresh && EpochOf(status.epoch()) >= it->second.epoch()) {
      Take(status, it->second);
    }
  }
  // A life that failed is over: the present one is a later one.
  for (const proto::ProcessFailure& failure : stored->failures()) {
    if (failure.task() == 0) continue;
    Epoch next = EpochOf(failure.epoch());
    ++next.restart;
    RaiseKnown(failure.task(), next);
  }
}

void TaskBoard::Take(const TaskStatus& status, TaskRecord& record) {
  const bool was_registered = HasRegistered(record.status);
  record.status = status;
  if (!was_registered && HasRegistered(status)) ++registered_;
  const bool open = status.phase() == TaskStatus::RUNNING ||
                    status.phase() == TaskStatus::FINISH_REQUESTED ||
                    status.phase() == TaskStatus::FINISHING ||
                    status.phase() == TaskStatus::FINISHED;
  if (open && !record.opened) {
    record.opened = true;
    ++opened_;
  }
  const Epoch epoch = record.epoch();
  record.known = std::max(record.known, epoch);
  if (status.emitted() + status.executed() > 0) record.progress = std::max(record.progress, epoch);
}

TaskBoard::Change TaskBoard::Report(const TaskStatus& status) {
  auto it = records_.find(status.task());
  if (it == records_.end() || !HasRegistered(status)) return Change::kNothing;
  TaskRecord& record = it->second;
  if (EpochOf(status.epoch()) < record.epoch()) return Change::kNothing;
  const bool phase = !record.fresh || status.phase() != record.status.phase() ||
                     EpochOf(status.epoch()) != record.epoch() ||
                     status.finish_lost() != record.status.finish_lost();
  const bool counters = status.emitted() != record.status.emitted() ||
                        status.executed() != record.status.executed() ||
                        status.lost_batches() != record.status.lost_batches() ||
                        status.dropped_tuples() != record.status.dropped_tuples() ||
                        status.progress() != record.status.progress() ||
                        status.waiting_tuples() != record.status.waiting_tuples() ||
                        status.open_inputs() != record.status.open_inputs() ||
                        status.queued_bytes() != record.status.queued_bytes() ||
                        !SameHolders(status, record.status);
  record.fresh = true;
  if (!phase && !counters) return Change::kNothing;
  Take(status, record);
  return phase ? Change::kPhase : Change::kCounters;
}

void TaskBoard::RaiseKnown(TaskId task, Epoch epoch) {
  auto it = records_.find(task);
  if (it != records_.end()) it->second.known = std::max(it->second.known, epoch);
}

const TaskRecord* TaskBoard::Find(TaskId task) const {
  auto it = records_.find(task);
  return it == records_.end() ? nullptr : &it->second;
}

namespace {

std::string Place(const model::TaskLayout& layout, const model::TaskInfo& info) {
  return layout.topology().components(info.component).name() + "[" +
         std::to_string(info.component_index) + "]";
}

}  // namespace

std::string DescribeTask(const model::TaskLayout& layout, TaskId task) {
  const model::TaskInfo* info = layout.Find(task);
  const std::string id = "task " + std::to_string(task);
  return info == nullptr ? id : Place(layout, *info) + " (" + id + ")";
}

std::string TaskAndPlace(const model::TaskLayout& layout, TaskId task) {
  const model::TaskInfo* info = layout.Find(task);
  const std::string id = "task " + std::to_string(task);
  return info == nullptr ? id : id + " (" + Place(layout, *info) + ")";
}

}  // namespace heron::topology_master
