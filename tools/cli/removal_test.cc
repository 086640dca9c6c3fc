#include "tools/cli/removal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tools/cli/fake_cluster.h"
#include "tools/cli/kill.h"

namespace tools::cli {
namespace {

using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;

class RemovalTest : public testing::Test {
 protected:
  Status Kill(const std::string& name) { return KillCommand(cluster_.cli, cluster_.Key(name)); }
  FakeCluster cluster_;
};

TEST_F(RemovalTest, KillEndsProcessesAndRemovesEverything) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.AddTopology("other", DesiredState::ACTIVE, ExecutionState::RUNNING);
  DesiredState::Desire while_killing = DesiredState::DESIRE_UNSPECIFIED;
  cluster_.scheduler.on_kill = [&](const std::string&) {
    while_killing = cluster_.Desired("t")->desire();
  };
  ASSERT_TRUE(Kill("t").ok());
  EXPECT_EQ(while_killing, DesiredState::KILLING) << "the fence stands before anything dies";
  EXPECT_TRUE(cluster_.Nodes("t").empty());
  EXPECT_EQ(cluster_.scheduler.calls, (std::vector<std::string>{"kill t-1", "clean t-1"}));
  EXPECT_EQ(cluster_.Nodes("other").size(), 4u);
  EXPECT_EQ(cluster_.out.str(), "killed t\n");
}

TEST_F(RemovalTest, AnySubsetOfNodesIsRemoved) {
  const std::vector<std::string> paths = NodesOf(cluster_.Key("t"));
  for (size_t subset = 1; subset < (1u << paths.size()); ++subset) {
    cluster_.AddTopology("t", DesiredState::INACTIVE, ExecutionState::FAILED, false);
    for (const char* tree : {"/pplans/", "/tmasters/"}) {
      ASSERT_TRUE(cluster_.store->Create(tree + cluster_.Key("t").ToString(), "").ok());
    }
    for (size_t i = 0; i < paths.size(); ++i) {
      if ((subset >> i & 1) == 0) {
        ASSERT_TRUE(cluster_.store->Delete(paths[i], cluster_.store->Get(paths[i])->version).ok());
      }
    }
    const Status killed = Kill("t");
    ASSERT_TRUE(killed.ok()) << subset << ": " << killed.ToString();
    EXPECT_TRUE(cluster_.Nodes("t").empty()) << subset;
  }
}

TEST_F(RemovalTest, NameNeverSeenIsAnErrorThatNamesTheNearest) {
  cluster_.AddTopology("counter", DesiredState::ACTIVE, ExecutionState::RUNNING);
  const Status killed = Kill("contuer");
  EXPECT_EQ(killed.code(), StatusCode::kNotFound);
  EXPECT_NE(killed.message().find("counter"), std::string::npos);
  EXPECT_TRUE(cluster_.scheduler.calls.empty());
}

TEST_F(RemovalTest, ProcessesThatNoRecordTellsOfAreEnded) {
  cluster_.scheduler.running.push_back({cluster_.Key("t"), "t-9", 5});
  cluster_.scheduler.running.push_back({{"ads", "test", "t"}, "t-8", 5});
  ASSERT_TRUE(Kill("t").ok());
  EXPECT_EQ(cluster_.scheduler.calls, (std::vector<std::string>{"kill t-9", "clean t-9"}));
  EXPECT_TRUE(cluster_.Nodes("t").empty());
  EXPECT_EQ(cluster_.scheduler.running.size(), 1u) << "the one of another env goes on";
}

TEST_F(RemovalTest, KillingAgainIsSuccess) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  ASSERT_TRUE(Kill("t").ok());
  EXPECT_TRUE(Kill("t").ok());
  EXPECT_EQ(cluster_.scheduler.calls.size(), 2u);
}

TEST_F(RemovalTest, BrokenOffKillIsTakenUp) {
  cluster_.AddTopology("t", DesiredState::KILLING, ExecutionState::RUNNING);
  EXPECT_TRUE(Kill("t").ok());
  EXPECT_TRUE(cluster_.Nodes("t").empty());
}

