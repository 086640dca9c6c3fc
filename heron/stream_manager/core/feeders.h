// Who is held back on whose account: a set of pairs (feeder, destination), both tasks. A feeder is held back while it is
// in at least one pair. A set and not a counter, so that repeating a step changes nothing and a feeder that goes away
// takes its pairs along.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "heron/base/ids.h"

namespace heron::stream_manager {

class Feeders {
 public:
  // True if `feeder` was free before.
  bool Block(TaskId feeder, TaskId destination);
  // The feeders that are free now, having waited for this destination last.
  std::vector<TaskId> Release(TaskId destination);
  // The feeder's session is gone.
  void Forget(TaskId feeder);

  bool IsBlocked(TaskId feeder) const { return by_feeder_.contains(feeder); }
  size_t blocked() const { return by_feeder_.size(); }
  std::vector<TaskId> BlockedBy(TaskId destination) const;
  // The destinations on whose account the feeder is held back.
  std::vector<TaskId> HoldersOf(TaskId feeder) const;

 private:
  std::map<TaskId, std::set<TaskId>> by_feeder_;       // no empty sets
  std::map<TaskId, std::set<TaskId>> by_destination_;  // the same pairs
};

}  // namespace heron::stream_manager
