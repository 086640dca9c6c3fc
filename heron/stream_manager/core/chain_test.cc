// The chain that deadlocks where lanes between stream managers are stopped: A(c1) -> B(c2) -> C(c1) -> D(c2).
#include <gtest/gtest.h>

#include "heron/stream_manager/core/toy_network.h"

namespace heron::stream_manager {
namespace {

CoreSettings SmallQueues() {
  CoreSettings settings;
  settings.queue_high_bytes = 20'000;
  settings.lane_bytes = 2'000;
  settings.peer_in_flight_bytes = 40'000;
  settings.frame_max_bytes = 1'000;
  return settings;
}

size_t HardCap(const CoreSettings& s, size_t peers) {
  return 4 * s.queue_high_bytes + peers * (s.peer_in_flight_bytes + s.frame_max_bytes);
}

class ChainTest : public testing::TestWithParam<std::tuple<TaskId, uint32_t>> {};

TEST_P(ChainTest, OneSlowTaskSlowsTheChainAndNeverStopsIt) {
  const auto [slow, seed] = GetParam();
  const CoreSettings settings = SmallQueues();
  ToyNetwork network({{"A", 1, {2}}, {"B", 2, {3}}, {"C", 1, {4}}, {"D", 2, {}}}, settings, seed);
  network.ExpectNoLoss();
  if (slow != 0) network.SetSpeed(slow, 3);
  network.Run(100'000);  // long enough for all queues to fill
  for (int i = 0; i < 10; ++i) {
    const uint64_t before = network.received(4);
    network.Run(20'000);
    ASSERT_GT(network.received(4), before) << "stands still\n" << network.Describe();
  }
  for (TaskId task : {2, 3, 4}) {
    EXPECT_LT(network.MaxQueuedBytes(task), HardCap(settings, 1)) << network.Describe();
  }
  EXPECT_EQ(network.OverflowFrames(), 0u);
  ASSERT_TRUE(network.Drain(20'000'000)) << network.Describe();
  EXPECT_EQ(network.received(4), network.emitted(1));
  EXPECT_FALSE(network.AnyFeederPaused());
  EXPECT_TRUE(network.errors().empty()) << network.errors().front();
}

INSTANTIATE_TEST_SUITE_P(AnyTaskSlow, ChainTest,
                         testing::Combine(testing::Values(0, 1, 2, 3, 4), testing::Values(1u, 2u)));

TEST(StoppedConsumerTest, AnEndlessProducerIsHeldBackAcrossContainers) {
  const CoreSettings settings = SmallQueues();
  ToyNetwork network({{"A", 1, {3}}, {"A", 2, {3}}, {"B", 3, {}}}, settings, 7);
  network.ExpectNoLoss();
  network.SetSpeed(3, 0);
  network.Run(150'000);
  const uint64_t emitted = network.emitted(1) + network.emitted(2);
  const size_t queued = network.MaxQueuedBytes(3);
  EXPECT_GT(queued, settings.queue_high_bytes);
  EXPECT_LT(queued, HardCap(settings, 2));
  network.Run(150'000);
  EXPECT_EQ(network.emitted(1) + network.emitted(2), emitted) << "producers must stand still";
  network.SetSpeed(3, 100);
  ASSERT_TRUE(network.Drain(5'000'000)) << network.Describe();
  EXPECT_EQ(network.received(3), network.emitted(1) + network.emitted(2));
  EXPECT_EQ(network.OverflowFrames(), 0u);
  EXPECT_TRUE(network.errors().empty()) << network.errors().front();
}

TEST(StoppedConsumerTest, AStoppedTaskOfAFanOutHoldsOnlyThoseWhoFeedIt) {
  // Spout 1 feeds 3 alone, spout 2 feeds 4 alone; 4 is stopped. Both bolts are behind the same peer lane.
  ToyNetwork network({{"A", 1, {3}}, {"A", 1, {4}}, {"B", 2, {}}, {"B", 2, {}}}, SmallQueues(), 3);
  network.ExpectNoLoss();
  network.SetSpeed(4, 0);
  network.Run(150'000);
  const uint64_t before = network.received(3);
  network.Run(50'000);
  EXPECT_GT(network.received(3), before + 100) << network.Describe();
}

}  // namespace
}  // namespace heron::stream_manager
