#include "heron/model/store_verdict.h"

#include <gtest/gtest.h>

namespace heron::model {
namespace {

TEST(StoreVerdictTest, Judge) {
  StoreView view;
  EXPECT_EQ(Judge(view, "t-1"), StoreVerdict::kNotWanted) << "killed to the end";
  view.desired.emplace();
  view.desired->set_topology_id("t-1");
  view.desired->set_desire(proto::DesiredState::SUBMITTING);
  EXPECT_EQ(Judge(view, "t-1"), StoreVerdict::kGoOn);
  EXPECT_EQ(Judge(view, "t-2"), StoreVerdict::kNotWanted);
  view.execution.emplace();
  view.execution->set_topology_id("t-1");
  view.execution->set_state(proto::ExecutionState::RUNNING);
  EXPECT_EQ(Judge(view, "t-1"), StoreVerdict::kGoOn);
  view.execution->set_state(proto::ExecutionState::FAILED);
  EXPECT_EQ(Judge(view, "t-1"), StoreVerdict::kEnded);
  view.execution->set_topology_id("t-0");
  EXPECT_EQ(Judge(view, "t-1"), StoreVerdict::kGoOn) << "the end of an earlier topology";
  view.desired->set_desire(proto::DesiredState::KILLING);
  EXPECT_EQ(Judge(view, "t-1"), StoreVerdict::kNotWanted);
}

}  // namespace
}  // namespace heron::model
