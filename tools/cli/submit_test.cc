#include "tools/cli/submit.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scheduler/uploader/sha256.h"
#include "tools/cli/fake_cluster.h"
#include "tools/cli/kill.h"
#include "tools/cli/records.h"
#include "tools/cli/submission.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;
using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::settings::ClusterConfig;

ClusterConfig Config() {
  heron::settings::ClusterConfigInputs inputs;
  inputs.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "HOME") return "/home/ada";
    return std::nullopt;
  };
  auto config = ClusterConfig::Load(inputs);
  CHECK(config.ok()) << config.status().ToString();
  return *config;
}

class SubmitTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.key = cluster_.Key("t");
    options_.program = "tools/cli/describing_program";
    options_.arguments = {"good"};
    options_.state_url = "memory:";
    options_.user = "ada";
    options_.working_folder = "/somewhere";
    options_.engine_version = "0.1.0";
    const std::string engine = cluster_.folder + "/heron-executor";
    std::ofstream(engine) << "engine";
    options_.engine = {engine};
  }
  Status Submit() { return SubmitCommand(cluster_.cli, options_, Config()); }
  Status Kill() { return KillCommand(cluster_.cli, options_.key); }
  // Nodes, processes and packages.
  void ExpectNothingLeft() {
    EXPECT_TRUE(cluster_.Nodes("t").empty());
    EXPECT_TRUE(cluster_.scheduler.alive.empty());
    EXPECT_EQ(Packages(), 0);
  }
  int Packages() {
    int count = 0;
    std::error_code error;
    for (fs::directory_iterator it(cluster_.folder + "/packages", error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().filename() != ".lock") ++count;
    }
    return count;
  }
  heron::proto::SubmittedTopology Submitted() {
    auto submitted = ReadSubmitted(*cluster_.store, options_.key);
    CHECK(submitted.ok() && *submitted);
    return (*submitted)->value;
  }

  FakeCluster cluster_;
  SubmitOptions options_;
};

TEST_F(SubmitTest, StoresCopiesAndLaunches) {
  options_.overrides.containers = 2;
  const Status status = Submit();
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto submitted = Submitted();
  EXPECT_TRUE(submitted.topology_id().starts_with("t-"));
  EXPECT_EQ(submitted.cluster() + submitted.role() + submitted.env(), "localadsprod");
  EXPECT_EQ(submitted.arguments(0), "good");
  EXPECT_EQ(submitted.key_groups().at("count"), 128u);
  EXPECT_EQ(submitted.working_folder(), "/somewhere");
  EXPECT_EQ(submitted.program_name(), "describing_program");
  auto described = Describe(options_.program, {"good"}, {});
  EXPECT_EQ(submitted.described_sha256(), scheduler::Sha256(described->bytes));
  EXPECT_EQ(cluster_.Desired("t")->desire(), DesiredState::ACTIVE);
  EXPECT_EQ(cluster_.Desired("t")->topology_id(), submitted.topology_id());

  ASSERT_EQ(cluster_.scheduler.launches.size(), 1u);
  const auto& launch = cluster_.scheduler.launches[0];
  EXPECT_EQ(launch.topology_id, submitted.topology_id());
  EXPECT_EQ(launch.secret.size(), 32u);
  EXPECT_NE(launch.process_settings.find("topology.heartbeat.interval.ms=500"), std::string::npos);
  EXPECT_NE(launch.process_settings.find("heron.log.max.files=5"), std::string::npos);
  EXPECT_EQ(launch.packing_plan.containers_size(), 2);
  EXPECT_EQ(access(launch.program_path.c_str(), X_OK), 0);
  EXPECT_EQ(access((launch.engine_folder + "/heron-executor").c_str(), X_OK), 0);
  EXPECT_TRUE(cluster_.out.str().starts_with("submitted t (t-"));
  EXPECT_NE(cluster_.err.str().find("packing 4 tasks into 2 containers\n"), std::string::npos);
  EXPECT_NE(cluster_.err.str().find("storing program and engine\nclaiming the name\n"
                                    "starting containers\nactivating\n"),
            std::string::npos)
      << cluster_.err.str();
}

