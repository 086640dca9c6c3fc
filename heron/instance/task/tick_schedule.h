// When a bolt's ticks are due: on a grid that starts when Prepare has returned. Ticks that were missed are left out, so
// that a slow Execute is followed by one tick and not by a burst.
//
// Plain object; time is passed in. Thread: the task's.
#pragma once

#include <optional>

#include "heron/api/component.h"
#include "heron/base/clock.h"

namespace heron::instance {

class TickSchedule {
 public:
  // No ticks until started.
  void Start(Duration interval, MonotonicTime now) {
    interval_ = interval;
    previous_ = now;
    due_ = now + interval;
  }
  bool started() const { return interval_ > Duration::zero(); }
  bool Due(MonotonicTime now) const { return now >= due_; }
  std::optional<MonotonicTime> next() const {
    if (!started()) return std::nullopt;
    return due_;
  }
  // The tick that is due.
  TickInfo Take(MonotonicTime now) {
    const TickInfo info{.number = ++number_, .since_previous = now - previous_};
    previous_ = now;
    due_ += interval_ * (1 + (now - due_) / interval_);
    return info;
  }

 private:
  Duration interval_ = Duration::zero();
  MonotonicTime previous_{};
  MonotonicTime due_ = MonotonicTime::max();
  int64_t number_ = 0;
};

}  // namespace heron::instance
