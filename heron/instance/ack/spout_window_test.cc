#include "heron/instance/ack/spout_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace heron::instance {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonotonicTime kStart{seconds(1000)};

// A spout that always has something to emit, and a pipeline of so many tuples per second in front
// of which there is a queue.
struct Pipeline {
  SpoutWindow window;
  Duration empty;  // latency of an empty pipeline
  Duration each;   // time between two tuples at most
  MonotonicTime now = kStart;
  MonotonicTime free_at = kStart;
  std::deque<std::pair<MonotonicTime, MonotonicTime>> pending;  // emitted, acked
  uint64_t acked = 0;
  Duration worst{};

  Pipeline(Duration timeout, Duration e, double rate)
      : window(0, timeout, kStart),
        empty(e),
        each(std::chrono::nanoseconds(static_cast<int64_t>(1e9 / rate))) {}

  void Run(Duration time, Duration step) {
    const MonotonicTime end = now + time;
    worst = Duration::zero();
    acked = 0;
    while (now < end) {
      while (!pending.empty() && pending.front().second <= now) {
        const Duration latency = pending.front().second - pending.front().first;
        window.OnAcked(latency);
        worst = std::max(worst, latency);
        ++acked;
        pending.pop_front();
      }
      window.Update(now);
      while (pending.size() < window.limit()) {
        free_at = std::max(free_at + each, now + empty);
        pending.emplace_back(now, free_at);
      }
      now += step;
    }
  }
};

TEST(SpoutWindowTest, AFixedOneStays) {
  SpoutWindow window(500, seconds(30), kStart);
  EXPECT_EQ(window.limit(), 500u);
  for (int i = 0; i < 100; ++i) window.OnAcked(seconds(5));
  window.OnExpired();
  window.Update(kStart + seconds(10));
  EXPECT_EQ(window.limit(), 500u);
}

TEST(SpoutWindowTest, FindsTheThroughputOfAFastPipelineAndKeepsItShort) {
  Pipeline pipeline(seconds(30), milliseconds(1), 200'000);
  pipeline.Run(seconds(2), microseconds(100));
  pipeline.Run(seconds(5), microseconds(100));
  EXPECT_GT(pipeline.acked, 200'000u * 5 * 95 / 100);
  EXPECT_LT(pipeline.worst, milliseconds(40));
  // It does not drift.
  pipeline.Run(seconds(60), microseconds(200));
  pipeline.Run(seconds(5), microseconds(100));
  EXPECT_GT(pipeline.acked, 200'000u * 5 * 95 / 100);
  EXPECT_LT(pipeline.worst, milliseconds(40));
}

TEST(SpoutWindowTest, ALongPipelineGetsAWideWindow) {
  Pipeline pipeline(seconds(30), milliseconds(300), 10'000);
  pipeline.Run(seconds(30), milliseconds(1));
  pipeline.Run(seconds(10), milliseconds(1));
  EXPECT_GT(pipeline.acked, 10'000u * 10 * 85 / 100);
  pipeline.Run(seconds(100), milliseconds(1));
  EXPECT_LT(pipeline.worst, seconds(3)) << "it does not drift";
}

TEST(SpoutWindowTest, SlowBoltsAreServedWithinTheTimeout) {
  for (double rate : {0.5, 1.0, 10.0, 100.0}) {
    Pipeline pipeline(seconds(30), Duration(static_cast<int64_t>(1e9 / rate)), rate);
    pipeline.Run(seconds(600), milliseconds(5));
    EXPECT_LT(pipeline.worst, seconds(30)) << rate;
    EXPECT_GT(static_cast<double>(pipeline.acked), rate * 600 * 0.9) << rate;
  }
}

TEST(SpoutWindowTest, ATimeoutHalvesIt) {
  Pipeline pipeline(seconds(30), milliseconds(1), 200'000);
  pipeline.Run(seconds(1), microseconds(100));
  const size_t before = pipeline.window.limit();
  pipeline.window.OnExpired();
  pipeline.window.Update(pipeline.now + milliseconds(20));
  EXPECT_LE(pipeline.window.limit(), before / 2 + 1);
  EXPECT_GE(pipeline.window.limit(), 1u);
}

}  // namespace
}  // namespace heron::instance
