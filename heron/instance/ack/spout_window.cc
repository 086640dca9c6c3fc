#include "heron/instance/ack/spout_window.h"

#include <algorithm>

namespace heron::instance {
namespace {

constexpr Duration kInterval = std::chrono::milliseconds(20);
constexpr Duration kProbeEvery = std::chrono::seconds(10);
constexpr Duration kLeastHorizon = std::chrono::milliseconds(20);

double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

SpoutWindow::SpoutWindow(size_t fixed, Duration timeout, MonotonicTime now)
    : fixed_(fixed),
      timeout_(timeout),
      limit_(fixed == 0 ? kFirst : fixed),
      interval_begin_(now),
      interval_end_(now + kInterval),
      probe_at_(now + kProbeEvery) {}

double SpoutWindow::BestRate() const { return *std::max_element(rates_.begin(), rates_.end()); }

size_t SpoutWindow::Wanted() const {
  const double rate = BestRate();
  if (rate == 0) return kFirst;
  const Duration least = known_least_ == Duration::zero() ? least_ : known_least_;
  double wanted = 0;
  if (probing_) {
    wanted = rate * Seconds(least) / 2;
  } else {
    wanted = rate * Seconds(std::max(kLeastHorizon, 3 * least));
  }
  // A source that has little to do keeps room for a burst.
  wanted = std::max(wanted, static_cast<double>(kFirst));
  wanted = std::min(wanted, rate * Seconds(timeout_) / 3);
  return static_cast<size_t>(std::clamp(wanted, 1.0, static_cast<double>(kMost)));
}

void SpoutWindow::EndInterval(MonotonicTime now) {
  if (expired_) {
    expired_ = false;
    rates_.fill(BestRate() / 2);
    limit_ = std::max<size_t>(limit_ / 2, 1);
  }
  // Where acknowledgements are rarer than intervals, an interval ends with the first one.
  if (acked_ == 0) return;
  const Duration length = now - interval_begin_;
  // A probe says nothing of the rate: the window is what limits it.
  if (!probing_) rates_[next_rate_++ % kRates] = static_cast<double>(acked_) / Seconds(length);
  acked_ = 0;
  interval_begin_ = now;
  // Over less than a round trip a burst would look like a rate.
  interval_end_ = now + std::max(kInterval, known_least_);
  if (known_least_ == Duration::zero() || least_ < known_least_) known_least_ = least_;
  if (now >= probe_at_) {
    if (!probing_) {
      probing_ = true;
      least_ = Duration::max();
      // What is queued must drain first, then a few must go through the empty pipeline.
      const Duration queued{static_cast<int64_t>(static_cast<double>(limit_) / BestRate() * 1e9)};
      probe_at_ =
          now + std::max<Duration>(std::chrono::milliseconds(100), queued + 2 * known_least_);
    } else {
      probing_ = false;
      if (least_ != Duration::max()) known_least_ = least_;
      least_ = Duration::max();
      probe_at_ = now + kProbeEvery;
    }
  }
  limit_ = Wanted();
}

}  // namespace heron::instance
