// The receiving side of the end of a stream: which upstream tasks have ended. An Ended counts for the highest epoch of
// its source that was heard of; a batch or Ended of a higher epoch withdraws it. Plain object without threads.
#pragma once

#include <map>
#include <vector>

#include "heron/base/ids.h"

namespace heron::instance {

class EndOfStream {
 public:
  // The tasks of all components that this one subscribes to. Keeps what is known of those that stay.
  void SetUpstream(const std::vector<TaskId>& tasks);
  bool IsUpstream(TaskId task) const { return sources_.contains(task); }

  void OnBatch(TaskId source, Epoch epoch);
  void OnEnded(TaskId source, Epoch epoch);

  // False without upstream tasks: such a task has no stream that could end.
  bool AllEnded() const { return !sources_.empty() && ended_ == sources_.size(); }
  size_t open() const { return sources_.size() - ended_; }
  // Upstream tasks that have not ended, at most `most` of them.
  std::vector<TaskId> Open(size_t most) const;

 private:
  struct Source {
    Epoch highest;
    bool ended = false;
  };
  std::map<TaskId, Source> sources_;
  size_t ended_ = 0;
};

}  // namespace heron::instance
