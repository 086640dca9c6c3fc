#include "heron/stream_manager/core/feeders.h"

#include <gtest/gtest.h>

namespace heron::stream_manager {
namespace {

TEST(FeedersTest, AFeederIsFreeWhenNobodyHoldsItAnyMore) {
  Feeders feeders;
  EXPECT_TRUE(feeders.Block(1, 10));
  EXPECT_FALSE(feeders.Block(1, 11));
  EXPECT_TRUE(feeders.Block(2, 10));
  EXPECT_EQ(feeders.HoldersOf(1), (std::vector<TaskId>{10, 11}));
  EXPECT_TRUE(feeders.HoldersOf(3).empty());
  EXPECT_EQ(feeders.Release(10), std::vector<TaskId>{2});
  EXPECT_TRUE(feeders.IsBlocked(1));
  EXPECT_EQ(feeders.Release(11), std::vector<TaskId>{1});
  EXPECT_EQ(feeders.blocked(), 0u);
}

TEST(FeedersTest, RepeatingAStepChangesNothing) {
  Feeders feeders;
  EXPECT_TRUE(feeders.Block(1, 10));
  EXPECT_FALSE(feeders.Block(1, 10));
  EXPECT_FALSE(feeders.Block(1, 10));
  EXPECT_EQ(feeders.Release(10), std::vector<TaskId>{1});
  EXPECT_TRUE(feeders.Release(10).empty());
}

TEST(FeedersTest, AFeederThatGoesTakesItsPairsAlong) {
  Feeders feeders;
  feeders.Block(1, 10);
  feeders.Block(2, 10);
  feeders.Forget(1);
  EXPECT_FALSE(feeders.IsBlocked(1));
  EXPECT_EQ(feeders.BlockedBy(10), std::vector<TaskId>{2});
  EXPECT_EQ(feeders.Release(10), std::vector<TaskId>{2});
}

}  // namespace
}  // namespace heron::stream_manager
