#include "heron/net/receive_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heron::net {
namespace {

constexpr size_t kChunk = 64 << 10;
constexpr size_t kLimit = 1 << 20;

std::string MakeFrame(uint16_t type, const std::string& body) {
  std::string bytes(kFrameHeaderBytes, '\0');
  EncodeFrameHeader({static_cast<uint32_t>(body.size()), type}, bytes.data());
  return bytes + body;
}

// Pushes the stream in pieces of at most `piece` bytes; returns the frames.
std::vector<Frame> Receive(ReceiveBuffer& buffer, std::string_view stream, size_t piece) {
  std::vector<Frame> frames;
  while (!stream.empty()) {
    const auto space = buffer.PrepareRead();
    const size_t n = std::min({space.size, piece, stream.size()});
    EXPECT_GT(n, 0u);
    std::memcpy(space.data, stream.data(), n);
    buffer.Commit(n);
    stream.remove_prefix(n);
    for (;;) {
      auto next = buffer.Next();
      EXPECT_TRUE(next.ok()) << next.status().ToString();
      if (!next.ok()) return frames;
      if (!next->has_value()) break;
      frames.push_back(std::move(**next));
    }
  }
  return frames;
}

size_t DistinctOwners(const std::vector<Frame>& frames) {
  std::set<const void*> owners;
  for (const Frame& frame : frames) owners.insert(frame.bytes.owner().get());
  return owners.size();
}

TEST(ReceiveBuffer, FramesComeOutWholeWhateverThePieces) {
  std::string stream;
  for (int i = 0; i < 200; ++i) {
    stream += MakeFrame(static_cast<uint16_t>(i), std::string(static_cast<size_t>(i) * 37, 'a'));
  }
  for (size_t piece : {size_t{1}, size_t{7}, size_t{4096}, stream.size()}) {
    ReceiveBuffer buffer(kChunk, kLimit);
    std::string joined;
    const std::vector<Frame> frames = Receive(buffer, stream, piece);
    EXPECT_EQ(frames.size(), 200u);
    for (const Frame& frame : frames) joined += frame.bytes.view();
    EXPECT_EQ(joined, stream);
    EXPECT_EQ(buffer.partial_bytes(), 0u);
  }
}

TEST(ReceiveBuffer, FramesAreSlicesOfTheChunkNotCopies) {
  ReceiveBuffer buffer(kChunk, kLimit);
  const char* chunk = buffer.PrepareRead().data;
  const auto frames = Receive(
      buffer, MakeFrame(1, std::string(1000, 'a')) + MakeFrame(2, std::string(900, 'b')), kChunk);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].bytes.data(), chunk);
  EXPECT_EQ(frames[1].bytes.data(), chunk + 1008);
  EXPECT_EQ(DistinctOwners(frames), 1u);
}

// What a queue of frames holds is about what its frames have, not a chunk each.
TEST(ReceiveBuffer, AQueueOfSmallFramesPinsOnlyTheChunksThatItFills) {
  ReceiveBuffer buffer(kChunk, kLimit);
  std::vector<Frame> queue;
  size_t bytes = 0;
  // Each arrives alone, as from a slow sender.
  for (int i = 0; i < 1000; ++i) {
    const std::string frame = MakeFrame(20, std::string(1500, 'x'));
    bytes += frame.size();
    for (Frame& got : Receive(buffer, frame, kChunk)) queue.push_back(std::move(got));
  }
  EXPECT_LE(DistinctOwners(queue) * kChunk, bytes + bytes / 5 + kChunk);
}

TEST(ReceiveBuffer, ATinyFrameKeptForLongPinsNoChunk) {
  ReceiveBuffer buffer(kChunk, kLimit);
  const char* chunk = buffer.PrepareRead().data;
  const auto kept = Receive(buffer, MakeFrame(1, "tiny"), kChunk);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(buffer.PrepareRead().data, chunk) << "the chunk should be free for use from its start";
  EXPECT_EQ(kept[0].body(), "tiny");
}

TEST(ReceiveBuffer, AChunkThatNobodySharesIsUsedAgain) {
  ReceiveBuffer buffer(kChunk, kLimit);
  std::set<const void*> owners;
  for (int i = 0; i < 1000; ++i) {
    const auto frames = Receive(buffer, MakeFrame(20, std::string(5000, 'x')), kChunk);
    ASSERT_EQ(frames.size(), 1u);
    owners.insert(frames[0].bytes.owner().get());
  }
  EXPECT_LE(owners.size(), 2u);
}

// The chunk is written again only after the other thread has read and released its frames.
TEST(ReceiveBuffer, FramesMayBeReadAndReleasedInAnotherThread) {
  std::mutex mutex;
  std::deque<Frame> queue;
  bool done = false;
  size_t wrong = 0;
  std::thread reader([&] {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex);
      if (queue.empty() && done) return;
      if (queue.empty()) continue;
      Frame frame = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      const char expected = static_cast<char>('a' + frame.type % 26);
      for (char c : frame.body()) wrong += c != expected;
    }
  });
  ReceiveBuffer buffer(kChunk, kLimit);
  for (int i = 0; i < 2000; ++i) {
    const std::string body(3000, static_cast<char>('a' + i % 26));
    for (Frame& frame : Receive(buffer, MakeFrame(static_cast<uint16_t>(i), body), kChunk)) {
      std::lock_guard<std::mutex> lock(mutex);
      queue.push_back(std::move(frame));
    }
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  reader.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(ReceiveBuffer, AFrameLargerThanTheChunkGetsABufferOfItsSize) {
  ReceiveBuffer buffer(kChunk, kLimit);
  const std::string large = MakeFrame(20, std::string(kLimit, 'L'));
  const auto frames = Receive(buffer, MakeFrame(1, "a") + large + MakeFrame(2, "b"), 10'000);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[1].bytes.view(), large);
  EXPECT_EQ(frames[1].bytes.owner().use_count(), 1) << "nothing else lies in its buffer";
  EXPECT_EQ(frames[2].body(), "b");
}

TEST(ReceiveBuffer, AFrameOverTheLimitFailsFromItsHeaderAlone) {
  ReceiveBuffer buffer(kChunk, 4096);
  std::string header(kFrameHeaderBytes, '\0');
  EncodeFrameHeader({0xffffffff, 20}, header.data());
  std::memcpy(buffer.PrepareRead().data, header.data(), header.size());
  buffer.Commit(header.size());
  EXPECT_EQ(buffer.Next().status().code(), StatusCode::kDataLoss);
}

TEST(ReceiveBuffer, ALimitRaisedBetweenFramesHoldsForTheNext) {
  ReceiveBuffer buffer(kChunk, 10);
  const std::string stream = MakeFrame(4, "") + MakeFrame(20, std::string(100, 'x'));
  std::memcpy(buffer.PrepareRead().data, stream.data(), stream.size());
  buffer.Commit(stream.size());
  ASSERT_TRUE(buffer.Next().ok());
  buffer.SetMaxBodyBytes(100);
  auto next = buffer.Next();
  ASSERT_TRUE(next.ok());
  ASSERT_TRUE(next->has_value());
  EXPECT_EQ((*next)->body().size(), 100u);
}

}  // namespace
}  // namespace heron::net
