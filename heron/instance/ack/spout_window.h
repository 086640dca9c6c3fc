// How many roots of a spout task may be pending: a fixed number, or by itself (`auto`).
//
// By itself it is the smallest window that keeps the throughput: rate x max(20 ms, 3 x the least
// latency seen) by Little's law, rate being the best of the last intervals. Its bound is rate x a
// third of the message timeout, so that what is emitted is acknowledged in time even where bolts
// are slow. The least latency is learned anew every ten seconds in a short probe with a small
// window; otherwise the window's own queues would count as latency and let it grow (the idea is
// that of BBR, N. Cardwell et al., 2016). A timeout halves it.
//
// Plain object; the task's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heron/base/clock.h"

namespace heron::instance {

class SpoutWindow {
 public:
  static constexpr size_t kFirst = 8;
  static constexpr size_t kMost = 1u << 20;

  // `fixed` 0: by itself.
  SpoutWindow(size_t fixed, Duration timeout, MonotonicTime now);

  size_t limit() const { return limit_; }

  void OnAcked(Duration latency) {
    ++acked_;
    if (latency < least_) least_ = latency;
  }
  void OnExpired() { expired_ = true; }
  // Call now and then with the time; cheap.
  void Update(MonotonicTime now) {
    if (fixed_ == 0 && now >= interval_end_) EndInterval(now);
  }

 private:
  static constexpr size_t kRates = 8;

  void EndInterval(MonotonicTime now);
  double BestRate() const;
  size_t Wanted() const;

  const size_t fixed_;
  const Duration timeout_;
  size_t limit_;
  MonotonicTime interval_begin_;
  MonotonicTime interval_end_;
  uint64_t acked_ = 0;                  // in this interval
  bool expired_ = false;                // in this interval
  std::array<double, kRates> rates_{};  // per second, of the last intervals with any
  size_t next_rate_ = 0;
  Duration least_ = Duration::max();  // since the last probe began
  Duration known_least_{};            // of the time before; 0: none yet
  MonotonicTime probe_at_;
  bool probing_ = false;
};

}  // namespace heron::instance
