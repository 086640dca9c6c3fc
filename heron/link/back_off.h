// How long to wait before the next dial: 50 ms, doubling to 2 s, each time a random part between
// half and all of it, so that processes that lost the same peer do not come back in one moment.
//
// Thread: that of the owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "heron/base/clock.h"

namespace heron::link {

class BackOff {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(50);
  static constexpr Duration kLast = std::chrono::seconds(2);

  explicit BackOff(uint64_t seed) : random_(seed) {}

  Duration Next() {
    std::uniform_int_distribution<int64_t> part(bound_.count() / 2, bound_.count());
    const Duration delay(part(random_));
    bound_ = std::min(bound_ * 2, kLast);
    return delay;
  }
  void Reset() { bound_ = kFirst; }

 private:
  std::mt19937_64 random_;
  Duration bound_ = kFirst;
};

}  // namespace heron::link