TEST_F(RemovalTest, DamagedRecordsAreRemovedToo) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  for (const std::string& path : cluster_.Nodes("t")) {
    auto node = cluster_.store->Get(path);
    if (path.starts_with("/topologies")) continue;  // still names the id
    ASSERT_TRUE(cluster_.store->Set(path, "\xFF\xFF", node->version).ok());
  }
  const Status killed = Kill("t");
  EXPECT_TRUE(killed.ok()) << killed.ToString();
  EXPECT_TRUE(cluster_.Nodes("t").empty());
  EXPECT_FALSE(cluster_.scheduler.alive.contains("t-1"));
}

TEST_F(RemovalTest, ProcessesThatDoNotDieKeepTheRecordForAnotherTry) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.scheduler.kill_fails = true;
  Status killed = Kill("t");
  EXPECT_NE(killed.message().find("executor 2 (pid 77)"), std::string::npos);
  EXPECT_EQ(cluster_.Desired("t")->desire(), DesiredState::KILLING);
  cluster_.scheduler.kill_fails = false;
  cluster_.scheduler.immortal = true;
  killed = Kill("t");
  EXPECT_NE(killed.message().find("still alive"), std::string::npos) << killed.message();
  EXPECT_EQ(cluster_.Nodes("t").size(), 4u);
  cluster_.scheduler.immortal = false;
  EXPECT_TRUE(Kill("t").ok());
}

// The topology master wrote once more before it died.
TEST_F(RemovalTest, LateWritesOfTheDyingAreRemoved) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.scheduler.on_kill = [&](const std::string& id) {
    heron::proto::PhysicalPlan plan;
    plan.set_topology_id(id);
    cluster_.store
        ->Create(heron::state::PhysicalPlanPath(cluster_.Key("t")), plan.SerializeAsString())
        .status()
        .IgnoreError();
  };
  EXPECT_TRUE(Kill("t").ok());
  EXPECT_TRUE(cluster_.Nodes("t").empty());
}

// A second kill runs to its end while the first is in the scheduler, and the name is submitted
// again.
TEST_F(RemovalTest, SlowKillDoesNotTouchTheNextTopologyOfTheName) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  bool nested = false;
  cluster_.scheduler.on_kill = [&](const std::string&) {
    if (nested) return;
    nested = true;
    Cli second = cluster_.cli;
    ASSERT_TRUE(KillCommand(second, cluster_.Key("t")).ok());
    DesiredState fresh;
    fresh.set_topology_id("t-2");
    fresh.set_desire(DesiredState::ACTIVE);
    ASSERT_TRUE(
        cluster_.store
            ->Create(heron::state::DesiredPath(cluster_.Key("t")), fresh.SerializeAsString())
            .ok());
    heron::proto::SubmittedTopology submitted;
    submitted.set_topology_id("t-2");
    ASSERT_TRUE(
        cluster_.store
            ->Create(heron::state::TopologyPath(cluster_.Key("t")), submitted.SerializeAsString())
            .ok());
    cluster_.scheduler.alive["t-2"] = 3;
  };
  EXPECT_TRUE(Kill("t").ok());
  EXPECT_EQ(cluster_.Desired("t")->topology_id(), "t-2");
  EXPECT_EQ(cluster_.Nodes("t").size(), 2u);
  EXPECT_EQ(cluster_.scheduler.alive["t-2"], 3);
}

TEST_F(RemovalTest, UnusedPackagesGoAndUsedOnesStay) {
  const std::string program = cluster_.folder + "/prog";
  std::ofstream(program) << "x";
  auto package = cluster_.packages->PutProgram(program);
  ASSERT_TRUE(package.ok());
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.AddTopology("user", DesiredState::ACTIVE, ExecutionState::RUNNING);
  heron::proto::SubmittedTopology submitted;
  submitted.set_topology_id("user-1");
  submitted.set_program_sha256(package->sha256);
  const std::string path = heron::state::TopologyPath(cluster_.Key("user"));
  ASSERT_TRUE(
      cluster_.store->Set(path, submitted.SerializeAsString(), cluster_.store->Get(path)->version)
          .ok());
  ASSERT_TRUE(Kill("t").ok());
  EXPECT_TRUE(std::filesystem::exists(package->folder));
  ASSERT_TRUE(Kill("user").ok());
  EXPECT_FALSE(std::filesystem::exists(package->folder));
}

TEST_F(RemovalTest, JsonSaysWhatIsDone) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.cli.json = true;
  ASSERT_TRUE(Kill("t").ok());
  EXPECT_NE(cluster_.out.str().find("\"state\": \"KILLED\""), std::string::npos);
}

}  // namespace
}  // namespace tools::cli
