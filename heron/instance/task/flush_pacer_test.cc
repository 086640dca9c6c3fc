#include "heron/instance/task/flush_pacer.h"

#include <gtest/gtest.h>

namespace heron::instance {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
const MonotonicTime kStart{std::chrono::hours(1)};

TEST(FlushPacerTest, ALoneTupleLeavesAtOnce) {
  FlushPacer pacer(kStart);
  EXPECT_FALSE(pacer.TakeIdleFlush(kStart)) << "nothing is open";
  pacer.OnOpened(kStart);
  EXPECT_TRUE(pacer.TakeIdleFlush(kStart));
}

TEST(FlushPacerTest, AFastStreamRunsOutOfCreditAndThenWaitsForIt) {
  FlushPacer pacer(kStart);
  MonotonicTime now = kStart;
  int flushed = 0;
  // A tuple every 10 us for 100 ms, idle after each.
  for (int i = 0; i < 10000; ++i, now += microseconds(10)) {
    pacer.OnOpened(now);
    if (pacer.TakeIdleFlush(now)) {
      ++flushed;
      pacer.OnFlushed();
    }
  }
  EXPECT_GE(flushed, 200) << "one per 0.5 ms";
  EXPECT_LE(flushed, 200 + FlushPacer::kMaxCredit + 1);
}

TEST(FlushPacerTest, ASlowStreamIsNeverHeldBack) {
  FlushPacer pacer(kStart);
  MonotonicTime now = kStart;
  for (int i = 0; i < 1000; ++i, now += milliseconds(1)) {
    pacer.OnOpened(now);
    EXPECT_TRUE(pacer.TakeIdleFlush(now));
    pacer.OnFlushed();
  }
}

TEST(FlushPacerTest, CreditIsHeldUpToABound) {
  FlushPacer pacer(kStart);
  MonotonicTime now = kStart + std::chrono::hours(1);
  int at_once = 0;
  for (int i = 0; i < 100; ++i) {
    pacer.OnOpened(now);
    at_once += pacer.TakeIdleFlush(now);
    pacer.OnFlushed();
  }
  EXPECT_EQ(at_once, FlushPacer::kMaxCredit);
}

TEST(FlushPacerTest, SaysWhenToAskAgain) {
  FlushPacer pacer(kStart);
  EXPECT_EQ(pacer.NextIdleFlush(), std::nullopt);
  for (int i = 0; i < FlushPacer::kMaxCredit; ++i) {
    pacer.OnOpened(kStart);
    pacer.TakeIdleFlush(kStart);
    pacer.OnFlushed();
  }
  pacer.OnOpened(kStart);
  EXPECT_FALSE(pacer.TakeIdleFlush(kStart));
  ASSERT_EQ(pacer.NextIdleFlush(), kStart + FlushPacer::kCreditEvery);
  EXPECT_TRUE(pacer.TakeIdleFlush(kStart + FlushPacer::kCreditEvery));
}

TEST(FlushPacerTest, UnderLoadTheAgeOfTheFirstTupleCounts) {
  FlushPacer pacer(kStart);
  pacer.OnOpened(kStart);
  pacer.OnOpened(kStart + microseconds(900));
  EXPECT_FALSE(pacer.Aged(kStart + microseconds(999)));
  EXPECT_TRUE(pacer.Aged(kStart + milliseconds(1)));
  pacer.OnFlushed();
  EXPECT_FALSE(pacer.Aged(kStart + milliseconds(9)));
}

}  // namespace
}  // namespace heron::instance
