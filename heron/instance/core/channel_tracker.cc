#include "heron/instance/core/channel_tracker.h"

#include <limits>

namespace heron::instance {

uint64_t* ChannelTracker::Channel(TaskId source, Epoch epoch, uint64_t first_number) {
  std::map<Epoch, uint64_t>& epochs = last_[source];
  auto it = epochs.find(epoch);
  if (it != epochs.end()) return &it->second;
  const bool full = epochs.size() >= kEpochsPerSource;
  if (full && epoch < epochs.begin()->first) return nullptr;
  // Channels of one source arrive in the order of its epochs, so one that begins after an earlier epoch was heard lies
  // wholly within this task's life.
  const bool heard_earlier = !epochs.empty() && epochs.begin()->first < epoch;
  const uint64_t base = first_life_ || heard_earlier ? 0 : first_number;
  if (full) epochs.erase(epochs.begin());
  return &epochs.emplace(epoch, base).first->second;
}

void ChannelTracker::CountLost(uint64_t batches) {
  // The numbers come from another process: no sum of them may wrap around.
  const uint64_t room = std::numeric_limits<uint64_t>::max() - lost_;
  lost_ += batches < room ? batches : room;
}

ChannelTracker::Verdict ChannelTracker::OnBatch(TaskId source, Epoch epoch, uint64_t number) {
  if (number == 0) return Verdict::kRepeated;  // numbers begin at 1
  uint64_t* last = Channel(source, epoch, number - 1);
  if (last == nullptr) return Verdict::kTooOld;
  if (number <= *last) return Verdict::kRepeated;
  CountLost(number - *last - 1);
  *last = number;
  return Verdict::kDeliver;
}

void ChannelTracker::OnEnded(TaskId source, Epoch epoch, uint64_t last_number) {
  uint64_t* last = Channel(source, epoch, last_number);
  if (last == nullptr || last_number <= *last) return;
  CountLost(last_number - *last);
  *last = last_number;
}

}  // namespace heron::instance
