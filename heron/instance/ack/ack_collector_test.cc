#include "heron/instance/ack/ack_collector.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "heron/base/buffer.h"
#include "heron/model/ack_batch.h"
#include "heron/net/frame.h"

namespace heron::instance {
namespace {

std::vector<BufferSlice> Take(AckCollector& acks) {
  std::vector<BufferSlice> frames;
  acks.TakeFrames(frames);
  return frames;
}

model::AckView View(const BufferSlice& frame) {
  auto view = model::DecodeAckBatch(frame.view().substr(net::kFrameHeaderBytes));
  EXPECT_TRUE(view.ok()) << view.status().ToString();
  return *view;
}

TEST(AckCollectorTest, MergesUpdatesOfARoot) {
  AckCollector acks(9);
  EXPECT_TRUE(acks.empty());
  acks.Add({.task = 1, .life = 5, .sequence = 100}, 0b0011);
  acks.Add({.task = 1, .life = 5, .sequence = 101}, 0b1000);
  acks.Add({.task = 1, .life = 5, .sequence = 100}, 0b0110);
  EXPECT_FALSE(acks.empty());
  const auto frames = Take(acks);
  ASSERT_EQ(frames.size(), 1u);
  const model::AckView view = View(frames[0]);
  EXPECT_EQ(view.header.source_task, 9);
  EXPECT_EQ(view.header.destination_task, 1);
  EXPECT_EQ(view.header.life, 5u);
  ASSERT_EQ(view.update_count(), 2u);
  EXPECT_EQ(view.update(0).sequence, 100u);
  EXPECT_EQ(view.update(0).edges, 0b0101u);
  EXPECT_EQ(view.update(1).edges, 0b1000u);
  EXPECT_TRUE(acks.empty());
  EXPECT_TRUE(Take(acks).empty());
}

TEST(AckCollectorTest, AFrameForEachLifeOfEachSpout) {
  AckCollector acks(9);
  acks.Add({.task = 1, .life = 5, .sequence = 1}, 1);
  acks.Add({.task = 1, .life = 6, .sequence = 1}, 2);
  acks.Add({.task = 2, .life = 5, .sequence = 1}, 4);
  acks.Fail({.task = 2, .life = 5, .sequence = 3});
  const auto frames = Take(acks);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(View(frames[1]).header.life, 6u);
  EXPECT_EQ(View(frames[2]).header.destination_task, 2);
  ASSERT_EQ(View(frames[2]).failure_count(), 1u);
  EXPECT_EQ(View(frames[2]).failure(0), 3u);
}

TEST(AckCollectorTest, NothingIsLostOverManyFrames) {
  AckCollector acks(9);
  std::map<uint64_t, uint64_t> want, got;
  int frames = 0;
  const auto take = [&] {
    for (const BufferSlice& frame : Take(acks)) {
      ++frames;
      const model::AckView view = View(frame);
      EXPECT_LE(view.update_count(), AckCollector::kMostUpdates);
      for (size_t i = 0; i < view.update_count(); ++i) {
        got[view.update(i).sequence] ^= view.update(i).edges;
      }
    }
  };
  for (uint64_t i = 1; i <= 50'000; ++i) {
    const uint64_t sequence = i * 37 % 5000;  // many share a place
    want[sequence] ^= i;
    acks.Add({.task = 1, .life = 5, .sequence = sequence}, i);
    if (acks.full()) take();
  }
  take();
  EXPECT_GT(frames, 3);
  EXPECT_EQ(got, want);
}

}  // namespace
}  // namespace heron::instance
