#include "heron/stream_manager/core/feeders.h"

namespace heron::stream_manager {

bool Feeders::Block(TaskId feeder, TaskId destination) {
  std::set<TaskId>& destinations = by_feeder_[feeder];
  const bool was_free = destinations.empty();
  if (destinations.insert(destination).second) by_destination_[destination].insert(feeder);
  return was_free;
}

std::vector<TaskId> Feeders::Release(TaskId destination) {
  std::vector<TaskId> free;
  auto found = by_destination_.find(destination);
  if (found == by_destination_.end()) return free;
  for (TaskId feeder : found->second) {
    auto pairs = by_feeder_.find(feeder);
    pairs->second.erase(destination);
    if (!pairs->second.empty()) continue;
    by_feeder_.erase(pairs);
    free.push_back(feeder);
  }
  by_destination_.erase(found);
  return free;
}

void Feeders::Forget(TaskId feeder) {
  auto found = by_feeder_.find(feeder);
  if (found == by_feeder_.end()) return;
  for (TaskId destination : found->second) {
    auto pairs = by_destination_.find(destination);
    pairs->second.erase(feeder);
    if (pairs->second.empty()) by_destination_.erase(pairs);
  }
  by_feeder_.erase(found);
}

std::vector<TaskId> Feeders::BlockedBy(TaskId destination) const {
  auto found = by_destination_.find(destination);
  if (found == by_destination_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<TaskId> Feeders::HoldersOf(TaskId feeder) const {
  auto found = by_feeder_.find(feeder);
  if (found == by_feeder_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace heron::stream_manager
