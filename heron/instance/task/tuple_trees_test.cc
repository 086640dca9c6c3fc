// Trees of tuples through several bolts, on one thread: what the trees write, batches carry and the
// collectors send must bring every root to exactly one end.
#include "heron/instance/task/tuple_trees.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "heron/instance/task/batch_writer.h"
#include "heron/model/tuple_batch.h"
#include "heron/net/frame.h"

namespace heron::instance {
namespace {

using heron::internal::EmitOptions;
using heron::internal::Held;
using model::Anchor;

constexpr MonotonicTime kNow{std::chrono::seconds(1000)};

// A task: its trees, and the batches that it has sent.
class Task : public BatchWriter::Sink {
 public:
  explicit Task(TaskId id)
      : writer_({.task = id, .epoch = {1, 0}, .batch_max_bytes = 256, .anchored = true}, this),
        trees_({.task = id, .epoch = {1, 0}}, &writer_) {}

  void OnBatch(BufferSlice frame) override { sent_.push_back(std::move(frame)); }

  // One copy to each destination; the payload is a byte.
  bool Emit(const std::vector<TaskId>& to, const EmitOptions& options = {}) {
    if (!trees_.BeginEmit(options, kNow)) return false;
    for (TaskId task : to) {
      char* out = writer_.Reserve(0, task, trees_.AnchorRoom() + 1);
      const size_t anchors = trees_.WriteAnchors(out);
      out[anchors] = 0;  // a tuple without fields
      writer_.Commit(anchors + 1);
    }
    trees_.EndEmit();
    return true;
  }

  TupleTrees& trees() { return trees_; }
  BatchWriter& writer() { return writer_; }
  std::deque<BufferSlice>& sent() { return sent_; }

 private:
  std::deque<BufferSlice> sent_;
  BatchWriter writer_;
  TupleTrees trees_;
};

// The anchors of each tuple of a batch.
std::vector<std::vector<Anchor>> AnchorsOf(const BufferSlice& frame, TaskId* destination) {
  auto batch = model::DecodeBatch(frame.view().substr(net::kFrameHeaderBytes));
  EXPECT_TRUE(batch.ok());
  *destination = batch->header.destination_task;
  std::vector<std::vector<Anchor>> all;
  model::AnchorContext context;
  const char* at = batch->payload.data();
  const char* const end = at + batch->payload.size();
  for (uint64_t i = 0; i < batch->header.tuple_count; ++i) {
    std::vector<Anchor> anchors;
    at = model::DecodeAnchors(at, end, batch->header.edge_base, i, context, anchors);
    EXPECT_NE(at, nullptr);
    ++at;
    all.push_back(anchors);
  }
  EXPECT_EQ(at, end);
  return all;
}

// Everything that the task acknowledges goes to the spouts.
void Acknowledge(Task& task, std::map<TaskId, Task*>& spouts) {
  std::vector<BufferSlice> frames;
  task.trees().acks().TakeFrames(frames);
  for (const BufferSlice& frame : frames) {
    auto acks = model::DecodeAckBatch(frame.view().substr(net::kFrameHeaderBytes));
    ASSERT_TRUE(acks.ok());
    spouts.at(acks->header.destination_task)->trees().Fold(*acks, kNow);
  }
}

class TupleTreesTest : public ::testing::Test {
 protected:
  // The only tuple that the spout sends for this id.
  std::vector<Anchor> Root(int64_t id) {
    const MessageId message(id);
    spout_.Emit({2}, {.id = &message});
    spout_.writer().CloseAll();
    TaskId destination = 0;
    auto tuples = AnchorsOf(spout_.sent().back(), &destination);
    return tuples.back();
  }
  // "acked 5", "failed 6".
  std::vector<std::string> Outcomes() {
    Acknowledge(bolt_, spouts_);
    std::vector<std::string> all;
    for (const auto& outcome : spout_.trees().roots().outcomes()) {
      all.push_back((outcome.acked ? "acked " : "failed ") + std::to_string(outcome.id.number()));
    }
    spout_.trees().roots().outcomes().clear();
    return all;
  }
  using Texts = std::vector<std::string>;

