// At-least-once on the task thread (heron/docs/acking.md): which anchors an emitted tuple gets,
// what an executed one acknowledges, and of a spout the roots that are pending.
//
// Thread: the task's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heron/api/internal/emitter.h"
#include "heron/base/clock.h"
#include "heron/base/ids.h"
#include "heron/instance/ack/ack_collector.h"
#include "heron/instance/ack/pending_roots.h"
#include "heron/instance/task/batch_writer.h"
#include "heron/model/ack_batch.h"
#include "heron/model/anchors.h"

namespace heron::instance {

class TupleTrees {
 public:
  struct Options {
    TaskId task = 0;
    Epoch epoch;
    Duration timeout = std::chrono::seconds(30);
  };
  // What should not happen, and was not done.
  struct Misuse {
    uint64_t settled_twice = 0;  // acks and fails of a tuple that was settled
    uint64_t anchored_to_settled = 0;
    uint64_t forgotten = 0;  // held tuples that went unsettled; they failed
  };

  // `writer` must outlive it.
  TupleTrees(const Options& options, BatchWriter* writer);
  ~TupleTrees();
  TupleTrees(const TupleTrees&) = delete;
  TupleTrees& operator=(const TupleTrees&) = delete;

  // A bolt's tuple, around Execute.
  void BeginInput(const std::vector<model::Anchor>& anchors);
  void EndInput();  // acknowledges it, or fails it, unless it is held
  std::shared_ptr<heron::internal::Held> Hold();
  void FailInput() { failed_ = true; }

  // An emit: BeginEmit, then for each copy AnchorRoom, BatchWriter::Reserve, WriteAnchors, then
  // EndEmit. False: it has more roots than a tuple can have; nothing was begun.
  bool BeginEmit(const heron::internal::EmitOptions& options, MonotonicTime now);
  size_t AnchorRoom() const;
  size_t WriteAnchors(char* out);  // the bytes written
  void EndEmit();
  // In place of all this: it can go nowhere. What it belongs to fails.
  void EmitImpossible(const heron::internal::EmitOptions& options, MonotonicTime now);

  AckCollector& acks() { return acks_; }

  // Of a spout.
  PendingRoots& roots() { return roots_; }
  // Acks of an earlier life are not looked at.
  void Fold(const model::AckView& acks, MonotonicTime now);

  // Tuples that are held and not settled.
  uint64_t held() const { return held_count_; }
  const Misuse& misuse() const { return misuse_; }

 private:
  class HeldInput;
  struct Input {
    std::vector<model::Anchor> anchors;
    uint64_t children = 0;  // XOR of the edges of what was emitted for it
  };
  enum class Kind { kNone, kRoot, kOneAnchor, kSeveral };

  void Settle(const Input& input, bool acked);
  bool Gather(const heron::internal::EmitOptions& options);
  size_t WriteSeveral(char* out);

  BatchWriter* const writer_;
  AckCollector acks_;
  PendingRoots roots_;
  const TaskId task_;
  const uint32_t life_;
  Misuse misuse_;
  uint64_t held_count_ = 0;

  // The tuple that is executed.
  Input own_;
  Input* current_ = nullptr;  // own_, or that of held_
  std::shared_ptr<HeldInput> held_;
  bool failed_ = false;

  // The emit at hand.
  Kind kind_ = Kind::kNone;
  model::RootId root_;
  std::vector<Input*> inputs_;
  std::vector<model::Anchor> merged_;  // distinct roots of kSeveral

  // Held tuples may outlive this object.
  std::shared_ptr<TupleTrees*> self_;
};

}  // namespace heron::instance
