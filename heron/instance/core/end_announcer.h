// The sending side of the end of a stream: tells every destination task the last number of its channel until each has
// confirmed it in its current epoch. Plain object without threads; time is passed in.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/ids.h"

namespace heron::instance {

class EndAnnouncer {
 public:
  static constexpr Duration kRepeatEvery = std::chrono::milliseconds(500);

  struct Announcement {
    TaskId destination = 0;
    uint64_t last_number = 0;
  };

  // All tasks of all subscribers. Keeps what is known of those that stay.
  void SetDestinations(const std::vector<TaskId>& tasks);

  // From now on there is something to announce. `last_numbers` by destination; absent: nothing was sent to it.
  void Start(const std::map<TaskId, uint64_t>& last_numbers);
  bool started() const { return started_; }

  void OnConfirmed(TaskId destination, Epoch destination_epoch);
  // Heard from others that `task` lives in `epoch`: a confirmation of an earlier epoch does not count any more.
  void OnTaskEpoch(TaskId task, Epoch epoch);
  // A new session: everything unconfirmed is due again.
  void OnSessionUp();

  // What is to be sent now; counts as sent.
  std::vector<Announcement> TakeDue(MonotonicTime now);
  // Started, and confirmed by the current epoch of every destination.
  bool Done() const { return started_ && unconfirmed_ == 0; }

 private:
  struct Destination {
    uint64_t last_number = 0;
    Epoch highest;           // of the destination, as far as heard
    bool confirmed = false;  // by `highest`
    bool sent = false;       // since it became due
    MonotonicTime sent_at{};
  };
  void CountUnconfirmed();

  std::map<TaskId, Destination> destinations_;
  bool started_ = false;
  size_t unconfirmed_ = 0;
};

}  // namespace heron::instance
