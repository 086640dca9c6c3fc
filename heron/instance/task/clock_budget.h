// Reads the clock every few calls instead of at each one: as many calls apart as fit into about 100 us, learned from how
// long they take. Thread: the task's.
#pragma once

#include <algorithm>

#include "heron/base/clock.h"

namespace heron::instance {

class ClockBudget {
 public:
  static constexpr int kMaxCalls = 256;

  // `clock` must outlive it.
  explicit ClockBudget(const Clock* clock) : clock_(clock), now_(clock->Now()) {}

  // Counts a call; true if the clock was read, so now() is fresh.
  bool Tick() {
    if (--left_ > 0) [[likely]]
      return false;
    const MonotonicTime last = now_;
    now_ = clock_->Now();
    const Duration took = now_ - last;
    if (took > std::chrono::microseconds(150)) {
      calls_ = took > std::chrono::milliseconds(1) ? 1 : std::max(1, calls_ / 2);
    } else if (took < std::chrono::microseconds(50)) {
      calls_ = std::min(kMaxCalls, calls_ * 2);
    }
    left_ = calls_;
    return true;
  }
  MonotonicTime Read() { return now_ = clock_->Now(); }
  // The same, and forgets what it has learned: the next calls are of another kind.
  MonotonicTime Restart() {
    calls_ = left_ = 1;
    return Read();
  }
  // The last time that was read.
  MonotonicTime now() const { return now_; }

 private:
  const Clock* const clock_;
  MonotonicTime now_;
  int calls_ = 1;
  int left_ = 1;
};

}  // namespace heron::instance