TEST_F(SubmitTest, FenceIsUpDuringTheLaunch) {
  DesiredState::Desire during = DesiredState::DESIRE_UNSPECIFIED;
  cluster_.scheduler.on_launch = [&](const auto&) {
    during = cluster_.Desired("t")->desire();
    return Status::Ok();
  };
  options_.deploy_deactivated = true;
  ASSERT_TRUE(Submit().ok());
  EXPECT_NE(cluster_.err.str().find("leaving it deactivated\n"), std::string::npos);
  EXPECT_EQ(during, DesiredState::SUBMITTING);
  EXPECT_EQ(cluster_.Desired("t")->desire(), DesiredState::INACTIVE);
}

TEST_F(SubmitTest, DryRunStartsNothing) {
  options_.dry_run = true;
  ASSERT_TRUE(Submit().ok());
  EXPECT_NE(cluster_.out.str().find("lines[0] lines[1] count[0] count[1]"), std::string::npos);
  ExpectNothingLeft();
  cluster_.cli.json = true;
  cluster_.out.str("");
  ASSERT_TRUE(Submit().ok());
  EXPECT_NE(cluster_.out.str().find("\"component\": \"count\""), std::string::npos);
}

TEST_F(SubmitTest, ProgramThatFailsLeavesNothing) {
  for (const char* mode : {"crash", "exit", "empty", "rubbish"}) {
    options_.arguments = {mode};
    EXPECT_FALSE(Submit().ok()) << mode;
  }
  options_.program = cluster_.folder + "/missing";
  EXPECT_EQ(Submit().code(), StatusCode::kNotFound);
  ExpectNothingLeft();
}

TEST_F(SubmitTest, LaunchFailureIsUndoneInReverse) {
  cluster_.scheduler.on_launch = [&](const scheduler::LaunchRequest& request) -> Status {
    // Something was already started, and wrote.
    ExecutionState state;
    state.set_topology_id(request.topology_id);
    cluster_.SetExecution("t", state);
    return heron::Unavailable("no room");
  };
  const Status status = Submit();
  EXPECT_EQ(status.message(), "cannot start the containers: no room");
  ExpectNothingLeft();
  const auto& calls = cluster_.scheduler.calls;
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_TRUE(calls[0].starts_with("launch t-"));
  EXPECT_TRUE(calls[1].starts_with("kill t-"));
  EXPECT_TRUE(calls[2].starts_with("clean t-"));
}

TEST_F(SubmitTest, PackagesThatCannotBeWrittenLeaveNothing) {
  options_.engine = {cluster_.folder + "/no-engine"};
  EXPECT_EQ(Submit().code(), StatusCode::kNotFound);
  ExpectNothingLeft();
}

TEST_F(SubmitTest, RunningNameIsTaken) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  const Status status = Submit();
  EXPECT_EQ(status.code(), StatusCode::kAlreadyExists);
  EXPECT_NE(status.message().find("heron kill t"), std::string::npos);
  EXPECT_EQ(cluster_.scheduler.alive["t-1"], 3);
  EXPECT_EQ(cluster_.Nodes("t").size(), 4u);
  EXPECT_EQ(Packages(), 0);
}

TEST_F(SubmitTest, WhoHoldsTheNameIsTold) {
  cluster_.AddTopology("t", DesiredState::KILLING, ExecutionState::RUNNING);
  EXPECT_NE(Submit().message().find("being killed"), std::string::npos);
  cluster_.SetDesired("t", DesiredState::SUBMITTING);
  EXPECT_NE(Submit().message().find("is under way (ada@elsewhere:7)"), std::string::npos);
  // A submitter of this host that is dead: pids do not reach that high.
  const std::string by = ThisProcess("ada");
  cluster_.SetDesired("t", DesiredState::SUBMITTING, by.substr(0, by.rfind(':')) + ":2000000000");
  EXPECT_NE(Submit().message().find("broke off"), std::string::npos);
}

TEST_F(SubmitTest, EndedTopologyMakesRoom) {
  for (auto ended : {ExecutionState::FINISHED, ExecutionState::FAILED}) {
    cluster_.AddTopology("t", DesiredState::ACTIVE, ended, /*with_processes=*/false);
    const Status status = Submit();
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_NE(cluster_.Desired("t")->topology_id(), "t-1");
    EXPECT_EQ(cluster_.Nodes("t").size(), 3u) << "the old execution state is gone";
    EXPECT_NE(
        std::find(cluster_.scheduler.calls.begin(), cluster_.scheduler.calls.end(), "clean t-1"),
        cluster_.scheduler.calls.end())
        << "logs of the old one are removed";
    ASSERT_TRUE(Kill().ok());
    ExpectNothingLeft();
  }
}