  Task spout_{1};
  Task bolt_{2};
  std::map<TaskId, Task*> spouts_{{1, &spout_}};
};

TEST_F(TupleTreesTest, AnExecutedTupleIsAcked) {
  bolt_.trees().BeginInput(Root(5));
  EXPECT_EQ(Outcomes(), Texts{});
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{"acked 5"});
}

TEST_F(TupleTreesTest, AFailedOneFails) {
  bolt_.trees().BeginInput(Root(5));
  bolt_.trees().FailInput();
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{"failed 5"});
  bolt_.trees().BeginInput(Root(6));
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{"acked 6"}) << "the next one does not";
}

TEST_F(TupleTreesTest, WhatItEmitsIsWaitedForUnlessUnanchored) {
  bolt_.trees().BeginInput(Root(5));
  bolt_.Emit({3});
  bolt_.Emit({3}, {.unanchored = true});
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{});
  bolt_.writer().CloseAll();
  TaskId destination = 0;
  const auto children = AnchorsOf(bolt_.sent().back(), &destination);
  ASSERT_EQ(children.size(), 2u);
  EXPECT_TRUE(children[1].empty());
  bolt_.trees().BeginInput(children[0]);
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{"acked 5"});
}

TEST_F(TupleTreesTest, AHeldOneIsSettledOnceAndLater) {
  bolt_.trees().BeginInput(Root(5));
  std::shared_ptr<Held> held = bolt_.trees().Hold();
  EXPECT_EQ(held, bolt_.trees().Hold()) << "holding it again is the same";
  EXPECT_EQ(bolt_.trees().held(), 1u);
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{});
  EXPECT_TRUE(held->Settle(true));
  EXPECT_EQ(Outcomes(), Texts{"acked 5"});
  EXPECT_FALSE(held->Settle(false));
  EXPECT_EQ(Outcomes(), Texts{});
  EXPECT_EQ(bolt_.trees().misuse().settled_twice, 1u);
}

TEST_F(TupleTreesTest, AForgottenOneFailsAtOnce) {
  bolt_.trees().BeginInput(Root(5));
  bolt_.trees().Hold();
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{"failed 5"});
  EXPECT_EQ(bolt_.trees().held(), 0u);
  EXPECT_EQ(bolt_.trees().misuse().forgotten, 1u);
}

TEST_F(TupleTreesTest, AJoinBelongsToAllItsInputs) {
  std::vector<std::shared_ptr<Held>> held;
  for (int64_t id : {5, 6, 7}) {
    bolt_.trees().BeginInput(Root(id));
    held.push_back(bolt_.trees().Hold());
    bolt_.trees().EndInput();
  }
  ASSERT_TRUE(bolt_.Emit({3}, {.has_anchors = true, .anchors = std::span(held).first(2)}));
  for (const auto& tuple : held) tuple->Settle(true);
  EXPECT_EQ(Outcomes(), Texts{"acked 7"});
  EXPECT_TRUE(bolt_.Emit({3}, {.has_anchors = true, .anchors = held}));
  EXPECT_EQ(bolt_.trees().misuse().anchored_to_settled, 3u);
  bolt_.writer().CloseAll();
  TaskId destination = 0;
  const auto children = AnchorsOf(bolt_.sent().back(), &destination);
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[0].size(), 2u);
  EXPECT_TRUE(children[1].empty());
  bolt_.trees().BeginInput(children[0]);
  bolt_.trees().FailInput();
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), (Texts{"failed 5", "failed 6"}));
}

TEST_F(TupleTreesTest, TwoInputsOfOneRoot) {
  const MessageId id(5);
  spout_.Emit({2, 2}, {.id = &id});
  spout_.writer().CloseAll();
  TaskId destination = 0;
  const auto copies = AnchorsOf(spout_.sent().back(), &destination);
  ASSERT_EQ(copies.size(), 2u);
  std::vector<std::shared_ptr<Held>> held;
  for (const auto& copy : copies) {
    bolt_.trees().BeginInput(copy);
    held.push_back(bolt_.trees().Hold());
    bolt_.trees().EndInput();
  }
  bolt_.Emit({3}, {.has_anchors = true, .anchors = held});
  for (const auto& tuple : held) tuple->Settle(true);
  EXPECT_EQ(Outcomes(), Texts{});
  bolt_.writer().CloseAll();
  const auto children = AnchorsOf(bolt_.sent().back(), &destination);
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(children[0].size(), 1u);
  bolt_.trees().BeginInput(children[0]);
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{"acked 5"});
}

