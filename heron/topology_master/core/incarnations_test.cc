#include "heron/topology_master/core/incarnations.h"

#include <gtest/gtest.h>

namespace heron::topology_master {
namespace {

using Verdict = Incarnations::Verdict;

class IncarnationsTest : public testing::Test {
 protected:
  IncarnationsTest() {
    plan_.set_version(1);
    for (int id : {3, 17, 40}) plan_.add_containers()->set_container(id);
    incarnations_.SetPlan(plan_);
  }

  // Stores the plan that gives candidates their containers.
  void Issue(const std::vector<ExecutorClaim>& claims) {
    auto next = incarnations_.Issue(plan_, claims);
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->version(), plan_.version() + 1);
    plan_ = *next;
    incarnations_.SetPlan(plan_);
    incarnations_.Displace(claims);
  }

  proto::PhysicalPlan plan_;
  Incarnations incarnations_;
};

TEST_F(IncarnationsTest, FirstExecutorGetsIncarnationOneAndKeepsIt) {
  EXPECT_EQ(incarnations_.Judge({3, "a", 0}), Verdict::kCandidate);
  Issue({{3, "a", 0}, {40, "b", 0}});
  EXPECT_EQ(incarnations_.Judge({3, "a", 0}), Verdict::kHolder);
  EXPECT_EQ(incarnations_.Judge({3, "a", 1}), Verdict::kHolder);
  EXPECT_EQ(incarnations_.IncarnationOf(3), 1u);
  EXPECT_EQ(incarnations_.IncarnationOf(40), 1u);
  EXPECT_EQ(incarnations_.IncarnationOf(17), 0u);
  EXPECT_FALSE(incarnations_.Issue(plan_, {{3, "a", 1}, {40, "b", 0}}).has_value());
}

TEST_F(IncarnationsTest, ANewExecutorDisplacesTheOldOneForGood) {
  Issue({{3, "a", 0}});
  Issue({{3, "b", 0}});
  EXPECT_EQ(incarnations_.IncarnationOf(3), 2u);
  EXPECT_EQ(incarnations_.Judge({3, "b", 2}), Verdict::kHolder);
  EXPECT_EQ(incarnations_.Judge({3, "a", 1}), Verdict::kFenced);
  EXPECT_EQ(incarnations_.Judge({3, "a", 0}), Verdict::kFenced) << "it never heard its number";

  Incarnations other_master;
  other_master.SetPlan(plan_);
  EXPECT_EQ(other_master.Judge({3, "a", 1}), Verdict::kFenced);
  EXPECT_EQ(other_master.Judge({3, "b", 0}), Verdict::kHolder);
}

TEST_F(IncarnationsTest, OfTwoCandidatesTheLastWinsAndTheOtherIsFenced) {
  Issue({{17, "a", 0}, {17, "b", 0}});
  EXPECT_EQ(incarnations_.IncarnationOf(17), 1u);
  EXPECT_EQ(incarnations_.Judge({17, "b", 0}), Verdict::kHolder);
  EXPECT_EQ(incarnations_.Judge({17, "a", 0}), Verdict::kFenced);
}

TEST_F(IncarnationsTest, AContainerOutsideThePlanIsUnknown) {
  EXPECT_EQ(incarnations_.Judge({4, "a", 0}), Verdict::kUnknownContainer);
  EXPECT_FALSE(incarnations_.Issue(plan_, {{4, "a", 0}}).has_value());
}

TEST_F(IncarnationsTest, AStoreThatWasSetBackNeverGivesANumberAgain) {
  EXPECT_EQ(incarnations_.Judge({3, "a", 7}), Verdict::kCandidate);
  Issue({{3, "a", 7}});
  EXPECT_EQ(incarnations_.IncarnationOf(3), 8u);
}

TEST_F(IncarnationsTest, ContainerZeroIsHeldByTheLatestNonce) {
  EXPECT_EQ(incarnations_.Judge({0, "a", 0}), Verdict::kHolder);
  incarnations_.Displace({{0, "a", 0}});
  EXPECT_EQ(incarnations_.Judge({0, "a", 0}), Verdict::kFenced);
  EXPECT_EQ(incarnations_.Judge({0, "b", 0}), Verdict::kHolder);
}

}  // namespace
}  // namespace heron::topology_master
