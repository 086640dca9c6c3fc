#include "tools/cli/desire.h"

#include <gtest/gtest.h>

#include "tools/cli/fake_cluster.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;

class DesireTest : public testing::Test {
 protected:
  // A topology master that follows after a while.
  void Follow() {
    cluster_.on_sleep = [this](int n) {
      if (n < 5) return;
      ExecutionState state;
      state.set_state(cluster_.Desired("t")->desire() == DesiredState::ACTIVE
                          ? ExecutionState::RUNNING
                          : ExecutionState::INACTIVE);
      cluster_.SetExecution("t", state);
    };
  }
  Status Activate() { return ActivateCommand(cluster_.cli, cluster_.Key("t"), kDesireTimeout); }
  Status Deactivate() { return DeactivateCommand(cluster_.cli, cluster_.Key("t"), kDesireTimeout); }
  FakeCluster cluster_;
};

TEST_F(DesireTest, StoresTheWishAndWaitsUntilItIsSo) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  Follow();
  ASSERT_TRUE(Deactivate().ok());
  EXPECT_EQ(cluster_.Desired("t")->desire(), DesiredState::INACTIVE);
  EXPECT_EQ(cluster_.Desired("t")->by(), "ada@here:1");
  EXPECT_EQ(cluster_.Execution("t").state(), ExecutionState::INACTIVE);
  ASSERT_TRUE(Activate().ok());
  EXPECT_EQ(cluster_.Execution("t").state(), ExecutionState::RUNNING);
  EXPECT_EQ(cluster_.out.str(), "t is inactive\nt is active\n");
}

TEST_F(DesireTest, RepeatingIsSuccessAndWritesNothing) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  const auto before = cluster_.store->Get(heron::state::DesiredPath(cluster_.Key("t")))->version;
  EXPECT_TRUE(Activate().ok());
  EXPECT_EQ(cluster_.store->Get(heron::state::DesiredPath(cluster_.Key("t")))->version, before);
}

TEST_F(DesireTest, MasterThatDoesNotFollowIsNamed) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  const Status status = Deactivate();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(),
            "t is not INACTIVE after 30 s; the wish is stored and will be followed. Waiting for "
            "the topology master");
}

TEST_F(DesireTest, EndedOnesAreRefused) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::FINISHED);
  EXPECT_EQ(Activate().message(), "t has finished; submit it again to run it again");
  EXPECT_EQ(cluster_.Desired("t")->desire(), DesiredState::ACTIVE);
}

TEST_F(DesireTest, NotWhileSubmittingOrKilling) {
  cluster_.AddTopology("t", DesiredState::SUBMITTING, ExecutionState::STATE_UNSPECIFIED);
  EXPECT_NE(Deactivate().message().find("still being submitted"), std::string::npos);
  cluster_.SetDesired("t", DesiredState::KILLING);
  EXPECT_NE(Activate().message().find("is being killed"), std::string::npos);
  EXPECT_EQ(cluster_.Desired("t")->desire(), DesiredState::KILLING) << "no wish overwrites a kill";
}

TEST_F(DesireTest, KillMeanwhileIsTold) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.on_sleep = [this](int) { cluster_.SetDesired("t", DesiredState::KILLING); };
  EXPECT_FALSE(Deactivate().ok());
}

TEST_F(DesireTest, UnknownName) {
  cluster_.AddTopology("tt", DesiredState::ACTIVE, ExecutionState::RUNNING);
  const Status status = Activate();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("did you mean 'tt'"), std::string::npos);
}

}  // namespace
}  // namespace tools::cli
