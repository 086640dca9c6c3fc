#include "heron/net/stall_judge.h"

#include <gtest/gtest.h>

namespace heron::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StallJudgeTest : public ::testing::Test {
 protected:
  // One look a second.
  bool Look(SendProgress progress) {
    clock_.Advance(seconds(1));
    return judge_.IsGone(progress, clock_.Now());
  }

  ManualClock clock_;
  StallJudge judge_{seconds(15)};
};

TEST_F(StallJudgeTest, APeerThatVanishedIsGoneAfterTheTimeout) {
  int looks = 0;
  while (!Look({.acknowledged_bytes = 10,
                .unsent_bytes = 5000,
                .unanswered_retransmits = static_cast<uint32_t>(looks),
                .since_last_ack = seconds(looks)})) {
    ASSERT_LT(++looks, 100);
  }
  EXPECT_GE(looks, 15);
  EXPECT_LE(looks, 17);
}

TEST_F(StallJudgeTest, AStoppedPeerThatAnswersProbesIsSlowForEver) {
  // The probes back off: for two minutes no answer comes, because none was asked for.
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(Look({.acknowledged_bytes = 10,
                       .unsent_bytes = 5000,
                       .unanswered_probes = static_cast<uint32_t>(i % 2),
                       .since_last_ack = seconds(i % 120)}));
  }
}

TEST_F(StallJudgeTest, ALateAcknowledgementAloneIsNoStall) {
  EXPECT_FALSE(Look({.acknowledged_bytes = 10, .unsent_bytes = 5000}));
  clock_.Advance(seconds(100));
  EXPECT_FALSE(Look({.acknowledged_bytes = 10,
                     .unsent_bytes = 5000,
                     .unanswered_retransmits = 1,
                     .since_last_ack = seconds(100)}));
}

TEST_F(StallJudgeTest, AStoppedPeerThatVanishesIsGoneWhenProbesStayUnanswered) {
  EXPECT_FALSE(Look({.acknowledged_bytes = 10, .unsent_bytes = 5000}));
  bool gone = false;
  for (int i = 1; i < 60 && !gone; ++i) {
    gone = Look({.acknowledged_bytes = 10,
                 .unsent_bytes = 5000,
                 .unanswered_probes = static_cast<uint32_t>(i / 5),
                 .since_last_ack = seconds(i)});
  }
  EXPECT_TRUE(gone);
}

TEST_F(StallJudgeTest, ProgressHoweverSlowStartsTheTimeAnew) {
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(Look({.acknowledged_bytes = i / 10,
                       .unsent_bytes = 5000,
                       .unanswered_retransmits = 9,
                       .since_last_ack = seconds(20)}));
  }
}

TEST_F(StallJudgeTest, NothingToSendIsNoStall) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Look({.since_last_ack = seconds(i)}));
}

TEST_F(StallJudgeTest, TheTimeStartsWithTheFirstUnsentByte) {
  EXPECT_FALSE(Look({.acknowledged_bytes = 10}));
  clock_.Advance(seconds(100));
  EXPECT_FALSE(Look({.acknowledged_bytes = 10,
                     .unsent_bytes = 1,
                     .unanswered_retransmits = 9,
                     .since_last_ack = seconds(100)}));
}

}  // namespace
}  // namespace heron::net
