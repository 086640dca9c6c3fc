// The highest of the latest latencies: of five to ten seconds. Plain object.
#pragma once

#include <algorithm>

#include "heron/base/clock.h"

namespace heron::instance {

class LatencyPeak {
 public:
  void Add(Duration latency, MonotonicTime now) {
    if (now - since_ >= std::chrono::seconds(5)) {
      before_ = now - since_ >= std::chrono::seconds(10) ? Duration::zero() : latest_;
      latest_ = Duration::zero();
      since_ = now;
    }
    latest_ = std::max(latest_, latency);
  }
  Duration peak() const { return std::max(before_, latest_); }

 private:
  Duration before_{};
  Duration latest_{};
  MonotonicTime since_{};
};

}  // namespace heron::instance
