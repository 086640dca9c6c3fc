#include "heron/net/send_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace heron::net {
namespace {

TEST(SendQueue, GathersWithoutCopyingAndKeepsOrderAcrossPartialWrites) {
  SendQueue queue;
  std::string all;
  const char* first = nullptr;
  for (int i = 0; i < 200; ++i) {
    const std::string text = "piece " + std::to_string(i) + ";";
    BufferSlice slice = BufferSlice::Copy(text);
    if (i == 0) first = slice.data();
    all += text;
    queue.Push(std::move(slice));
    queue.Push(BufferSlice());  // an empty tail takes no place
  }
  EXPECT_EQ(queue.bytes(), all.size());
  EXPECT_EQ(queue.Front().items[0].data(), first);
  EXPECT_EQ(queue.Front().count, SendQueue::kMaxPieces);

  std::string sent;
  size_t step = 1;
  while (!queue.empty()) {
    const SendQueue::Pieces pieces = queue.Front();
    std::string gathered;
    for (size_t i = 0; i < pieces.count; ++i) gathered += pieces.items[i];
    EXPECT_EQ(gathered.size(), pieces.bytes);
    const size_t n = std::min(step, gathered.size());
    sent += gathered.substr(0, n);
    queue.Consume(n);
    step = step * 3 % 101 + 1;
  }
  EXPECT_EQ(sent, all);
  EXPECT_EQ(queue.Front().count, 0u);
}

TEST(SendQueue, ReleasesWhatHasGone) {
  SendQueue queue;
  auto owner = std::make_shared<std::string>("0123456789");
  queue.Push(BufferSlice(owner, owner->data(), 10));
  queue.Consume(9);
  EXPECT_EQ(owner.use_count(), 2);
  queue.Consume(1);
  EXPECT_EQ(owner.use_count(), 1);
}

}  // namespace
}  // namespace heron::net