TEST_F(TupleTreesTest, WhatCannotBeSentFails) {
  const MessageId id(5);
  spout_.trees().EmitImpossible({.id = &id}, kNow);
  EXPECT_EQ(Outcomes(), Texts{"failed 5"});
  bolt_.trees().BeginInput(Root(6));
  bolt_.trees().EmitImpossible({}, kNow);
  bolt_.trees().EndInput();
  EXPECT_EQ(Outcomes(), Texts{"failed 6"});
}

TEST_F(TupleTreesTest, MoreRootsThanATupleCanHaveAreRefused) {
  std::vector<std::shared_ptr<Held>> held;
  for (size_t i = 0; i <= model::kMaxAnchors; ++i) {
    bolt_.trees().BeginInput(Root(static_cast<int64_t>(i)));
    held.push_back(bolt_.trees().Hold());
    bolt_.trees().EndInput();
  }
  EXPECT_FALSE(bolt_.Emit({3}, {.has_anchors = true, .anchors = held}));
  EXPECT_TRUE(bolt_.Emit({3}, {.has_anchors = true, .anchors = std::span(held).subspan(1)}));
}

// Two spouts, layers of bolts that copy, join, hold, drop and fail at random: every root ends once,
// and as failed exactly if something of it failed.
TEST_F(TupleTreesTest, RandomTreesEndOnce) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    Task a(1), b(2), c(3), d(4), e(5);
    std::map<TaskId, Task*> spouts{{1, &a}, {2, &b}};
    std::map<TaskId, Task*> bolts{{3, &c}, {4, &d}, {5, &e}};
    const std::map<TaskId, std::vector<TaskId>> next = {
        {1, {3, 4}}, {2, {4}}, {3, {4, 5, 5}}, {4, {5}}};
    std::map<std::pair<TaskId, uint64_t>, bool> failed;  // by root
    std::map<TaskId, std::vector<std::pair<std::shared_ptr<Held>, std::vector<Anchor>>>> held;
    const auto note_failed = [&](const std::vector<Anchor>& anchors) {
      for (const Anchor& anchor : anchors) failed[{anchor.root.task, anchor.root.sequence}] = true;
    };
    const int roots = 200;
    for (int i = 0; i < roots; ++i) {
      Task& spout = i % 2 == 0 ? a : b;
      const MessageId id(i);
      spout.Emit(next.at(i % 2 == 0 ? 1 : 2), {.id = &id});
    }
    a.writer().CloseAll();
    b.writer().CloseAll();
    std::vector<Task*> all = {&a, &b, &c, &d, &e};
    for (bool more = true; more;) {
      more = false;
      for (Task* from : all) {
        while (!from->sent().empty()) {
          more = true;
          const BufferSlice frame = from->sent().front();
          from->sent().pop_front();
          TaskId to = 0;
          const auto tuples = AnchorsOf(frame, &to);
          Task& bolt = *bolts.at(to);
          for (const auto& anchors : tuples) {
            bolt.trees().BeginInput(anchors);
            if (to != 5 && random() % 4 != 0) bolt.Emit(next.at(to));
            const unsigned what = random() % 16;
            if (what == 0) {
              bolt.trees().FailInput();
              note_failed(anchors);
            } else if (what < 4) {
              held[to].emplace_back(bolt.trees().Hold(), anchors);
            }
            bolt.trees().EndInput();
          }
          auto& kept = held[to];
          if (kept.size() > 3 && to != 5) {
            std::vector<std::shared_ptr<Held>> inputs;
            for (auto& [handle, anchors] : kept) inputs.push_back(handle);
            bolt.Emit(next.at(to), {.has_anchors = true, .anchors = inputs});
          }
          for (auto& [handle, anchors] : kept) {
            const bool ack = random() % 8 != 0;
            if (!ack) note_failed(anchors);
            handle->Settle(ack);
          }
          kept.clear();
          bolt.writer().CloseAll();
          Acknowledge(bolt, spouts);
        }
      }
    }
    int ended = 0;
    for (Task* spout : {&a, &b}) {
      EXPECT_EQ(spout->trees().roots().pending(), 0u) << "seed " << seed;
      for (const auto& outcome : spout->trees().roots().outcomes()) {
        ++ended;
        const TaskId task = spout == &a ? 1 : 2;
        const uint64_t sequence = static_cast<uint64_t>(outcome.id.number()) / 2;
        EXPECT_EQ(outcome.acked, !failed[std::make_pair(task, sequence)])
            << "seed " << seed << " root " << outcome.id;
      }
    }
    EXPECT_EQ(ended, roots) << "seed " << seed;
  }
}

}  // namespace
}  // namespace heron::instance
