#include "tools/cli/restart.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "tools/cli/fake_cluster.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::proto::TaskStatus;

class RestartTest : public testing::Test {
 protected:
  RestartTest() {
    heron::settings::ClusterConfigInputs inputs;
    inputs.cluster = "local";
    inputs.environment = [](const std::string& name) -> std::optional<std::string> {
      if (name == "HOME") return "/h";
      return std::nullopt;
    };
    auto config = heron::settings::ClusterConfig::Load(inputs);
    CHECK(config.ok()) << config.status().ToString();
    config_ = std::make_unique<heron::settings::ClusterConfig>(*config);
  }
  void AddRunning(ExecutionState::State state = ExecutionState::RUNNING) {
    cluster_.AddTopology("t", DesiredState::ACTIVE, state);
    SetTasks(1, state);
    heron::proto::SubmittedTopology submitted =
        (*ReadSubmitted(*cluster_.store, cluster_.Key("t")))->value;
    submitted.set_program_name("prog");
    cluster_.Put(heron::state::TopologyPath(cluster_.Key("t")), submitted.SerializeAsString());
    for (const std::string& folder :
         {cluster_.packages->EngineFolder("e"), cluster_.packages->ProgramFolder("p-t")}) {
      std::filesystem::create_directories(folder);
    }
    std::ofstream(cluster_.packages->ProgramFolder("p-t") + "/prog") << "x";
  }
  void SetTasks(uint64_t incarnation, ExecutionState::State state, int only = 0) {
    ExecutionState execution = cluster_.Execution("t");
    execution.set_state(state);
    for (int task = 1; task <= 3; ++task) {
      while (execution.tasks_size() < task) execution.add_tasks()->set_task(task);
      if (only != 0 && task != only) continue;
      TaskStatus* status = execution.mutable_tasks(task - 1);
      status->mutable_epoch()->set_incarnation(incarnation);
      status->set_phase(TaskStatus::RUNNING);
    }
    cluster_.SetExecution("t", execution);
  }
  Status Restart(const RestartOptions& options = {}) {
    return RestartCommand(cluster_.cli, cluster_.Key("t"), options, *config_);
  }

  FakeCluster cluster_;
  std::unique_ptr<heron::settings::ClusterConfig> config_;
};

TEST_F(RestartTest, WholeTopologyByItsRecordsUntilAllTasksAreNew) {
  AddRunning();
  cluster_.scheduler.alive.clear();
  cluster_.on_sleep = [this](int n) {
    if (n == 3) SetTasks(2, ExecutionState::RUNNING, 1);
    if (n == 5) SetTasks(2, ExecutionState::RUNNING);
    ASSERT_LE(n, 5);
  };
  const Status restarted = Restart();
  ASSERT_TRUE(restarted.ok()) << restarted.ToString();
  EXPECT_EQ(cluster_.scheduler.calls, std::vector<std::string>{"relaunch t-1"});
  const scheduler::LaunchRequest& launch = cluster_.scheduler.launches.at(0);
  EXPECT_EQ(launch.program_path, cluster_.packages->ProgramFolder("p-t") + "/prog");
  EXPECT_EQ(launch.packing_plan.containers_size(), 2);
  EXPECT_EQ(launch.secret.size(), 32u);
  EXPECT_EQ(cluster_.out.str(), "restarted t (RUNNING)\n");
}

TEST_F(RestartTest, PartsAreToldToStop) {
  AddRunning();
  cluster_.scheduler.supervised = true;
  cluster_.on_sleep = [this](int) { SetTasks(2, ExecutionState::RUNNING); };
  RestartOptions options;
  options.container = 2;
  EXPECT_TRUE(Restart(options).ok());
  options = {};
  options.component = "lines";
  SetTasks(1, ExecutionState::RUNNING);
  EXPECT_TRUE(Restart(options).ok());
  EXPECT_EQ(cluster_.scheduler.calls,
            (std::vector<std::string>{"restart container 2 of t-1", "restart task 1 of t-1",
                                      "restart task 2 of t-1"}));
}

TEST_F(RestartTest, WhatIsNotThereIsNamedWithWhatIs) {
  AddRunning();
  RestartOptions options;
  options.container = 9;
  EXPECT_NE(Restart(options).message().find("no container 9; it has 0, 1, 2"), std::string::npos);
  options = {};
  options.component = "lnes";
  EXPECT_NE(Restart(options).message().find("'lnes'; it has lines, count"), std::string::npos);
  options = {};
  options.task = 17;
  EXPECT_NE(Restart(options).message().find("no task 17"), std::string::npos);
  EXPECT_TRUE(cluster_.scheduler.calls.empty());
}

TEST_F(RestartTest, WhatHasEndedOrIsGoingIsRefused) {
  AddRunning(ExecutionState::FINISHED);
  EXPECT_NE(Restart().message().find("has finished; submit it again"), std::string::npos);
  ExecutionState failed;
  failed.set_state(ExecutionState::FAILED);
  failed.set_reason("table users does not exist");
  cluster_.SetExecution("t", failed);
  EXPECT_NE(Restart().message().find("has failed: table users does not exist"), std::string::npos);
  cluster_.SetDesired("t", DesiredState::KILLING);
  EXPECT_NE(Restart().message().find("is being killed"), std::string::npos);
  cluster_.SetDesired("t", DesiredState::SUBMITTING);
  EXPECT_NE(Restart().message().find("still being submitted"), std::string::npos);
  EXPECT_TRUE(cluster_.scheduler.calls.empty());
}

TEST_F(RestartTest, NothingIsEndedThatCannotBeStartedAgain) {
  AddRunning();
  std::filesystem::remove_all(cluster_.packages->ProgramFolder("p-t"));
  const Status restarted = Restart();
  EXPECT_NE(restarted.message().find("the program of t is gone"), std::string::npos)
      << restarted.message();
  EXPECT_TRUE(cluster_.scheduler.calls.empty());
}

TEST_F(RestartTest, TimeoutSaysWhatIsMissing) {
  AddRunning();
  RestartOptions options;
  options.timeout = std::chrono::seconds(1);
  const Status restarted = Restart(options);
  EXPECT_EQ(restarted.code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(restarted.message().find("waiting for task 1"), std::string::npos)
      << restarted.message();
}

TEST_F(RestartTest, KilledMeanwhileLeavesNothing) {
  AddRunning();
  cluster_.scheduler.on_launch = [this](const scheduler::LaunchRequest&) {
    for (const std::string& path : cluster_.Nodes("t")) {
      CHECK(cluster_.store->Delete(path, cluster_.store->Get(path)->version).ok());
    }
    return heron::Unavailable("the supervisor did not start");
  };
  EXPECT_EQ(Restart().message(), "t was killed meanwhile");
  EXPECT_EQ(cluster_.scheduler.calls, (std::vector<std::string>{"relaunch t-1", "clean t-1"}));
}

}  // namespace
}  // namespace tools::cli
