// The receiving end of the channels into one task: which batch numbers it has had, and which are lost.
//
// A channel is (source task, source epoch, destination task); its batches are numbered from 1. In a task's first life
// every channel must begin at 1. A restarted task has no memory: the first number it meets on a channel is its base, and
// what came before is not counted here (the restart itself is reported by the master). A channel that begins after this
// task has already heard an earlier epoch of the same source begins at 1 again.
//
// Plain object without threads. Remembers at most kEpochsPerSource epochs of each source.
#pragma once

#include <cstdint>
#include <map>

#include "heron/base/ids.h"

namespace heron::instance {

class ChannelTracker {
 public:
  static constexpr size_t kEpochsPerSource = 4;

  enum class Verdict {
    kDeliver,
    kRepeated,  // had this number already
    kTooOld,    // of an epoch that is forgotten
  };

  explicit ChannelTracker(bool first_life) : first_life_(first_life) {}

  Verdict OnBatch(TaskId source, Epoch epoch, uint64_t number);
  // The channel ends with `last_number` (0: nothing was sent).
  void OnEnded(TaskId source, Epoch epoch, uint64_t last_number);

  // Batches that were sent to this task and never arrived.
  uint64_t lost_batches() const { return lost_; }

 private:
  // The last number of the channel, or nullptr if its epoch is too old to be remembered.
  uint64_t* Channel(TaskId source, Epoch epoch, uint64_t first_number);
  void CountLost(uint64_t batches);

  const bool first_life_;
  std::map<TaskId, std::map<Epoch, uint64_t>> last_;
  uint64_t lost_ = 0;
};

}  // namespace heron::instance
