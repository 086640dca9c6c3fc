#include "tools/cli/topologies.h"

#include <gtest/gtest.h>

#include "tools/cli/fake_cluster.h"

namespace tools::cli {
namespace {

using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::proto::TaskStatus;

class TopologiesTest : public testing::Test {
 protected:
  Status Show(const std::string& name = "", Place place = {"local", "ada", "default"}) {
    cluster_.out.str("");
    return TopologiesCommand(cluster_.cli, place, name);
  }
  std::string StateOf(const std::string& name) {
    auto row = ReadTopologyRow(cluster_.cli, cluster_.Key(name));
    return row.ok() ? row->state : row.status().ToString();
  }
  bool Shown(const std::string& text) { return cluster_.out.str().find(text) != std::string::npos; }
  FakeCluster cluster_;
};

TEST_F(TopologiesTest, TableOfAll) {
  cluster_.AddTopology("one", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.AddTopology("second", DesiredState::INACTIVE, ExecutionState::INACTIVE);
  ASSERT_TRUE(Show().ok());
  const std::string text = cluster_.out.str();
  EXPECT_TRUE(text.starts_with("NAME    ROLE/ENV  STATE     TASKS  CONTAINERS  RESTARTS  SINCE\n"))
      << text;
  EXPECT_TRUE(Shown("\none     ads/prod  RUNNING   3      2           0         -\n")) << text;
  EXPECT_TRUE(Shown("\nsecond  ads/prod  INACTIVE  3 ")) << text;
}

TEST_F(TopologiesTest, NoneIsNoError) {
  EXPECT_TRUE(Show().ok());
  EXPECT_TRUE(Shown("no topologies in cluster local"));
}

TEST_F(TopologiesTest, UnknownNameIsAnErrorThatNamesTheNearest) {
  cluster_.AddTopology("counter", DesiredState::ACTIVE, ExecutionState::RUNNING);
  EXPECT_NE(Show("contuer").message().find("counter"), std::string::npos);
}

TEST_F(TopologiesTest, PlaceAndNameFilter) {
  cluster_.AddTopology("one", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.AddTopology("two", DesiredState::ACTIVE, ExecutionState::RUNNING);
  ASSERT_TRUE(Show("one").ok());
  EXPECT_FALSE(Shown("two"));
  ASSERT_TRUE(Show("", {"local", "other", "prod", true, false}).ok());
  EXPECT_TRUE(Shown("no topologies"));
  ASSERT_TRUE(Show("", {"local", "ads", "prod", true, true}).ok());
  EXPECT_TRUE(Shown("two"));
}

TEST_F(TopologiesTest, DetailsStandUnderneath) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::STARTING);
  ExecutionState state;
  state.set_state(ExecutionState::STARTING);
  state.set_waiting_for("1 of 2 containers");
  state.set_restarts(4);
  for (int i = 1; i <= 4; ++i) {
    auto* failure = state.add_failures();
    failure->set_component("count");
    failure->set_task(3);
    failure->set_container(1);
    failure->set_reason("boom " + std::to_string(i));
  }
  for (int task = 1; task <= 2; ++task) {
    auto* status = state.add_tasks();
    status->set_task(task);
    status->set_phase(TaskStatus::RUNNING);
    status->set_progress(task * 0.25);
  }
  cluster_.SetExecution("t", state);
  ASSERT_TRUE(Show("t").ok());
  EXPECT_TRUE(Shown("    waiting for: 1 of 2 containers\n"));
  EXPECT_FALSE(Shown("boom 1"));
  EXPECT_TRUE(Shown("count (task 3), container 1: boom 4\n"));
  EXPECT_TRUE(Shown("    progress: lines 37 %\n")) << cluster_.out.str();
}

TEST_F(TopologiesTest, States) {
  cluster_.AddTopology("fresh", DesiredState::ACTIVE, ExecutionState::STATE_UNSPECIFIED);
  EXPECT_EQ(StateOf("fresh"), "STARTING");
  cluster_.AddTopology("submitting", DesiredState::SUBMITTING, ExecutionState::STATE_UNSPECIFIED);
  EXPECT_EQ(StateOf("submitting"), "SUBMITTING");
  cluster_.AddTopology("killing", DesiredState::KILLING, ExecutionState::RUNNING);
  EXPECT_EQ(StateOf("killing"), "KILLING");
  cluster_.AddTopology("failed", DesiredState::ACTIVE, ExecutionState::FAILED, false);
  EXPECT_EQ(StateOf("failed"), "FAILED");
  cluster_.AddTopology("finished", DesiredState::ACTIVE, ExecutionState::FINISHED, false);
  EXPECT_EQ(StateOf("finished"), "FINISHED");
  // After a reboot the record says RUNNING, but nothing is alive.
  cluster_.AddTopology("lost", DesiredState::ACTIVE, ExecutionState::RUNNING, false);
  EXPECT_EQ(StateOf("lost"), "LOST");
}

TEST_F(TopologiesTest, LostSaysWhyAndWhatHelps) {
  cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
  cluster_.scheduler.health["t-1"] = {true, "no supervisor and no topology master are running"};
  ASSERT_TRUE(Show("t").ok());
  EXPECT_TRUE(Shown("LOST"));
  EXPECT_TRUE(
      Shown("reason: no supervisor and no topology master are running; bring it back: "
            "heron restart t, or remove it: heron kill t\n"))
      << cluster_.out.str();
  cluster_.scheduler.health["t-1"] = {false, "container 2 has no executor"};
  EXPECT_EQ(StateOf("t"), "RUNNING");
  ASSERT_TRUE(Show("t").ok());
  EXPECT_TRUE(Shown("container 2 has no executor; bring it back: heron restart t"))
      << cluster_.out.str();
}

TEST_F(TopologiesTest, ProcessesWithoutARecordAreShown) {
  cluster_.scheduler.running.push_back({cluster_.Key("t"), "t-9", 5});
  ASSERT_TRUE(Show().ok());
  EXPECT_TRUE(Shown("LOST"));
  EXPECT_TRUE(Shown("its records in the state store are gone; heron kill t ends its 5 processes"))
      << cluster_.out.str();
}

TEST_F(TopologiesTest, BrokenOffSubmitIsTold) {
  cluster_.AddTopology("t", DesiredState::SUBMITTING, ExecutionState::STATE_UNSPECIFIED, false);
  ASSERT_TRUE(Show("t").ok());
  EXPECT_FALSE(Shown("broke off")) << "a submitter on another host may be alive";
}

TEST_F(TopologiesTest, DamagedRecordHidesNoOther) {
  cluster_.AddTopology("good", DesiredState::ACTIVE, ExecutionState::RUNNING);
  ASSERT_TRUE(cluster_.store->Create(heron::state::DesiredPath(cluster_.Key("bad")), "\xFF").ok());
  ASSERT_TRUE(Show().ok());
  EXPECT_TRUE(Shown("good"));
  EXPECT_TRUE(Shown("/desired/ads/prod/bad is damaged"));
}

TEST_F(TopologiesTest, JsonForPrograms) {
  cluster_.cli.json = true;
  ASSERT_TRUE(Show().ok());
  EXPECT_TRUE(Shown("\"topologies\": []"));
}

}  // namespace
}  // namespace tools::cli
