#include "tools/cli/ended_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/cli/fake_cluster.h"
#include "tools/cli/topologies.h"

namespace tools::cli {
namespace {

using heron::proto::DesiredState;
using heron::proto::ExecutionState;

constexpr int64_t kHourMs = 3'600'000;

class EndedSweepTest : public testing::Test {
 protected:
  // An ended topology without processes.
  void AddEnded(const std::string& name, ExecutionState::State state, int64_t ended_ms_ago,
                bool with_processes = false) {
    cluster_.AddTopology(name, DesiredState::ACTIVE, state, with_processes);
    ExecutionState execution = cluster_.Execution(name);
    execution.set_since_unix_ms(cluster_.clock.UnixMillis() - ended_ms_ago);
    cluster_.SetExecution(name, execution);
  }
  bool IsThere(const std::string& name) { return !cluster_.Nodes(name).empty(); }
  FakeCluster cluster_;
};

TEST_F(EndedSweepTest, OldEndedOnesGoWithTheirLogsOthersStay) {
  cluster_.clock.Advance(std::chrono::hours(24 * 365));
  AddEnded("finished", ExecutionState::FINISHED, kKeepEndedMs + kHourMs);
  AddEnded("failed", ExecutionState::FAILED, kKeepEndedMs + kHourMs);
  AddEnded("young", ExecutionState::FINISHED, kKeepEndedMs - kHourMs);
  AddEnded("running", ExecutionState::RUNNING, kKeepEndedMs + kHourMs);
  AddEnded("alive", ExecutionState::FINISHED, kKeepEndedMs + kHourMs, true);
  cluster_.AddTopology("timeless", DesiredState::ACTIVE, ExecutionState::FINISHED, false);
  ASSERT_TRUE(TopologiesCommand(cluster_.cli, {"local", "ada", "default"}, "").ok());
  EXPECT_FALSE(IsThere("finished"));
  EXPECT_FALSE(IsThere("failed"));
  EXPECT_EQ(std::count(cluster_.scheduler.calls.begin(), cluster_.scheduler.calls.end(),
                       "clean finished-1"),
            1);
  for (const char* name : {"young", "running", "alive", "timeless"}) {
    EXPECT_TRUE(IsThere(name)) << name;
  }
  EXPECT_EQ(cluster_.out.str().find("finished"), std::string::npos) << cluster_.out.str();
  EXPECT_NE(cluster_.err.str().find("removed ads/prod/finished: FINISHED"), std::string::npos);
  EXPECT_TRUE(cluster_.killed_names->Contains(cluster_.Key("finished"))) << "a kill is done";
}

TEST_F(EndedSweepTest, ANameThatIsTakenAnewIsLeftAlone) {
  cluster_.clock.Advance(std::chrono::hours(24 * 365));
  AddEnded("t", ExecutionState::FINISHED, kKeepEndedMs + kHourMs);
  cluster_.SetDesired("t", DesiredState::SUBMITTING);
  SweepEnded(cluster_.cli);
  EXPECT_TRUE(IsThere("t"));
  cluster_.SetDesired("t", DesiredState::KILLING);
  SweepEnded(cluster_.cli);
  EXPECT_TRUE(IsThere("t"));
  EXPECT_TRUE(cluster_.scheduler.calls.empty());
}

TEST_F(EndedSweepTest, AFailureIsANoteAndLeavesItToAKill) {
  cluster_.clock.Advance(std::chrono::hours(24 * 365));
  AddEnded("t", ExecutionState::FAILED, kKeepEndedMs + kHourMs);
  cluster_.scheduler.kill_fails = true;
  SweepEnded(cluster_.cli);
  EXPECT_NE(cluster_.err.str().find("note: ads/prod/t"), std::string::npos) << cluster_.err.str();
  EXPECT_EQ(cluster_.Desired("t")->desire(), DesiredState::KILLING);
}

}  // namespace
}  // namespace tools::cli
