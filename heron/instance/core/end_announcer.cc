#include "heron/instance/core/end_announcer.h"

#include <utility>

namespace heron::instance {

void EndAnnouncer::SetDestinations(const std::vector<TaskId>& tasks) {
  std::map<TaskId, Destination> destinations;
  for (TaskId task : tasks) {
    auto known = destinations_.find(task);
    destinations.emplace(task, known != destinations_.end() ? known->second : Destination());
  }
  destinations_ = std::move(destinations);
  CountUnconfirmed();
}

void EndAnnouncer::Start(const std::map<TaskId, uint64_t>& last_numbers) {
  if (started_) return;
  started_ = true;
  for (auto& [task, destination] : destinations_) {
    auto it = last_numbers.find(task);
    destination.last_number = it == last_numbers.end() ? 0 : it->second;
    destination.confirmed = false;
    destination.sent = false;
  }
  CountUnconfirmed();
}

void EndAnnouncer::CountUnconfirmed() {
  unconfirmed_ = 0;
  for (const auto& [task, destination] : destinations_) {
    if (!destination.confirmed) ++unconfirmed_;
  }
}

void EndAnnouncer::OnConfirmed(TaskId task, Epoch epoch) {
  auto it = destinations_.find(task);
  if (!started_ || it == destinations_.end()) return;
  Destination& destination = it->second;
  if (epoch < destination.highest) return;
  destination.highest = epoch;
  if (!std::exchange(destination.confirmed, true)) --unconfirmed_;
}

void EndAnnouncer::OnTaskEpoch(TaskId task, Epoch epoch) {
  auto it = destinations_.find(task);
  if (it == destinations_.end() || epoch <= it->second.highest) return;
  Destination& destination = it->second;
  destination.highest = epoch;
  destination.sent = false;
  if (std::exchange(destination.confirmed, false)) ++unconfirmed_;
}

void EndAnnouncer::OnSessionUp() {
  for (auto& [task, destination] : destinations_) destination.sent = false;
}

std::vector<EndAnnouncer::Announcement> EndAnnouncer::TakeDue(MonotonicTime now) {
  std::vector<Announcement> due;
  if (!started_ || unconfirmed_ == 0) return due;
  for (auto& [task, destination] : destinations_) {
    if (destination.confirmed) continue;
    if (destination.sent && now - destination.sent_at < kRepeatEvery) continue;
    destination.sent = true;
    destination.sent_at = now;
    due.push_back({task, destination.last_number});
  }
  return due;
}

}  // namespace heron::instance