TEST_F(SubmitTest, EndedTopologyWithLiveProcessesDoesNotMakeRoom) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::FINISHED);
  const Status status = Submit();
  EXPECT_EQ(status.code(), StatusCode::kAlreadyExists);
  EXPECT_NE(status.message().find("executor 0"), std::string::npos);
}

// Submit is stopped (SIGSTOP, say) inside the scheduler's call while the kill goes through.
TEST_F(SubmitTest, KillDuringTheLaunchLeavesNothing) {
  cluster_.scheduler.on_launch = [this](const scheduler::LaunchRequest& request) {
    EXPECT_TRUE(Kill().ok());
    cluster_.scheduler.alive[request.topology_id] = 2;  // the launch goes on after the kill
    return Status::Ok();
  };
  const Status status = Submit();
  EXPECT_NE(status.message().find("killed while it was submitted"), std::string::npos)
      << status.message();
  ExpectNothingLeft();
}

// The same, and the name is submitted again before the stopped submit wakes up.
TEST_F(SubmitTest, StoppedSubmitDoesNotTouchTheNextOneOfTheName) {
  cluster_.scheduler.on_launch = [this](const scheduler::LaunchRequest& request) {
    cluster_.scheduler.on_launch = nullptr;
    EXPECT_TRUE(Kill().ok());
    EXPECT_TRUE(Submit().ok());
    cluster_.scheduler.alive[request.topology_id] = 2;
    return Status::Ok();
  };
  EXPECT_FALSE(Submit().ok());
  EXPECT_EQ(cluster_.scheduler.alive.size(), 1u);
  EXPECT_EQ(cluster_.scheduler.alive.begin()->first, cluster_.Desired("t")->topology_id());
  EXPECT_EQ(cluster_.Nodes("t").size(), 3u);
  EXPECT_EQ(Packages(), 2) << "its packages are still there";
}

TEST_F(SubmitTest, InterruptBeforeTheLaunchUndoes) {
  int asked = 0;
  cluster_.cli.interrupted = [&asked] { return ++asked > 2; };  // after packages and name
  const Status status = Submit();
  EXPECT_NE(status.message().find("nothing was submitted"), std::string::npos);
  EXPECT_TRUE(cluster_.scheduler.launches.empty());
  ExpectNothingLeft();
}

TEST_F(SubmitTest, WaitFollowsIt) {
  options_.wait = WaitOptions{WaitOptions::For::kFinished};
  cluster_.on_sleep = [this](int n) {
    ExecutionState state;
    state.set_topology_id(cluster_.Desired("t")->topology_id());
    state.set_state(n < 5 ? ExecutionState::RUNNING : ExecutionState::FINISHED);
    cluster_.SetExecution("t", state);
    if (n == 8) cluster_.scheduler.alive.clear();
  };
  ASSERT_TRUE(Submit().ok());
  EXPECT_EQ(cluster_.out.str(), "t FINISHED\n");
  EXPECT_NE(cluster_.err.str().find(" tasks finished\nfinished\n"), std::string::npos);
}

TEST_F(SubmitTest, InterruptDuringTheWaitDetaches) {
  options_.wait = WaitOptions{WaitOptions::For::kRunning};
  cluster_.on_sleep = [this](int) { cluster_.interrupted = true; };
  const Status status = Submit();
  EXPECT_NE(status.message().find("detached"), std::string::npos);
  EXPECT_NE(status.message().find("heron kill t"), std::string::npos);
  EXPECT_EQ(cluster_.Desired("t")->desire(), DesiredState::ACTIVE);
  EXPECT_EQ(cluster_.scheduler.alive.size(), 1u);
}

TEST_F(SubmitTest, JsonTellsTheId) {
  cluster_.cli.json = true;
  ASSERT_TRUE(Submit().ok());
  EXPECT_NE(cluster_.out.str().find("\"id\": \"" + Submitted().topology_id() + "\""),
            std::string::npos);
}

}  // namespace
}  // namespace tools::cli
