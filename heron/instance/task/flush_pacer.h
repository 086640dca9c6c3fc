// When open batches leave although they are not full: at most a maximum age after the first tuple went in, or at once when the
// task thread has nothing else to do and there is credit for it. Credit grows by one flush per kCreditEvery, at most
// kMaxCredit are held: a lone tuple does not wait for a timer, and a fast stream is not cut into tiny batches.
//
// Plain object; time is passed in. Thread: the task's.
#pragma once

#include <algorithm>
#include <optional>

#include "heron/base/clock.h"

namespace heron::instance {

class FlushPacer {
 public:
  static constexpr Duration kCreditEvery = std::chrono::microseconds(500);
  static constexpr int kMaxCredit = 8;

  explicit FlushPacer(MonotonicTime now, Duration max_age = std::chrono::milliseconds(1))
      : max_age_(max_age), credit_since_(now - kMaxCredit * kCreditEvery) {}

  // A tuple went into an empty set of batches. `now` may be a little old: the last time that the clock was read.
  void OnOpened(MonotonicTime now) {
    if (!open_) opened_at_ = now;
    open_ = true;
  }
  void OnFlushed() { open_ = false; }

  // Under load.
  bool Aged(MonotonicTime now) const { return open_ && now - opened_at_ >= max_age_; }

  // With nothing else to do: true, and the credit is spent, if everything open should leave now.
  bool TakeIdleFlush(MonotonicTime now) {
    if (!open_) return false;
    credit_since_ = std::max(credit_since_, now - kMaxCredit * kCreditEvery);
    if (now - credit_since_ >= kCreditEvery) {
      credit_since_ += kCreditEvery;
      return true;
    }
    return Aged(now);
  }
  // When to ask again while idle; nothing is open: never.
  std::optional<MonotonicTime> NextIdleFlush() const {
    if (!open_) return std::nullopt;
    return std::min(opened_at_ + max_age_, credit_since_ + kCreditEvery);
  }

 private:
  const Duration max_age_;
  bool open_ = false;
  MonotonicTime opened_at_{};
  MonotonicTime credit_since_;  // credit is the time since then in units of kCreditEvery
};

}  // namespace heron::instance
