// A bounded queue between two threads: one pushes, one pops. Items have a weight in bytes; the queue is full when it
// holds a soft limit of bytes (an item heavier than the limit is taken by an empty queue) or when its ring of slots is
// full.
//
// The soft limit adapts between stated bounds: it doubles when the consumer ran dry although the producer had been
// refused before (the queue was too short to bridge the producer's way back), and shrinks by an eighth when the producer
// was refused many times without the consumer ever running dry (the queue only stands long and adds latency).
//
// Neither side blocks here. A side that wants to sleep arms its Wake, looks again, and sleeps; the other side wakes it:
// the consumer with each push, the producer once half of the limit is free (so that it comes back for more than one item).
//
// Thread: methods say which side may call them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "heron/base/wake.h"

namespace heron {

struct SpscQueueLimits {
  size_t slots = 1024;               // rounded up to a power of two
  size_t min_bytes = 64u << 10;      // the soft limit stays between these two
  size_t max_bytes = 4u << 20;
  size_t initial_bytes = 256u << 10;
};

template <typename T>
class SpscQueue {
 public:
  // The wakes may be null (that side never sleeps) and must outlive the queue.
  SpscQueue(SpscQueueLimits limits, Wake* consumer, Wake* producer)
      : limits_(limits),
        mask_(std::bit_ceil(std::max<size_t>(limits.slots, 2)) - 1),
        ring_(std::make_unique<Slot[]>(mask_ + 1)),
        consumer_wake_(consumer),
        producer_wake_(producer),
        limit_bytes_(std::clamp(limits.initial_bytes, limits.min_bytes, limits.max_bytes)) {}
  SpscQueue(const SpscQueue&) = delete;
  SpscQueue& operator=(const SpscQueue&) = delete;

  // Producer. Whether a push would be taken now.
  bool HasRoom() {
    uint64_t popped = popped_.load(std::memory_order_seq_cst);
    if (tail_ - popped > mask_) return false;
    size_t queued = pushed_bytes_local_ - popped_bytes_.load(std::memory_order_relaxed);
    return tail_ == popped || queued < limit_bytes_.load(std::memory_order_relaxed);
  }

  // Producer. Takes `item` only if it returns true. A weight of 0 needs a free slot and no bytes.
  bool TryPush(T& item, size_t weight) {
    Adapt();
    uint64_t popped = popped_.load(std::memory_order_seq_cst);
    bool fits = tail_ - popped <= mask_;
    if (fits && weight > 0 && tail_ != popped) {
      size_t queued = pushed_bytes_local_ - popped_bytes_.load(std::memory_order_relaxed);
      fits = queued < limit_bytes_.load(std::memory_order_relaxed);
    }
    if (!fits) {
      Refused();
      return false;
    }
    Slot& slot = ring_[tail_ & mask_];
    slot.item = std::move(item);
    slot.weight = weight;
    pushed_bytes_local_ += weight;
    pushed_bytes_.store(pushed_bytes_local_, std::memory_order_relaxed);
    ++tail_;
    pushed_.store(tail_, std::memory_order_seq_cst);
    if (consumer_wake_ != nullptr) consumer_wake_->Notify();
    return true;
  }
  bool TryPush(T&& item, size_t weight) { return TryPush(item, weight); }

  // Consumer.
  bool Empty() const { return head_ == pushed_.load(std::memory_order_seq_cst); }

  // Consumer. Nothing if empty.
  std::optional<T> TryPop() {
    if (Empty()) {
      if (!counted_dry_) {
        counted_dry_ = true;
        dry_.fetch_add(1, std::memory_order_relaxed);
      }
      return std::nullopt;
    }
    counted_dry_ = false;
    Slot& slot = ring_[head_ & mask_];
    std::optional<T> item(std::move(slot.item));
    slot.item = T();  // what a moved-from item may still hold is released here, not a lap later
    popped_bytes_local_ += slot.weight;
    popped_bytes_.store(popped_bytes_local_, std::memory_order_relaxed);
    ++head_;
    popped_.store(head_, std::memory_order_seq_cst);
    if (producer_wake_ != nullptr &&
        QueuedBytes() <= limit_bytes_.load(std::memory_order_relaxed) / 2) {
      producer_wake_->Notify();
    }
    return item;
  }

  // Any thread; exact for neither side while the other works, never below zero.
  size_t QueuedBytes() const {
    size_t popped = popped_bytes_.load(std::memory_order_relaxed);
    size_t pushed = pushed_bytes_.load(std::memory_order_relaxed);
    return pushed > popped ? pushed - popped : 0;
  }
  size_t QueuedItems() const {
    uint64_t popped = popped_.load(std::memory_order_relaxed);
    uint64_t pushed = pushed_.load(std::memory_order_relaxed);
    return pushed > popped ? static_cast<size_t>(pushed - popped) : 0;
  }
  // Any thread. The soft limit of now.
  size_t LimitBytes() const { return limit_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    T item{};
    size_t weight = 0;
  };
  // Refusals in a row, without a dry consumer, that mean "stands long".
  static constexpr int kRefusalsBeforeShrinking = 64;

  void Adapt() {
    uint64_t dry = dry_.load(std::memory_order_relaxed);
    if (dry == seen_dry_) return;
    seen_dry_ = dry;
    if (refusals_ > 0) {
      SetLimit(limit_bytes_.load(std::memory_order_relaxed) * 2);
    }
    refusals_ = 0;
    refused_now_ = false;
  }
  void Refused() {
    // A producer that asks again and again while it waits has been refused once.
    uint64_t popped = popped_.load(std::memory_order_relaxed);
    if (refused_now_ && popped == refused_at_) return;
    refused_now_ = true;
    refused_at_ = popped;
    if (++refusals_ < kRefusalsBeforeShrinking) return;
    refusals_ = 1;
    size_t limit = limit_bytes_.load(std::memory_order_relaxed);
    SetLimit(limit - limit / 8);
  }
  void SetLimit(size_t bytes) {
    limit_bytes_.store(std::clamp(bytes, limits_.min_bytes, limits_.max_bytes),
                       std::memory_order_relaxed);
  }

  const SpscQueueLimits limits_;
  const size_t mask_;
  const std::unique_ptr<Slot[]> ring_;
  Wake* const consumer_wake_;
  Wake* const producer_wake_;

  // Written by the producer.
  alignas(64) std::atomic<uint64_t> pushed_{0};
  std::atomic<size_t> pushed_bytes_{0};
  std::atomic<size_t> limit_bytes_;
  uint64_t tail_ = 0;
  size_t pushed_bytes_local_ = 0;
  uint64_t seen_dry_ = 0;
  int refusals_ = 0;
  bool refused_now_ = false;
  uint64_t refused_at_ = 0;

  // Written by the consumer.
  alignas(64) std::atomic<uint64_t> popped_{0};
  std::atomic<size_t> popped_bytes_{0};
  std::atomic<uint64_t> dry_{0};
  uint64_t head_ = 0;
  size_t popped_bytes_local_ = 0;
  bool counted_dry_ = true;  // an empty queue at the start is no news
};

}  // namespace heron
