#include "heron/instance/ack/pending_roots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace heron::instance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonotonicTime kStart{seconds(1000)};

class PendingRootsTest : public ::testing::Test {
 protected:
  uint64_t Emit(int64_t id, std::vector<uint64_t> edges, MonotonicTime now = kStart) {
    const uint64_t sequence = roots_.Begin(MessageId(id), now);
    for (uint64_t edge : edges) roots_.AddEdge(edge);
    roots_.End();
    return sequence;
  }
  // "acked 5", "failed 6 timeout", and forgets them.
  std::vector<std::string> Outcomes() {
    std::vector<std::string> all;
    for (const auto& outcome : roots_.outcomes()) {
      std::string text =
          (outcome.acked ? "acked " : "failed ") + std::to_string(outcome.id.number());
      if (!outcome.acked && outcome.why == FailReason::kTimeout) text += " timeout";
      if (!outcome.acked && outcome.why == FailReason::kLost) text += " lost";
      all.push_back(text);
    }
    roots_.outcomes().clear();
    return all;
  }
  using Texts = std::vector<std::string>;

  PendingRoots roots_{seconds(30)};
};

TEST_F(PendingRootsTest, IsAckedWhenEveryCopyIs) {
  const uint64_t root = Emit(5, {11, 22});
  roots_.Update(root, 11 ^ 33);  // a bolt acks and has emitted one
  EXPECT_EQ(Outcomes(), Texts{});
  roots_.Update(root, 33);
  EXPECT_EQ(Outcomes(), Texts{});
  roots_.Update(root, 22);
  EXPECT_EQ(Outcomes(), Texts{"acked 5"});
  EXPECT_EQ(roots_.pending(), 0u);
}

TEST_F(PendingRootsTest, UpdatesOfOneTreeInAnyOrder) {
  // No few of them give 0 together, as small numbers would.
  const uint64_t a = 1, b = 2, c = 4, d = 8, e = 16;
  std::vector<uint64_t> updates = {a ^ c ^ d, b, c, d ^ e, e};
  std::sort(updates.begin(), updates.end());
  do {
    const uint64_t root = Emit(5, {a, b});
    for (size_t i = 0; i < updates.size(); ++i) {
      EXPECT_TRUE(roots_.outcomes().empty());
      roots_.Update(root, updates[i]);
    }
    EXPECT_EQ(Outcomes(), Texts{"acked 5"});
  } while (std::next_permutation(updates.begin(), updates.end()));
}

TEST_F(PendingRootsTest, WithoutAReaderItIsAckedAtOnce) {
  Emit(5, {});
  EXPECT_EQ(Outcomes(), Texts{"acked 5"});
}

TEST_F(PendingRootsTest, IsNotLookedAtBeforeAllCopiesAreOut) {
  const uint64_t root = roots_.Begin(MessageId(5), kStart);
  roots_.AddEdge(11);
  roots_.Update(root, 11);  // acked while the emit waits for room for the second copy
  EXPECT_EQ(Outcomes(), Texts{});
  roots_.AddEdge(22);
  roots_.End();
  EXPECT_EQ(Outcomes(), Texts{});
  roots_.Update(root, 22);
  EXPECT_EQ(Outcomes(), Texts{"acked 5"});
}

TEST_F(PendingRootsTest, FailedWhileItIsEmittedIsToldAfterwards) {
  const uint64_t root = roots_.Begin(MessageId(5), kStart);
  roots_.AddEdge(11);
  roots_.Fail(root);
  EXPECT_EQ(Outcomes(), Texts{});
  roots_.End();
  EXPECT_EQ(Outcomes(), Texts{"failed 5"});
}

TEST_F(PendingRootsTest, FailsOnceAndWhatComesLaterIsCounted) {
  const uint64_t root = Emit(5, {11});
  roots_.Fail(root);
  roots_.Fail(root);
  roots_.Update(root, 11);
  EXPECT_EQ(Outcomes(), Texts{"failed 5"});
  EXPECT_EQ(roots_.late(), 2u);
  roots_.Update(UINT64_MAX, 1);
  roots_.Update(1'000'000, 1);
  EXPECT_EQ(roots_.late(), 4u);
}

TEST_F(PendingRootsTest, TimeoutsComeInTheOrderOfEmission) {
  Emit(1, {11}, kStart);
  const uint64_t acked = Emit(2, {11}, kStart + seconds(1));
  Emit(3, {11}, kStart + seconds(2));
  roots_.Update(acked, 11);
  Outcomes();
  EXPECT_EQ(*roots_.NextExpiry(), kStart + seconds(30));
  roots_.Expire(kStart + seconds(30) - milliseconds(1));
  EXPECT_EQ(Outcomes(), Texts{});
  roots_.Expire(kStart + seconds(30));
  EXPECT_EQ(Outcomes(), Texts{"failed 1 timeout"});
  EXPECT_EQ(*roots_.NextExpiry(), kStart + seconds(32));
  roots_.Expire(kStart + seconds(40));
  EXPECT_EQ(Outcomes(), Texts{"failed 3 timeout"});
  EXPECT_FALSE(roots_.NextExpiry());
}

