// The failures of a container's processes that the topology master is not known to have stored:
// numbered from 1, kept until acknowledged, and repeated in every report. Holds at most
// kMaxFailures; the oldest is forgotten for a newer one.
//
// Thread: the executor's loop.
#pragma once

#include <cstdint>
#include <deque>

#include "proto/master.pb.h"
#include "proto/state.pb.h"

namespace heron::executor {

class FailureLog {
 public:
  static constexpr size_t kMaxFailures = 256;

  void Add(proto::ProcessFailure failure) {
    failure.set_number(++last_number_);
    failures_.push_back(std::move(failure));
    if (failures_.size() > kMaxFailures) {
      failures_.pop_front();
      ++forgotten_;
    }
  }

  // An acknowledgement of a number that was never given is of another executor and ignored.
  void Acknowledge(uint64_t number) {
    if (number > last_number_) return;
    while (!failures_.empty() && failures_.front().number() <= number) failures_.pop_front();
  }

  void WriteTo(proto::ExecutorReport* report) const {
    for (const proto::ProcessFailure& failure : failures_) *report->add_failures() = failure;
  }

  size_t size() const { return failures_.size(); }
  uint64_t forgotten() const { return forgotten_; }

 private:
  std::deque<proto::ProcessFailure> failures_;
  uint64_t last_number_ = 0;
  uint64_t forgotten_ = 0;
};

}  // namespace heron::executor
