// The tuples of a spout task that are under way: a ring by sequence, so that an update costs an
// index and a comparison. What becomes of a root is said exactly once, whatever comes in whatever
// order.
//
// The ring's span is not the number of roots: where a few old ones hold up its head, they move into
// a small table and the ring goes on (never more of them than there are roots pending).
//
// Sequence order is emission order, so what is overdue is found at the head. Plain object; the
// task's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "heron/api/message_id.h"
#include "heron/base/clock.h"

namespace heron::instance {

class PendingRoots {
 public:
  struct Outcome {
    MessageId id;
    bool acked = false;
    FailReason why = FailReason::kFailed;  // of one that failed
    Duration latency{};
  };

  static constexpr size_t kFirstSlots = 1024;
  static constexpr size_t kMostSlots = 1u << 21;

  // `most_slots` is rounded up to a power of two.
  explicit PendingRoots(Duration timeout, size_t most_slots = kMostSlots);

  // A new root: Begin, AddEdge for each delivered copy, End. Until End it is not looked at, even if
  // the copies that left already are acknowledged.
  uint64_t Begin(MessageId id, MonotonicTime now);
  void AddEdge(uint64_t edge);
  void End();
  // In place of End: it went nowhere.
  void Abandon();
  // In place of End: a copy of it cannot be delivered.
  void EndFailed();

  // The time of what follows, for latencies.
  void SetNow(MonotonicTime now) { now_ = now; }
  // Of any sequence; those that are not pending are counted.
  void Update(uint64_t sequence, uint64_t edges);
  void Fail(uint64_t sequence, FailReason why = FailReason::kFailed);

  // Something on the way of all that is pending now was lost: they have until `deadline` at the
  // latest.
  void ExpectLossBy(MonotonicTime deadline);
  // Fails what is overdue.
  void Expire(MonotonicTime now);
  std::optional<MonotonicTime> NextExpiry() const;

  size_t pending() const { return live_; }
  uint64_t late() const { return late_; }  // updates for roots that were not pending
  // What became of roots since the last call, in the order in which it happened.
  std::vector<Outcome>& outcomes() { return outcomes_; }

 private:
  static constexpr uint64_t kNoSequence = UINT64_MAX;

  struct Root {
    uint64_t sequence = kNoSequence;  // none: the slot is free
    uint64_t edges = 0;
    MonotonicTime emitted{};
    MessageId id;
  };

  Root& SlotOf(uint64_t sequence) { return ring_[sequence & (ring_.size() - 1)]; }
  Root* Find(uint64_t sequence);
  void MakeRoom();
  void Grow();
  void Finish(Root& root, bool acked, FailReason why);
  void Free(Root& root);
  void SkipFree();
  std::optional<MonotonicTime> DeadlineOf(const Root& root) const;

  const Duration timeout_;
  const size_t most_slots_;
  std::vector<Root> ring_;
  uint64_t head_ = 0;  // the oldest that may be in the ring
  uint64_t next_ = 0;
  std::map<uint64_t, Root> laggards_;
  size_t live_ = 0;
  uint64_t open_ = kNoSequence;  // between Begin and End
  bool open_failed_ = false;
  FailReason open_why_ = FailReason::kFailed;
  MonotonicTime now_{};
  // Roots before this sequence have until this time.
  uint64_t loss_before_ = 0;
  MonotonicTime loss_deadline_{};
  uint64_t late_ = 0;
  std::vector<Outcome> outcomes_;
};

}  // namespace heron::instance
