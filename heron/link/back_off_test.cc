#include "heron/link/back_off.h"

#include <gtest/gtest.h>

#include <set>

namespace heron::link {
namespace {

using std::chrono::milliseconds;

TEST(BackOff, GrowsFrom50MillisecondsTo2SecondsAndStartsAnewAfterReset) {
  BackOff back_off(1);
  for (int round = 0; round < 2; ++round) {
    for (Duration bound :
         {milliseconds(50), milliseconds(100), milliseconds(200), milliseconds(400),
          milliseconds(800), milliseconds(1600), milliseconds(2000), milliseconds(2000)}) {
      const Duration delay = back_off.Next();
      EXPECT_LE(delay, bound);
      EXPECT_GE(delay, bound / 2);
    }
    back_off.Reset();
  }
}

TEST(BackOff, TwoProcessesDoNotWaitTheSame) {
  std::set<Duration> delays;
  for (uint64_t seed = 0; seed < 20; ++seed) delays.insert(BackOff(seed).Next());
  EXPECT_GT(delays.size(), 15u);
}

}  // namespace
}  // namespace heron::link
