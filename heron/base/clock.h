// Time as a thing that can be passed in. Timeouts use the monotonic clock only; the wall clock is for people.
#pragma once

#include <chrono>
#include <cstdint>

namespace heron {

using Duration = std::chrono::nanoseconds;
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonotonicTime Now() const = 0;
  // Milliseconds since 1970, to be shown, never to be compared for a timeout.
  virtual int64_t UnixMillis() const = 0;
};

class SystemClock : public Clock {
 public:
  MonotonicTime Now() const override { return std::chrono::steady_clock::now(); }
  int64_t UnixMillis() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

// For tests and simulation: stands still until told. Not thread-safe.
class ManualClock : public Clock {
 public:
  MonotonicTime Now() const override { return now_; }
  int64_t UnixMillis() const override {
    return 1'000'000'000'000 +
           std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch()).count();
  }
  void Advance(Duration d) { now_ += d; }

 private:
  MonotonicTime now_{std::chrono::hours(1)};
};

}  // namespace heron
