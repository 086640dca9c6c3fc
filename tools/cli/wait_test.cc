#include "tools/cli/wait.h"

#include <gtest/gtest.h>

#include "tools/cli/fake_cluster.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::proto::TaskStatus;

constexpr auto kRunning = WaitOptions::For::kRunning;
constexpr auto kFinished = WaitOptions::For::kFinished;

class WaitTest : public testing::Test {
 protected:
  Status Wait(WaitOptions options) { return WaitCommand(cluster_.cli, cluster_.Key("t"), options); }
  void SetState(ExecutionState::State state) {
    ExecutionState execution = cluster_.Execution("t");
    execution.set_state(state);
    cluster_.SetExecution("t", execution);
  }
  bool Said(const std::string& text) { return cluster_.err.str().find(text) != std::string::npos; }
  FakeCluster cluster_;
};

TEST_F(WaitTest, ShowsTheStepsUntilItRuns) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::STATE_UNSPECIFIED);
  cluster_.on_sleep = [this](int n) {
    ExecutionState state;
    state.set_state(ExecutionState::STARTING);
    for (int i = 0; i <= std::min(n, 2); ++i) {
      auto* container = state.add_containers();
      container->set_container(i);
      container->set_executor_connected(true);
    }
    for (int task = 1; task <= std::min(n - 2, 3); ++task) {
      auto* status = state.add_tasks();
      status->set_task(task);
      status->set_phase(TaskStatus::REGISTERED);
    }
    if (n > 5) state.set_state(ExecutionState::RUNNING);
    cluster_.SetExecution("t", state);
  };
  const Status waited = Wait({kRunning});
  ASSERT_TRUE(waited.ok()) << waited.ToString();
  EXPECT_EQ(cluster_.err.str(),
            "containers up 0 of 2\ncontainers up 1 of 2\nregistered 0 of 3\nregistered 1 of 3\n"
            "registered 2 of 3\nregistered 3 of 3, preparing\nrunning\n");
  EXPECT_EQ(cluster_.out.str(), "t RUNNING\n");
}

TEST_F(WaitTest, FinishedWaitsForTheProcessesAndTellsWhatIsIncomplete) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.on_sleep = [this](int n) {
    if (n == 3) {
      ExecutionState state;
      state.set_state(ExecutionState::FINISHED);
      state.add_incomplete("task 3 (count) was restarted once");
      cluster_.SetExecution("t", state);
    }
    if (n == 10) cluster_.scheduler.alive.clear();
  };
  const auto begin = cluster_.clock.Now();
  ASSERT_TRUE(Wait({kFinished}).ok());
  EXPECT_GE(cluster_.clock.Now() - begin, 10 * kPollInterval);
  EXPECT_TRUE(Said("incomplete: task 3 (count) was restarted once\n"));
  EXPECT_EQ(cluster_.out.str(), "t FINISHED\n");
}

TEST_F(WaitTest, ProcessesThatStayAfterTheEndAreToldButNotWaitedForForEver) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::FINISHED);
  EXPECT_TRUE(Wait({kFinished}).ok());
  EXPECT_TRUE(Said("have not ended yet: executor 0"));
}

TEST_F(WaitTest, FailureIsRefusedWithItsReason) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::STARTING);
  ExecutionState failed;
  failed.set_state(ExecutionState::FAILED);
  failed.set_reason("count: table users does not exist");
  cluster_.SetExecution("t", failed);
  for (auto what : {kRunning, kFinished}) {
    const Status waited = Wait({what});
    EXPECT_EQ(waited.message(), "t failed: count: table users does not exist");
  }
}

TEST_F(WaitTest, FailuresAreShownOnceAsTheyCome) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.on_sleep = [this](int n) {
    ExecutionState state = cluster_.Execution("t");
    if (n <= 2) {
      auto* failure = state.add_failures();
      failure->set_component("count");
      failure->set_task(3);
      failure->set_container(1);
      failure->set_number(static_cast<uint64_t>(n));
      failure->set_reason("boom " + std::to_string(n));
    }
    if (n == 10) state.set_state(ExecutionState::FINISHED);
    if (n == 10) cluster_.scheduler.alive.clear();
    cluster_.SetExecution("t", state);
  };
  ASSERT_TRUE(Wait({kFinished}).ok());
  const std::string text = cluster_.err.str();
  for (const char* line : {"failure: count (task 3) in container 1: boom 1\n",
                           "failure: count (task 3) in container 1: boom 2\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
    EXPECT_EQ(text.find(line), text.rfind(line)) << "once only";
  }
}

