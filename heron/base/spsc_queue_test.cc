#include "heron/base/spsc_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>

namespace heron {
namespace {

SpscQueueLimits Limits(size_t slots, size_t min, size_t max, size_t initial) {
  return {.slots = slots, .min_bytes = min, .max_bytes = max, .initial_bytes = initial};
}

TEST(SpscQueueTest, GivesItemsInOrderAndThenNothing) {
  SpscQueue<int> queue(Limits(8, 10, 10, 10), nullptr, nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.TryPush(i, 1));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.TryPop(), i);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
  EXPECT_TRUE(queue.Empty());
}

TEST(SpscQueueTest, RefusesBeyondTheSlots) {
  SpscQueue<int> queue(Limits(4, 1000, 1000, 1000), nullptr, nullptr);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.TryPush(i, 0));
  EXPECT_FALSE(queue.HasRoom());
  EXPECT_FALSE(queue.TryPush(4, 0));
  EXPECT_EQ(queue.QueuedItems(), 4u);
}

TEST(SpscQueueTest, RefusesBeyondTheBytesButTakesOneHeavyItemWhenEmpty) {
  SpscQueue<int> queue(Limits(64, 100, 100, 100), nullptr, nullptr);
  EXPECT_TRUE(queue.TryPush(1, 5000));
  EXPECT_FALSE(queue.HasRoom());
  EXPECT_FALSE(queue.TryPush(2, 1));
  EXPECT_TRUE(queue.TryPush(3, 0)) << "a command without weight does not wait for bytes";
  queue.TryPop();
  queue.TryPop();
  EXPECT_TRUE(queue.HasRoom());
  EXPECT_TRUE(queue.TryPush(2, 1));
}

TEST(SpscQueueTest, ARefusedItemStaysWithTheCaller) {
  SpscQueue<std::unique_ptr<int>> queue(Limits(2, 1, 1, 1), nullptr, nullptr);
  EXPECT_TRUE(queue.TryPush(std::make_unique<int>(1), 1));
  auto item = std::make_unique<int>(2);
  EXPECT_FALSE(queue.TryPush(item, 1));
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(*item, 2);
}

TEST(SpscQueueTest, PoppedItemsAreReleasedAtOnce) {
  SpscQueue<std::shared_ptr<int>> queue(Limits(4, 100, 100, 100), nullptr, nullptr);
  auto item = std::make_shared<int>(1);
  std::weak_ptr<int> watch = item;
  EXPECT_TRUE(queue.TryPush(item, 1));
  item.reset();
  {
    auto popped = queue.TryPop();
    ASSERT_TRUE(popped.has_value());
    EXPECT_EQ(*popped, watch.lock());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(SpscQueueTest, GrowsWhileTheConsumerRunsDryUpToTheBound) {
  SpscQueue<int> queue(Limits(1024, 10, 75, 10), nullptr, nullptr);
  for (int round = 0; round < 10; ++round) {
    while (queue.TryPush(1, 1)) {
    }
    while (queue.TryPop()) {
    }
  }
  EXPECT_TRUE(queue.TryPush(1, 1));
  EXPECT_EQ(queue.LimitBytes(), 75u);
}

TEST(SpscQueueTest, DoesNotGrowWhenTheProducerWasNeverRefused) {
  SpscQueue<int> queue(Limits(1024, 10, 1000, 10), nullptr, nullptr);
  for (int round = 0; round < 100; ++round) {
    EXPECT_TRUE(queue.TryPush(1, 1));
    while (queue.TryPop()) {
    }
  }
  EXPECT_EQ(queue.LimitBytes(), 10u);
}

TEST(SpscQueueTest, ShrinksWhenItStandsLongDownToTheBound) {
  SpscQueue<int> queue(Limits(2048, 100, 1000, 1000), nullptr, nullptr);
  while (queue.TryPush(1, 1)) {
  }
  for (int i = 0; i < 20000; ++i) {
    queue.TryPop();
    while (queue.TryPush(1, 1)) {
    }
  }
  EXPECT_LT(queue.LimitBytes(), 110u);
  EXPECT_GE(queue.LimitBytes(), 100u);
}

TEST(SpscQueueTest, AskingAgainWhileFullDoesNotShrink) {
  SpscQueue<int> queue(Limits(2048, 10, 100, 100), nullptr, nullptr);
  while (queue.TryPush(1, 1)) {
  }
  for (int i = 0; i < 10000; ++i) EXPECT_FALSE(queue.TryPush(1, 1));
  EXPECT_EQ(queue.LimitBytes(), 100u);
}

TEST(SpscQueueTest, WakesAnArmedConsumerOnly) {
  Wake consumer;
  SpscQueue<int> queue(Limits(8, 100, 100, 100), &consumer, nullptr);
  EXPECT_TRUE(queue.TryPush(1, 1));
  EXPECT_FALSE(consumer.Wait(Duration::zero())) << "nobody slept: no wake-up is paid for";
  consumer.Arm();
  EXPECT_TRUE(queue.TryPush(2, 1));
  EXPECT_TRUE(consumer.Wait(Duration::zero()));
  consumer.Disarm();
  EXPECT_FALSE(consumer.Wait(Duration::zero()));
}

TEST(SpscQueueTest, WakesTheProducerWhenHalfIsFree) {
  Wake producer;
  SpscQueue<int> queue(Limits(64, 10, 10, 10), nullptr, &producer);
  while (queue.TryPush(1, 1)) {
  }
  producer.Arm();
  for (int i = 0; i < 4; ++i) queue.TryPop();
  EXPECT_FALSE(producer.Wait(Duration::zero()));
  queue.TryPop();
  EXPECT_TRUE(producer.Wait(Duration::zero()));
}

// Both sides sleep whenever they can; any lost wake-up hangs the test.
void Stress(uint32_t seed) {
  constexpr int kItems = 60000;
  Wake consumer_wake;
  Wake producer_wake;
  SpscQueue<std::unique_ptr<int>> queue(Limits(64, 50, 800, 100), &consumer_wake, &producer_wake);
  std::thread producer([&] {
    std::minstd_rand random(seed);
    for (int i = 0; i < kItems; ++i) {
      auto item = std::make_unique<int>(i);
      size_t weight = random() % 100 == 0 ? 2000 : random() % 20;
      while (!queue.TryPush(item, weight)) {
        producer_wake.Arm();
        if (!queue.TryPush(item, weight)) {
          producer_wake.Wait(Duration(-1));
          producer_wake.Disarm();
          continue;
        }
        producer_wake.Disarm();
        break;
      }
      if (random() % 64 == 0) std::this_thread::yield();
    }
  });
  std::minstd_rand random(seed + 1);
  int next = 0;
  while (next < kItems) {
    auto item = queue.TryPop();
    if (!item) {
      consumer_wake.Arm();
      if (queue.Empty()) consumer_wake.Wait(Duration(-1));
      consumer_wake.Disarm();
      continue;
    }
    ASSERT_EQ(**item, next);
    ++next;
    ASSERT_GE(queue.LimitBytes(), 50u);
    ASSERT_LE(queue.LimitBytes(), 800u);
    if (random() % 64 == 0) std::this_thread::yield();
  }
  producer.join();
  EXPECT_TRUE(queue.Empty());
  EXPECT_EQ(queue.QueuedBytes(), 0u);
}

TEST(SpscQueueTest, NothingIsLostOrReorderedWhileBothSidesSleep) {
  for (uint32_t seed = 1; seed <= 5; ++seed) Stress(seed);
}

}  // namespace
}  // namespace heron
