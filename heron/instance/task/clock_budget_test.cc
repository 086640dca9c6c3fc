#include "heron/instance/task/clock_budget.h"

#include <gtest/gtest.h>

namespace heron::instance {
namespace {

int ReadsIn(ClockBudget& budget, ManualClock& clock, int calls, Duration each) {
  int reads = 0;
  for (int i = 0; i < calls; ++i) {
    clock.Advance(each);
    reads += budget.Tick();
  }
  return reads;
}

TEST(ClockBudgetTest, FastCallsShareAReadingSlowOnesHaveTheirOwn) {
  ManualClock clock;
  ClockBudget budget(&clock);
  EXPECT_LT(ReadsIn(budget, clock, 100000, std::chrono::nanoseconds(20)), 600);
  EXPECT_GT(ReadsIn(budget, clock, 1000, std::chrono::milliseconds(5)),
            1000 - ClockBudget::kMaxCalls - 1);
}

TEST(ClockBudgetTest, LearnsAnewAfterARestart) {
  ManualClock clock;
  ClockBudget budget(&clock);
  ReadsIn(budget, clock, 100000, std::chrono::nanoseconds(20));
  budget.Restart();
  EXPECT_EQ(ReadsIn(budget, clock, 10, std::chrono::milliseconds(5)), 10);
}

TEST(ClockBudgetTest, IsNeverFarBehindAtASteadyPace) {
  ManualClock clock;
  ClockBudget budget(&clock);
  for (int i = 0; i < 100000; ++i) {
    clock.Advance(std::chrono::microseconds(3));
    budget.Tick();
    ASSERT_LT(clock.Now() - budget.now(), std::chrono::milliseconds(1));
  }
}

}  // namespace
}  // namespace heron::instance