TEST_F(WaitTest, TimeOutSaysWhatIsMissing) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::STARTING);
  ExecutionState state;
  state.set_state(ExecutionState::STARTING);
  state.set_waiting_for("1 of 2 containers, 2 of 3 tasks");
  cluster_.SetExecution("t", state);
  Status waited = Wait({kRunning, std::chrono::seconds(10)});
  EXPECT_EQ(waited.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(waited.message(),
            "t does not run after 10 s; waiting for 1 of 2 containers, 2 of 3 tasks; see why: heron "
            "explain t");
  SetState(ExecutionState::RUNNING);
  waited = Wait({kFinished, std::chrono::milliseconds(500)});
  EXPECT_EQ(waited.message(),
            "t has not finished after 500 ms; waiting for the end of its input; see why: heron "
            "explain t");
}

TEST_F(WaitTest, ShowsHowFarItIsButDoesNotFloodWhatIsNoTerminal) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.on_sleep = [this](int n) {
    ExecutionState state;
    state.set_state(ExecutionState::RUNNING);
    for (int task = 1; task <= 3; ++task) {
      auto* status = state.add_tasks();
      status->set_task(task);
      status->set_phase(task == 2 && n > 200 ? TaskStatus::FINISHED : TaskStatus::RUNNING);
      status->set_progress(n / 1000.0);
      status->set_emitted(static_cast<uint64_t>(n));
      status->set_executed(task == 3 ? static_cast<uint64_t>(n) : 0);
    }
    if (n == 500) state.set_state(ExecutionState::FINISHED);
    if (n == 500) cluster_.scheduler.alive.clear();
    cluster_.SetExecution("t", state);
  };
  ASSERT_TRUE(Wait({kFinished}).ok());
  EXPECT_EQ(cluster_.err.str(),
            "running 0 tuples read, 0 executed, 0 of 3 tasks finished\n"
            "running lines 20 %, 400 tuples read, 200 executed, 0 of 3 tasks finished\n"
            "running lines 70 %, 800 tuples read, 400 executed, 1 of 3 tasks finished\n"
            "finished\n");
}

TEST_F(WaitTest, KillMeanwhileEndsTheWait) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.on_sleep = [this](int) { cluster_.SetDesired("t", DesiredState::KILLING); };
  EXPECT_NE(Wait({kFinished}).message().find("is being killed"), std::string::npos);

  cluster_.SetDesired("t", DesiredState::ACTIVE);
  cluster_.on_sleep = [this](int) {
    const std::string path = heron::state::DesiredPath(cluster_.Key("t"));
    auto node = cluster_.store->Get(path);
    if (node.ok()) cluster_.store->Delete(path, node->version).IgnoreError();
  };
  EXPECT_NE(Wait({kFinished}).message().find("was killed meanwhile"), std::string::npos);
}

TEST_F(WaitTest, StateOfAnEarlierTopologyIsNotBelieved) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::STATE_UNSPECIFIED);
  ExecutionState old;
  old.set_topology_id("t-0");
  old.set_state(ExecutionState::FINISHED);
  cluster_.SetExecution("t", old);
  EXPECT_EQ(Wait({kFinished, std::chrono::seconds(1)}).code(), StatusCode::kDeadlineExceeded);
}

TEST_F(WaitTest, LostTopologyIsNotWaitedForForEver) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING, false);
  const Status waited = Wait({kFinished});
  EXPECT_NE(waited.message().find(
                "t is LOST: none of its processes is alive; bring it back: heron restart t"),
            std::string::npos)
      << waited.message();
}

TEST_F(WaitTest, InterruptDetachesAndSaysHowToGoOn) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.interrupted = true;
  const Status waited = Wait({kFinished});
  EXPECT_NE(waited.message().find("heron wait t"), std::string::npos);
  EXPECT_NE(waited.message().find("heron kill t"), std::string::npos);
  EXPECT_TRUE(cluster_.scheduler.calls.empty());
}

TEST_F(WaitTest, AdviceNamesThePlaceWhereItIsNotTheDefault) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.interrupted = true;
  cluster_.cli.default_role = "ada";
  EXPECT_NE(Wait({kFinished}).message().find("heron kill local/ads/prod t"), std::string::npos);
}

TEST_F(WaitTest, DeactivatedOneIsReadyOnlyForWhoSubmittedItSo) {
  cluster_.AddTopology("t", DesiredState::INACTIVE, ExecutionState::INACTIVE);
  const Status waited = Wait({kRunning, std::chrono::seconds(1)});
  EXPECT_NE(waited.message().find("heron activate t"), std::string::npos) << waited.message();
  WaitOptions options{kRunning, std::chrono::seconds(1)};
  options.inactive_will_do = true;
  EXPECT_TRUE(Wait(options).ok());
}

TEST_F(WaitTest, UnknownNameIsNotWaitedFor) {
  EXPECT_EQ(Wait({kFinished}).code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tools::cli
