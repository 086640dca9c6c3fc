// A tuple that a bolt answers for later than at the end of Execute: ctx.Hold(in) gives it, Ack or
// Fail settles it. Copies are the same tuple; the first of them that settles it counts, further
// calls are counted and shown. If the last copy goes unsettled the tuple fails: it is not forgotten
// until the timeout.
//
// Where the topology does not track tuples (topology.reliability.mode) all of it does nothing.
// Thread: the task's.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heron/api/internal/emitter.h"

namespace heron {

class HeldTuple {
 public:
  HeldTuple() = default;  // nothing: Ack and Fail do nothing
  explicit HeldTuple(std::shared_ptr<internal::Held> held) : held_(std::move(held)) {}

  void Ack() {
    if (held_ != nullptr) held_->Settle(true);
  }
  void Fail() {
    if (held_ != nullptr) held_->Settle(false);
  }

 private:
  friend class Anchors;
  std::shared_ptr<internal::Held> held_;
};

// The held tuples that an emitted one comes of: out.Emit(heron::Anchors{left, right}, values...).
// It is part of the trees of all of them: if it fails, or what comes of it, they all do.
class Anchors {
 public:
  Anchors(std::initializer_list<HeldTuple> tuples) {
    for (const HeldTuple& tuple : tuples) Add(tuple);
  }
  explicit Anchors(const std::vector<HeldTuple>& tuples) {
    for (const HeldTuple& tuple : tuples) Add(tuple);
  }

  std::span<const std::shared_ptr<internal::Held>> held() const { return held_; }

 private:
  void Add(const HeldTuple& tuple) {
    if (tuple.held_ != nullptr) held_.push_back(tuple.held_);
  }
  std::vector<std::shared_ptr<internal::Held>> held_;
};

}  // namespace heron
