#include "heron/base/wake.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace heron {
namespace {

TEST(WakeTest, NotifyWithoutSleeperLeavesNothingBehind) {
  Wake wake;
  wake.Notify();
  EXPECT_FALSE(wake.Wait(Duration::zero()));
  wake.Arm();
  EXPECT_FALSE(wake.Wait(Duration(1)));
}

TEST(WakeTest, SeveralNotifiersAreOneWakeUp) {
  Wake wake;
  wake.Arm();
  wake.Notify();
  wake.Notify();
  EXPECT_TRUE(wake.Wait(Duration::zero()));
  wake.Disarm();
  EXPECT_FALSE(wake.Wait(Duration::zero()));
}

TEST(WakeTest, DisarmTakesBackTheWish) {
  Wake wake;
  wake.Arm();
  wake.Disarm();
  wake.Notify();
  EXPECT_FALSE(wake.Wait(Duration::zero()));
}

TEST(WakeTest, AStateChangeIsNeverSleptThrough) {
  Wake wake;
  std::atomic<int> state{0};
  std::atomic<int> seen{0};
  constexpr int kRounds = 20000;
  std::thread other([&] {
    for (int i = 1; i <= kRounds; ++i) {
      state.store(i);
      wake.Notify();
      while (seen.load() < i) std::this_thread::yield();
    }
  });
  for (int last = 0; last < kRounds;) {
    if (state.load() == last) {
      wake.Arm();
      if (state.load() == last) wake.Wait(Duration(-1));
      wake.Disarm();
      continue;
    }
    last = state.load();
    seen.store(last);
  }
  other.join();
}

}  // namespace
}  // namespace heron
