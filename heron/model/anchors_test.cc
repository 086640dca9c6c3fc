#include "heron/model/anchors.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace heron::model {
namespace {

Anchor Of(TaskId task, uint32_t life, uint64_t sequence, uint64_t edge = 0) {
  return {.root = {.task = task, .life = life, .sequence = sequence}, .edge = edge};
}

std::string Encode(const std::vector<std::vector<Anchor>>& tuples) {
  std::string bytes;
  AnchorContext context;
  std::vector<char> out(kMaxAnchorBytes);
  for (const auto& anchors : tuples) {
    const size_t size = EncodeAnchors(anchors, context, out.data());
    if (anchors.size() < 2) {
      EXPECT_LE(size, kMaxOneAnchorBytes);
    }
    bytes.append(out.data(), size);
  }
  return bytes;
}

TEST(AnchorsTest, ConsecutiveRootsTakeAByteEach) {
  std::vector<std::vector<Anchor>> tuples;
  for (uint64_t i = 0; i < 100; ++i) tuples.push_back({Of(3, 77, 1'000'000 + i)});
  EXPECT_LT(Encode(tuples).size(), 100 + kMaxOneAnchorBytes);
}

TEST(AnchorsTest, EveryFormComesBack) {
  std::vector<Anchor> many;
  for (uint64_t i = 0; i < kMaxAnchors; ++i)
    many.push_back(Of(INT32_MAX, UINT32_MAX, UINT64_MAX - i, i));
  const std::vector<std::vector<Anchor>> tuples = {
      {},
      {Of(1, 5, 0)},
      {Of(1, 5, 0)},
      {Of(1, 5, 126)},
      {Of(1, 5, 253)},
      {Of(1, 5, 252)},
      {Of(1, 5, UINT64_MAX)},
      {Of(1, 5, 0)},
      {Of(1, 6, 0)},
      {Of(2, 6, 1)},
      {Of(2, 6, 1, 17), Of(3, 9, 4, 18)},
      {Of(3, 9, 5)},
      many,
      {},
  };
  const std::string bytes = Encode(tuples);
  const char* at = bytes.data();
  const char* end = at + bytes.size();
  AnchorContext context;
  std::vector<Anchor> anchors;
  const uint64_t base = EdgeSalt(4, {1, 0});
  for (size_t i = 0; i < tuples.size(); ++i) {
    at = DecodeAnchors(at, end, base, i, context, anchors);
    ASSERT_NE(at, nullptr) << i;
    std::vector<Anchor> want = tuples[i];
    if (want.size() == 1) want[0].edge = EdgeId(base, i);
    EXPECT_EQ(anchors, want) << i;
  }
  EXPECT_EQ(at, end);
}

TEST(AnchorsTest, WhatIsCutOffIsDamage) {
  const std::string bytes = Encode({{Of(1000, 5, 1'000'000)}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    AnchorContext context;
    std::vector<Anchor> anchors;
    EXPECT_EQ(DecodeAnchors(bytes.data(), bytes.data() + size, 1, 0, context, anchors), nullptr)
        << size;
  }
}

TEST(AnchorsTest, AnyBytesGiveAnchorsOrDamage) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const char* at = bytes.data();
    AnchorContext context;
    std::vector<Anchor> anchors;
    for (uint64_t i = 0; at != nullptr && at != bytes.data() + bytes.size(); ++i) {
      at = DecodeAnchors(at, bytes.data() + bytes.size(), 3, i, context, anchors);
      ASSERT_LE(anchors.size(), kMaxAnchors);
    }
  }
}

TEST(AnchorsTest, EdgesOfDifferentLivesAndTasksDiffer) {
  std::set<uint64_t> edges;
  size_t made = 0;
  for (TaskId task = 1; task <= 20; ++task) {
    for (uint64_t incarnation = 1; incarnation <= 4; ++incarnation) {
      for (uint64_t restart = 0; restart < 4; ++restart) {
        const uint64_t salt = EdgeSalt(task, {incarnation, restart});
        for (uint64_t i = 0; i < 100; ++i, ++made) edges.insert(EdgeId(salt, i));
      }
    }
  }
  EXPECT_EQ(edges.size(), made);
  EXPECT_EQ(edges.count(0), 0u);
  EXPECT_NE(LifeTag({1, 0}), LifeTag({1, 1}));
  EXPECT_NE(LifeTag({1, 0}), LifeTag({2, 0}));
}

}  // namespace
}  // namespace heron::model
