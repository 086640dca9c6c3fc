// Everything dies, in any order and often; in the end the topology finishes, and nothing that must
// not happen has happened (StoreModel and SimulatedTopology check that in every step).
#include <gtest/gtest.h>

#include <string>

#include "heron/topology_master/core/simulated_topology.h"

namespace heron::topology_master {
namespace {

const std::vector<std::pair<std::string, int>> kComponents = {
    {"words", 2}, {"split", 3}, {"count", 2}};
const std::vector<ContainerId> kContainers = {2, 5, 9};

TEST(MasterSimulation, FinishesWithoutFaultsAndNothingIsLost) {
  SimulatedTopology world(1, kComponents, kContainers);
  ASSERT_TRUE(world.RunToTheEnd(std::chrono::minutes(2)));
  EXPECT_EQ(world.store.state().incomplete_size(), 0);
  EXPECT_EQ(world.store.state().restarts(), 0u);
  EXPECT_EQ(world.finish_runs.size(), 5u) << "every bolt ran Finish";
}

TEST(MasterSimulation, TheMasterMayDieInEveryWrite) {
  SimulatedTopology quiet(1, kComponents, kContainers);
  ASSERT_TRUE(quiet.RunToTheEnd(std::chrono::minutes(2)));
  ASSERT_GT(quiet.writes, 10);
  for (int n = 1; n <= quiet.writes; ++n) {
    for (bool stored : {false, true}) {
      SCOPED_TRACE("write " + std::to_string(n) + (stored ? ", stored" : ", not stored"));
      SimulatedTopology world(1, kComponents, kContainers);
      world.KillMasterInWrite(n, stored);
      ASSERT_TRUE(world.RunToTheEnd(std::chrono::minutes(2)));
      EXPECT_EQ(world.store.state().incomplete_size(), 0) << "a master's death loses nothing";
      for (ContainerId container : kContainers) {
        EXPECT_EQ(world.store.incarnation(container), 1u) << "no executor was restarted";
      }
      EXPECT_EQ(world.finish_runs.size(), 5u);
      if (testing::Test::HasFailure()) return;
    }
  }
}

void RunSeeds(uint64_t first, uint64_t count, const SimulatedTopology::Faults& faults,
              int steps) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimulatedTopology world(seed, kComponents, kContainers);
    for (int i = 0; i < steps; ++i) world.Step(faults);
    ASSERT_TRUE(world.RunToTheEnd(std::chrono::minutes(5)))
        << world.store.state().DebugString() << world.store.plan().DebugString();
    const proto::ExecutionState state = world.store.state();
    if (world.something_was_lost) {
      EXPECT_GT(state.incomplete_size(), 0) << "the loss is not named";
    }
    if (!world.something_died) {
      EXPECT_EQ(state.incomplete_size(), 0) << state.DebugString();
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MasterSimulation, MastersComeAndGo) {
  RunSeeds(1000, 80,
           {.kill_master = 20, .lose_lease = 20, .second_master = 20, .store_trouble = 100}, 500);
}

TEST(MasterSimulation, TasksAndContainersDie) {
  RunSeeds(2000, 80, {.kill_task = 15, .kill_stream_manager = 10, .kill_executor = 8}, 700);
}

TEST(MasterSimulation, EverythingDies) {
  RunSeeds(3000, 150,
           {.kill_task = 15,
            .kill_stream_manager = 10,
            .kill_executor = 8,
            .kill_master = 10,
            .lose_lease = 10,
            .second_master = 10,
            .drop_session = 30,
            .store_trouble = 100},
           700);
}

}  // namespace
}  // namespace heron::topology_master
