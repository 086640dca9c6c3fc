#include "heron/instance/core/channel_tracker.h"

#include <gtest/gtest.h>

#include <limits>

namespace heron::instance {
namespace {

using Verdict = ChannelTracker::Verdict;
constexpr Epoch kFirst{1, 0};
constexpr Epoch kSecond{1, 1};

TEST(ChannelTrackerTest, DropsNumbersItHasHad) {
  ChannelTracker tracker(true);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 1), Verdict::kDeliver);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 2), Verdict::kDeliver);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 2), Verdict::kRepeated);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 1), Verdict::kRepeated);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 0), Verdict::kRepeated);
  EXPECT_EQ(tracker.lost_batches(), 0u);
}

TEST(ChannelTrackerTest, CountsGapsOfEachChannel) {
  ChannelTracker tracker(true);
  tracker.OnBatch(7, kFirst, 1);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 4), Verdict::kDeliver);
  EXPECT_EQ(tracker.lost_batches(), 2u);
  tracker.OnBatch(8, kFirst, 1);
  EXPECT_EQ(tracker.lost_batches(), 2u);
}

TEST(ChannelTrackerTest, InTheFirstLifeAChannelBeginsAtOne) {
  ChannelTracker tracker(true);
  tracker.OnBatch(7, kFirst, 3);
  EXPECT_EQ(tracker.lost_batches(), 2u);
  tracker.OnEnded(8, kFirst, 5);
  EXPECT_EQ(tracker.lost_batches(), 7u) << "all batches of source 8 are missing";
}

TEST(ChannelTrackerTest, ARestartedTaskTakesTheFirstNumberAsItsBase) {
  ChannelTracker tracker(false);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 100), Verdict::kDeliver);
  EXPECT_EQ(tracker.lost_batches(), 0u);
  tracker.OnBatch(7, kFirst, 102);
  EXPECT_EQ(tracker.lost_batches(), 1u);
  tracker.OnEnded(8, kFirst, 50);
  EXPECT_EQ(tracker.lost_batches(), 1u);
}

TEST(ChannelTrackerTest, ANewLifeOfTheSourceBeginsAtOneAgain) {
  ChannelTracker tracker(false);
  tracker.OnBatch(7, kFirst, 100);
  EXPECT_EQ(tracker.OnBatch(7, kSecond, 2), Verdict::kDeliver);
  EXPECT_EQ(tracker.lost_batches(), 1u);
}

TEST(ChannelTrackerTest, BatchesOfAnEarlierLifeAreStillDelivered) {
  ChannelTracker tracker(true);
  tracker.OnBatch(7, kFirst, 1);
  tracker.OnBatch(7, kSecond, 1);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 2), Verdict::kDeliver);
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 2), Verdict::kRepeated);
  EXPECT_EQ(tracker.lost_batches(), 0u);
}

TEST(ChannelTrackerTest, EndedShowsALostTail) {
  ChannelTracker tracker(true);
  tracker.OnBatch(7, kFirst, 1);
  tracker.OnEnded(7, kFirst, 4);
  EXPECT_EQ(tracker.lost_batches(), 3u);
  tracker.OnEnded(7, kFirst, 4);
  EXPECT_EQ(tracker.lost_batches(), 3u) << "a repeated Ended loses nothing more";
  EXPECT_EQ(tracker.OnBatch(7, kFirst, 3), Verdict::kRepeated) << "it has been counted as lost";
}

TEST(ChannelTrackerTest, RemembersABoundedNumberOfLives) {
  ChannelTracker tracker(true);
  for (uint64_t restart = 1; restart <= 100; ++restart) tracker.OnBatch(7, {1, restart}, 1);
  EXPECT_EQ(tracker.OnBatch(7, {1, 3}, 2), Verdict::kTooOld);
  EXPECT_EQ(tracker.OnBatch(7, {1, 99}, 2), Verdict::kDeliver);
}

TEST(ChannelTrackerTest, AbsurdNumbersDoNotWrapTheCount) {
  ChannelTracker tracker(true);
  tracker.OnEnded(7, kFirst, std::numeric_limits<uint64_t>::max());
  tracker.OnEnded(8, kFirst, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(tracker.lost_batches(), std::numeric_limits<uint64_t>::max());
}

}  // namespace
}  // namespace heron::instance
