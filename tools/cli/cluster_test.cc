#include "tools/cli/cluster.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "tools/cli/fake_cluster.h"

namespace tools::cli {
namespace {

using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;

class ClusterTest : public testing::Test {
 protected:
  ClusterTest() {
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
  void Add(const std::string& name, DesiredState::Desire desire, ExecutionState::State state,
           bool with_processes) {
    cluster_.AddTopology(name, desire, state, with_processes);
    std::filesystem::create_directories(cluster_.packages->EngineFolder("e"));
    // The record names no program file: the folder stands for it.
    std::filesystem::create_directories(cluster_.packages->ProgramFolder("p-" + name));
    if (with_processes) {
      cluster_.scheduler.running.push_back({cluster_.Key(name), cluster_.IdOf(name), 3});
    }
  }
  Status Start() { return ClusterStartCommand(cluster_.cli, *config_); }
  Status Stop() { return ClusterStopCommand(cluster_.cli); }
  bool Said(const std::string& text) { return cluster_.err.str().find(text) != std::string::npos; }

  FakeCluster cluster_;
  std::unique_ptr<heron::settings::ClusterConfig> config_;
};

TEST_F(ClusterTest, StartBringsBackWhatIsWantedAndLost) {
  Add("lost", DesiredState::INACTIVE, ExecutionState::INACTIVE, false);
  Add("up", DesiredState::ACTIVE, ExecutionState::RUNNING, true);
  Add("done", DesiredState::ACTIVE, ExecutionState::FINISHED, false);
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(cluster_.scheduler.calls, std::vector<std::string>{"relaunch lost-1"});
  EXPECT_EQ(cluster_.Desired("lost")->desire(), DesiredState::INACTIVE);
  EXPECT_TRUE(Said("lost: restarted, it was LOST\n")) << cluster_.err.str();
  EXPECT_TRUE(Said("up: RUNNING\n")) << cluster_.err.str();
  EXPECT_TRUE(Said("done: FINISHED\n")) << cluster_.err.str();
  EXPECT_EQ(cluster_.out.str(), "restarted 1 topology\n");
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(cluster_.scheduler.calls.size(), 1u);
  EXPECT_NE(cluster_.out.str().find("nothing to do: none of them is LOST\n"), std::string::npos);
}

TEST_F(ClusterTest, OneThatCannotBeStartedDoesNotHoldTheOthers) {
  Add("a", DesiredState::ACTIVE, ExecutionState::RUNNING, false);
  Add("b", DesiredState::ACTIVE, ExecutionState::RUNNING, false);
  std::filesystem::remove_all(cluster_.packages->ProgramFolder("p-a"));
  const Status started = Start();
  EXPECT_EQ(started.message(), "1 topology was not restarted; the causes stand above");
  EXPECT_TRUE(Said("a: failed, the program of a is gone")) << cluster_.err.str();
  EXPECT_EQ(cluster_.scheduler.calls, std::vector<std::string>{"relaunch b-1"});
}

TEST_F(ClusterTest, StopEndsAllAndKeepsTheRecords) {
  Add("a", DesiredState::ACTIVE, ExecutionState::RUNNING, true);
  Add("b", DesiredState::ACTIVE, ExecutionState::FINISHED, false);
  ASSERT_TRUE(Stop().ok());
  EXPECT_EQ(cluster_.scheduler.calls, std::vector<std::string>{"stop a-1"});
  EXPECT_EQ(cluster_.Desired("a")->desire(), DesiredState::ACTIVE);
  EXPECT_EQ(cluster_.Nodes("a").size(), 4u);
  EXPECT_EQ(cluster_.out.str(), "stopped 1 topology\n");
  ASSERT_TRUE(Stop().ok());
  EXPECT_NE(cluster_.out.str().find("nothing to do: no topology of cluster local has a process\n"),
            std::string::npos)
      << cluster_.out.str();
}

TEST_F(ClusterTest, StopThatFailsSaysWhat) {
  Add("a", DesiredState::ACTIVE, ExecutionState::RUNNING, true);
  cluster_.scheduler.kill_fails = true;
  EXPECT_FALSE(Stop().ok());
  EXPECT_TRUE(Said("a: failed, executor 2 (pid 77) does not die")) << cluster_.err.str();
}

TEST_F(ClusterTest, JsonForPrograms) {
  Add("a", DesiredState::ACTIVE, ExecutionState::RUNNING, true);
  cluster_.cli.json = true;
  ASSERT_TRUE(Stop().ok());
  EXPECT_NE(cluster_.out.str().find("\"did\": \"stopped\""), std::string::npos);
  ASSERT_TRUE(ClusterStatusCommand(cluster_.cli, *config_).ok());
  EXPECT_NE(cluster_.out.str().find("\"disk_free_bytes\": "), std::string::npos);
}

}  // namespace
}  // namespace tools::cli