TEST_F(PendingRootsTest, KnownLossShortensTheTimeOfWhatWasPending) {
  Emit(1, {11});
  roots_.ExpectLossBy(kStart + seconds(2));
  Emit(2, {11});
  roots_.Expire(kStart + seconds(2));
  EXPECT_EQ(Outcomes(), Texts{"failed 1 lost"});
  // A later loss gives nobody more time.
  roots_.ExpectLossBy(kStart + seconds(4));
  Emit(3, {11});
  roots_.ExpectLossBy(kStart + seconds(9));
  roots_.Expire(kStart + seconds(4));
  const Texts failed = Outcomes();
  EXPECT_EQ(failed.front(), "failed 2 lost");
  roots_.Expire(kStart + seconds(9));
  EXPECT_EQ(roots_.pending(), 0u);
}

TEST_F(PendingRootsTest, FewOldOnesDoNotHoldUpTheRing) {
  PendingRoots roots(seconds(30), 64);
  std::vector<uint64_t> old;
  for (int64_t i = 0; i < 10; ++i) {
    old.push_back(roots.Begin(MessageId(i), kStart));
    roots.AddEdge(7);
    roots.End();
  }
  for (int64_t i = 10; i < 100'000; ++i) {
    const uint64_t root = roots.Begin(MessageId(i), kStart + milliseconds(i));
    roots.AddEdge(9);
    roots.End();
    roots.Update(root, 9);
    ASSERT_EQ(roots.outcomes().back().id.number(), i);
    roots.outcomes().clear();
  }
  EXPECT_EQ(roots.pending(), 10u);
  roots.Update(old[3], 7);
  ASSERT_EQ(roots.outcomes().size(), 1u);
  EXPECT_EQ(roots.outcomes()[0].id.number(), 3);
  roots.Expire(kStart + seconds(30));
  EXPECT_EQ(roots.outcomes().size(), 10u);
  EXPECT_EQ(roots.pending(), 0u);
}

// Against the plainest thing that could work.
TEST_F(PendingRootsTest, AgreesWithAModel) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    PendingRoots roots(seconds(5), 1u << (random() % 12 + 1));
    struct Plain {
      std::vector<uint64_t> open;
      MonotonicTime emitted;
    };
    std::map<uint64_t, Plain> model;  // by sequence; ids are sequences here
    MonotonicTime now = kStart;
    uint64_t edge = 1;
    const unsigned keep = 1 + random() % 300;
    for (int step = 0; step < 20'000; ++step) {
      std::vector<std::pair<uint64_t, bool>> want;
      now += milliseconds(random() % 3);
      const unsigned what = random() % 10;
      if (what < 4 && model.size() < keep) {
        const uint64_t sequence = roots.Begin(MessageId(edge), now);
        Plain plain{.open = {}, .emitted = now};
        for (unsigned copies = random() % 3; copies > 0; --copies) {
          plain.open.push_back(edge * 0x9e3779b97f4a7c15);
          roots.AddEdge(plain.open.back());
          ++edge;
        }
        roots.End();
        if (plain.open.empty()) {
          want.emplace_back(sequence, true);
        } else {
          model.emplace(sequence, plain);
        }
        ASSERT_EQ(roots.outcomes().size(), want.size());
        roots.outcomes().clear();
        continue;
      }
      if (what < 8 && !model.empty()) {
        auto it = std::next(model.begin(), static_cast<long>(random() % model.size()));
        const uint64_t sequence = it->first;
        const uint64_t acked = it->second.open.back();
        it->second.open.pop_back();
        if (it->second.open.empty()) {
          model.erase(it);
          want.emplace_back(sequence, true);
        }
        roots.Update(sequence, acked);
      } else if (what == 8 && !model.empty()) {
        auto it = std::next(model.begin(), static_cast<long>(random() % model.size()));
        const uint64_t sequence = it->first;
        model.erase(it);
        want.emplace_back(sequence, false);
        roots.Fail(sequence);
      } else {
        for (auto it = model.begin(); it != model.end();) {
          if (it->second.emitted + seconds(5) <= now) {
            want.emplace_back(it->first, false);
            it = model.erase(it);
          } else {
            ++it;
          }
        }
        roots.Expire(now);
      }
      ASSERT_EQ(roots.outcomes().size(), want.size()) << "seed " << seed << " step " << step;
      for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(roots.outcomes()[i].acked, want[i].second);
      ASSERT_EQ(roots.pending(), model.size());
      roots.outcomes().clear();
    }
    EXPECT_EQ(roots.late(), 0u);
  }
}

TEST(MessageIdTest, NumbersAndTexts) {
  EXPECT_EQ(MessageId(5), MessageId(5));
  EXPECT_FALSE(MessageId(5) == MessageId(6));
  EXPECT_FALSE(MessageId(0) == MessageId("")) << "an empty text is no number";
  const MessageId text("offset 7");
  MessageId copy = text;
  EXPECT_EQ(copy, text);
  EXPECT_EQ(copy.text(), "offset 7");
  copy = MessageId(3);
  EXPECT_TRUE(copy.is_number());
  EXPECT_EQ(text.text(), "offset 7");
}

}  // namespace
}  // namespace heron::instance
