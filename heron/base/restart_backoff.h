// How long to wait before a process that ended is started again: 0, then 100 ms doubling to 5 s,
// from the start again after a life of 10 s. The same policy for the children of an executor and
// the executors of a supervisor.
#pragma once

#include <algorithm>

#include "heron/base/clock.h"

namespace heron {

class RestartBackoff {
 public:
  static constexpr Duration kFirstDelay = std::chrono::milliseconds(100);
  static constexpr Duration kMaxDelay = std::chrono::seconds(5);
  static constexpr Duration kLifeThatResets = std::chrono::seconds(10);

  // After the end of a process that lived for `life`.
  Duration NextDelay(Duration life) {
    if (life >= kLifeThatResets) delay_ = Duration::zero();
    const Duration now = delay_;
    delay_ = now == Duration::zero() ? kFirstDelay : std::min(2 * now, kMaxDelay);
    return now;
  }

 private:
  Duration delay_ = Duration::zero();
};

}  // namespace heron
