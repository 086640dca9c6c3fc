#include "heron/instance/task/tick_schedule.h"

#include <gtest/gtest.h>

namespace heron::instance {
namespace {

using std::chrono::milliseconds;

class TickScheduleTest : public ::testing::Test {
 protected:
  bool DueAfter(int ms) { return schedule_.Due(start_ + milliseconds(ms)); }
  TickInfo TakeAfter(int ms) { return schedule_.Take(start_ + milliseconds(ms)); }

  const MonotonicTime start_{std::chrono::hours(1)};
  TickSchedule schedule_;
};

TEST_F(TickScheduleTest, NothingIsDueUntilItIsStarted) {
  EXPECT_FALSE(schedule_.started());
  EXPECT_FALSE(DueAfter(1'000'000));
  EXPECT_FALSE(schedule_.next());
}

TEST_F(TickScheduleTest, TicksKeepToTheirGridAlthoughEachIsALittleLate) {
  schedule_.Start(milliseconds(10), start_);
  EXPECT_FALSE(DueAfter(9));
  EXPECT_TRUE(DueAfter(10));
  EXPECT_EQ(TakeAfter(12).since_previous, milliseconds(12));
  EXPECT_EQ(schedule_.next(), start_ + milliseconds(20));
  const TickInfo second = TakeAfter(21);
  EXPECT_EQ(second.number, 2);
  EXPECT_EQ(second.since_previous, milliseconds(9));
  EXPECT_FALSE(DueAfter(29));
}

TEST_F(TickScheduleTest, MissedTicksAreLeftOut) {
  schedule_.Start(milliseconds(10), start_);
  EXPECT_EQ(TakeAfter(57).number, 1);
  EXPECT_FALSE(DueAfter(59));
  const TickInfo next = TakeAfter(60);
  EXPECT_EQ(next.number, 2);
  EXPECT_EQ(next.since_previous, milliseconds(3));
}

}  // namespace
}  // namespace heron::instance
