#include "heron/instance/core/end_of_stream.h"

#include <gtest/gtest.h>

namespace heron::instance {
namespace {

constexpr Epoch kFirst{1, 0};
constexpr Epoch kSecond{1, 1};

TEST(EndOfStreamTest, WithoutUpstreamNothingEnds) {
  EndOfStream inputs;
  EXPECT_FALSE(inputs.AllEnded());
  inputs.OnEnded(1, kFirst);
  EXPECT_FALSE(inputs.AllEnded());
}

TEST(EndOfStreamTest, EndsWhenEveryUpstreamTaskHasEnded) {
  EndOfStream inputs;
  inputs.SetUpstream({1, 2});
  inputs.OnEnded(1, kFirst);
  inputs.OnEnded(1, kFirst);
  EXPECT_FALSE(inputs.AllEnded());
  inputs.OnEnded(2, kFirst);
  EXPECT_TRUE(inputs.AllEnded());
}

TEST(EndOfStreamTest, ABatchOfANewerLifeWithdraws) {
  EndOfStream inputs;
  inputs.SetUpstream({1});
  inputs.OnEnded(1, kFirst);
  inputs.OnBatch(1, kFirst);
  EXPECT_TRUE(inputs.AllEnded());
  inputs.OnBatch(1, kSecond);
  EXPECT_FALSE(inputs.AllEnded());
  inputs.OnEnded(1, kFirst);
  EXPECT_FALSE(inputs.AllEnded()) << "an Ended of the earlier life does not count any more";
  inputs.OnEnded(1, kSecond);
  EXPECT_TRUE(inputs.AllEnded());
}

TEST(EndOfStreamTest, AnotherPlanKeepsWhatIsKnownOfTasksThatStay) {
  EndOfStream inputs;
  inputs.SetUpstream({1, 2});
  inputs.OnEnded(1, kFirst);
  inputs.SetUpstream({1, 1});
  EXPECT_TRUE(inputs.AllEnded());
  inputs.SetUpstream({1, 3});
  EXPECT_FALSE(inputs.AllEnded());
}

}  // namespace
}  // namespace heron::instance
