// What is known of the tasks now: the latest status of each, as its stream manager reported it, and
// the highest epoch that anybody mentioned. Soft state: a new master starts from the statuses in
// the stored ExecutionState and hears the rest again.
//
// Thread: the master's event loop.
#pragma once

#include <map>
#include <string>

#include "heron/base/ids.h"
#include "heron/model/task_layout.h"
#include "proto/state.pb.h"

namespace heron::topology_master {

Epoch EpochOf(const proto::Epoch& epoch);
void SetEpoch(Epoch epoch, proto::Epoch* out);

struct TaskRecord {
  proto::TaskStatus status;
  // Reported to this master process, not only read from the store.
  bool fresh = false;
  // Open or Prepare has returned at least once.
  bool opened = false;
  // The life of the task that exists now is this one or a later one.
  Epoch known;
  // The latest life in which a tuple was emitted or executed.
  Epoch progress;

  Epoch epoch() const { return EpochOf(status.epoch()); }
  // The status is of the latest life known.
  bool current() const { return epoch() >= known; }
};

class TaskBoard {
 public:
  // What a report changed.
  enum class Change { kNothing, kCounters, kPhase };

  // Keeps what is known of tasks that are in the layout, forgets others, learns what the stored
  // state tells.
  void Load(const model::TaskLayout& layout, const proto::ExecutionState* stored);

  // A status from the stream manager of the task's container. Unknown tasks and lower epochs change
  // nothing.
  Change Report(const proto::TaskStatus& status);
  // Somebody knows that this life of the task has begun.
  void RaiseKnown(TaskId task, Epoch epoch);

  const TaskRecord* Find(TaskId task) const;
  const std::map<TaskId, TaskRecord>& records() const { return records_; }
  bool AllRegistered() const { return registered_ == records_.size(); }
  bool AllOpened() const { return opened_ == records_.size(); }
  size_t registered() const { return registered_; }

 private:
  void Take(const proto::TaskStatus& status, TaskRecord& record);

  std::map<TaskId, TaskRecord> records_;
  size_t registered_ = 0;
  size_t opened_ = 0;
};

// Connected at least once, as far as this status tells.
inline bool HasRegistered(const proto::TaskStatus& status) {
  return status.phase() != proto::TaskStatus::PHASE_UNSPECIFIED;
}

// "split[2] (task 5)".
std::string DescribeTask(const model::TaskLayout& layout, TaskId task);
// "task 5 (split[2])".
std::string TaskAndPlace(const model::TaskLayout& layout, TaskId task);

}  // namespace heron::topology_master
