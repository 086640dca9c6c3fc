// Three stream managers, spouts and bolts in each, in orders drawn from seeds; processes and sessions go up and down.
#include <gtest/gtest.h>

#include "heron/stream_manager/core/toy_network.h"

namespace heron::stream_manager {
namespace {

CoreSettings SmallQueues() {
  CoreSettings settings;
  settings.queue_high_bytes = 15'000;
  settings.lane_bytes = 2'000;
  settings.peer_in_flight_bytes = 60'000;
  settings.frame_max_bytes = 1'000;
  settings.destination_grace = std::chrono::milliseconds(300);
  settings.heartbeat_interval = std::chrono::milliseconds(50);
  return settings;
}

// Every bolt feeds a sink in another container, some tasks feed several.
std::vector<ToyNetwork::TaskSpec> Topology() {
  return {{"spout", 1, {4, 5}}, {"spout", 2, {5, 6}}, {"spout", 3, {4, 6}},
          {"bolt", 1, {8}},     {"bolt", 2, {9, 7}},  {"bolt", 3, {7}},
          {"sink", 1, {}},      {"sink", 2, {}},      {"sink", 3, {}}};
}

uint64_t Sinks(ToyNetwork& network) {
  return network.received(7) + network.received(8) + network.received(9);
}

class SimulationTest : public testing::TestWithParam<uint32_t> {};

TEST_P(SimulationTest, NothingIsLostWhileNothingIsDown) {
  ToyNetwork network(Topology(), SmallQueues(), GetParam());
  network.ExpectNoLoss();
  std::mt19937 random(GetParam());
  for (int i = 0; i < 20; ++i) {
    for (TaskId task = 1; task <= 9; ++task) {
      network.SetSpeed(task, static_cast<int>(random() % 101));
    }
    network.Run(5'000);
  }
  for (TaskId task = 1; task <= 9; ++task) network.SetSpeed(task, 100);
  ASSERT_TRUE(network.Drain(20'000'000)) << network.Describe();
  EXPECT_EQ(network.received(4), network.emitted(1) + network.emitted(3));
  EXPECT_EQ(network.received(5), network.emitted(1) + network.emitted(2));
  EXPECT_EQ(network.received(6), network.emitted(2) + network.emitted(3));
  EXPECT_EQ(network.received(7), network.emitted(5) + network.emitted(6));
  EXPECT_EQ(network.received(8), network.emitted(4));
  EXPECT_EQ(network.received(9), network.emitted(5));
  EXPECT_FALSE(network.AnyFeederPaused());
  EXPECT_EQ(network.OverflowFrames(), 0u);
  EXPECT_TRUE(network.errors().empty()) << network.errors().front();
}

TEST_P(SimulationTest, DeathsReorderNothingAndLeaveNobodyHeldBack) {
  ToyNetwork network(Topology(), SmallQueues(), GetParam());
  for (int i = 0; i < 100; ++i) {
    network.Disturb();
    network.Run(1'000);
  }
  network.EverythingUp();
  for (TaskId task = 1; task <= 9; ++task) network.SetSpeed(task, 100);
  ASSERT_TRUE(network.Drain(20'000'000)) << network.Describe();
  EXPECT_FALSE(network.AnyFeederPaused()) << network.Describe();
  EXPECT_TRUE(network.errors().empty()) << network.errors().front();
  EXPECT_EQ(network.OverflowFrames(), 0u);

  // All is as if nothing had happened.
  network.ExpectNoLoss();
  const uint64_t sinks = Sinks(network);
  const uint64_t expected_before = network.emitted(4) + 2 * network.emitted(5) + network.emitted(6);
  network.SetEmitting(true);
  network.Run(20'000);
  ASSERT_TRUE(network.Drain(20'000'000)) << network.Describe();
  const uint64_t expected = network.emitted(4) + 2 * network.emitted(5) + network.emitted(6);
  EXPECT_GT(expected, expected_before);
  EXPECT_EQ(Sinks(network) - sinks, expected - expected_before);
  EXPECT_FALSE(network.AnyFeederPaused());
  EXPECT_TRUE(network.errors().empty()) << network.errors().front();
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimulationTest, testing::Range(1u, 13u));

}  // namespace
}  // namespace heron::stream_manager
