#include "heron/instance/ack/pending_roots.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace heron::instance {

PendingRoots::PendingRoots(Duration timeout, size_t most_slots)
    : timeout_(timeout),
      most_slots_(std::bit_ceil(std::max<size_t>(most_slots, 2))),
      ring_(std::min(kFirstSlots, most_slots_)) {}

uint64_t PendingRoots::Begin(MessageId id, MonotonicTime now) {
  now_ = now;
  if (next_ - head_ == ring_.size()) MakeRoom();
  open_ = next_++;
  open_failed_ = false;
  Root& root = SlotOf(open_);
  root.sequence = open_;
  root.edges = 0;
  root.emitted = now;
  root.id = std::move(id);
  ++live_;
  return open_;
}

void PendingRoots::AddEdge(uint64_t edge) { SlotOf(open_).edges ^= edge; }

void PendingRoots::End() {
  Root& root = SlotOf(std::exchange(open_, kNoSequence));
  if (open_failed_) {
    Finish(root, false, open_why_);
  } else if (root.edges == 0) {
    Finish(root, true, FailReason::kFailed);
  }
}

void PendingRoots::Abandon() { Free(SlotOf(std::exchange(open_, kNoSequence))); }

void PendingRoots::EndFailed() {
  Finish(SlotOf(std::exchange(open_, kNoSequence)), false, FailReason::kFailed);
}

PendingRoots::Root* PendingRoots::Find(uint64_t sequence) {
  Root& slot = SlotOf(sequence);
  if (slot.sequence == sequence && sequence != kNoSequence) return &slot;
  if (laggards_.empty()) return nullptr;
  auto it = laggards_.find(sequence);
  return it == laggards_.end() ? nullptr : &it->second;
}

void PendingRoots::Update(uint64_t sequence, uint64_t edges) {
  Root* root = Find(sequence);
  if (root == nullptr) {
    ++late_;
    return;
  }
  root->edges ^= edges;
  if (root->edges == 0 && sequence != open_) Finish(*root, true, FailReason::kFailed);
}

void PendingRoots::Fail(uint64_t sequence, FailReason why) {
  Root* root = Find(sequence);
  if (root == nullptr) {
    ++late_;
    return;
  }
  if (sequence == open_) {
    open_failed_ = true;
    open_why_ = why;
    return;
  }
  Finish(*root, false, why);
}

void PendingRoots::Finish(Root& root, bool acked, FailReason why) {
  outcomes_.push_back(
      {.id = std::move(root.id), .acked = acked, .why = why, .latency = now_ - root.emitted});
  Free(root);
}

void PendingRoots::Free(Root& root) {
  --live_;
  const uint64_t sequence = std::exchange(root.sequence, kNoSequence);
  root.id = MessageId();
  if (sequence < head_) laggards_.erase(sequence);
  SkipFree();
}

void PendingRoots::SkipFree() {
  while (head_ != next_ && SlotOf(head_).sequence != head_) ++head_;
}

void PendingRoots::MakeRoom() {
  if (ring_.size() < most_slots_ && live_ - laggards_.size() > ring_.size() / 2) {
    Grow();
    return;
  }
  // The head is held up by few, or there is no more memory to be had: an eighth of the ring at a
  // time.
  const uint64_t until = head_ + std::max<size_t>(ring_.size() / 8, 1);
  for (; head_ != until; ++head_) {
    Root& slot = SlotOf(head_);
    if (slot.sequence != head_) continue;
    laggards_.emplace(head_, std::move(slot));
    slot = Root();
  }
  SkipFree();
}

void PendingRoots::Grow() {
  std::vector<Root> larger(ring_.size() * 2);
  for (uint64_t sequence = head_; sequence != next_; ++sequence) {
    larger[sequence & (larger.size() - 1)] = std::move(SlotOf(sequence));
  }
  ring_ = std::move(larger);
}

void PendingRoots::ExpectLossBy(MonotonicTime deadline) {
  // An earlier deadline still stands for those that it was for: the later loss may name them too,
  // but gives them no more time.
  if (loss_before_ > 0 && !laggards_.empty() && laggards_.begin()->first < loss_before_) {
    deadline = std::min(deadline, loss_deadline_);
  } else if (head_ < loss_before_) {
    deadline = std::min(deadline, loss_deadline_);
  }
  loss_before_ = next_;
  loss_deadline_ = deadline;
}

std::optional<MonotonicTime> PendingRoots::DeadlineOf(const Root& root) const {
  const MonotonicTime timeout = root.emitted + timeout_;
  return root.sequence < loss_before_ ? std::min(timeout, loss_deadline_) : timeout;
}

void PendingRoots::Expire(MonotonicTime now) {
  now_ = now;
  const auto overdue = [&](Root& root) {
    if (root.sequence == open_ || *DeadlineOf(root) > now) return false;
    Finish(root, false, root.emitted + timeout_ <= now ? FailReason::kTimeout : FailReason::kLost);
    return true;
  };
  while (!laggards_.empty() && overdue(laggards_.begin()->second)) {
  }
  while (head_ != next_ && overdue(SlotOf(head_))) {
  }
}

std::optional<MonotonicTime> PendingRoots::NextExpiry() const {
  if (!laggards_.empty()) return DeadlineOf(laggards_.begin()->second);
  if (head_ == next_) return std::nullopt;
  return DeadlineOf(ring_[head_ & (ring_.size() - 1)]);
}

}  // namespace heron::instance
