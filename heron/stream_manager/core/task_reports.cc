#include "heron/stream_manager/core/task_reports.h"

#include "heron/stream_manager/core/epochs.h"

namespace heron::stream_manager {
namespace {

constexpr int kHoldersNamed = 8;

}  // namespace

bool TaskReports::Apply(TaskId task, const proto::TaskStatus& status) {
  auto [it, added] = statuses_.try_emplace(task, status);
  if (added) return true;
  const proto::TaskStatus& old = it->second;
  const bool changed = old.phase() != status.phase() || old.finish_lost() != status.finish_lost() ||
                       old.lost_batches() != status.lost_batches() ||
                       ToEpoch(old.epoch()) != ToEpoch(status.epoch());
  it->second = status;
  return changed;
}

void TaskReports::Down(TaskId task) {
  auto it = statuses_.find(task);
  if (it != statuses_.end()) it->second.set_phase(proto::TaskStatus::DOWN);
}

void TaskReports::AddTo(const Router& router, proto::StreamManagerReport* report) const {
  for (const auto& [task, status] : statuses_) {
    proto::TaskStatus* out = report->add_tasks();
    *out = status;
    out->set_queued_bytes(router.QueuedBytes(task));
    for (TaskId holder : router.feeders().HoldersOf(task)) {
      if (out->held_by_size() == kHoldersNamed) break;
      out->add_held_by(holder);
    }
    const Router::Drops* drops = router.DropsOf(task);
    if (drops == nullptr) continue;
    for (const auto& [reason, tuples] : *drops) {
      (*out->mutable_drop_reasons())[reason] += tuples;
      out->set_dropped_tuples(out->dropped_tuples() + tuples);
    }
  }
}

}  // namespace heron::stream_manager
