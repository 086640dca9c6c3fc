// What a contender for a counted lease decides. No I/O, no clock, no threads: it is told what was
// read and written and when, and says what to do next. proto/state.proto has the record.
//
// Why it is safe: a holder counts as such until (start of its last successful renewal + lease -
// margin) by its own clock. A contender takes over when it has seen the record unchanged for a
// whole lease by its own clock, and it cannot have seen it before the renewal started. What remains
// is a holder that was stopped between a check and a write: the write is conditional on a version
// (the lease's own, or the version of the node it writes), so it fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "proto/state.pb.h"

namespace heron::state {

class LeaseCore {
 public:
  struct Options {
    std::string holder;  // random, one per LeaseCore
    std::string payload;
    Duration lease;
  };

  enum class Do { kWait, kRead, kCreate, kSet };
  struct Step {
    Do what = Do::kWait;
    MonotonicTime wait_until{};    // kWait
    std::string value;             // kCreate, kSet: a serialized proto::Lease
    int64_t expected_version = 0;  // kSet
  };

  explicit LeaseCore(Options options);

  // What to do now. After kRead, kCreate and kSet call the matching On... before the next call;
  // kWait asks again at the time it names, or earlier.
  Step Next(MonotonicTime now);

  // `started` is the time just before the call to the store was made, `now` the time after it.
  void OnRead(MonotonicTime now, const Result<std::string>& value, int64_t version);
  void OnWritten(MonotonicTime started, MonotonicTime now, const Result<int64_t>& version);

  // Call with the current time whenever it passes; loses the lease when it ran out. To be asked
  // before acting as holder.
  bool Held(MonotonicTime now);
  MonotonicTime valid_until() const { return valid_until_; }
  uint64_t epoch() const { return epoch_; }  // of the last gain

  // Written with the next renewal, which is due at once.
  void SetPayload(std::string payload);

  // The last write of a holder that goes: kSet, or kWait when there is nothing to release.
  Step Release(MonotonicTime now);

 private:
  enum class Writing { kNothing, kGain, kRenewal };

  Step Write(MonotonicTime now, Writing writing);
  void Seen(MonotonicTime now, const proto::Lease& record, int64_t version);
  void Gained(MonotonicTime started, MonotonicTime now);

  Options options_;
  Duration margin_;
  Duration poll_;

  bool held_ = false;
  MonotonicTime valid_until_{};
  MonotonicTime next_renewal_{};
  uint64_t epoch_ = 0;

  // The last record seen, and since when it has not changed. version 0 and no record: the node does
  // not exist.
  std::optional<proto::Lease> record_;
  int64_t version_ = 0;
  bool know_ = false;  // what is there was read, or written, since the last failure
  MonotonicTime unchanged_since_{};
  MonotonicTime last_read_{};
  MonotonicTime next_read_{};
  uint64_t highest_epoch_ = 0;  // ever seen

  // The write that was asked for, kept until its fate is known: an answer may be lost.
  Writing writing_ = Writing::kNothing;
  proto::Lease written_;
  MonotonicTime write_started_{};
  bool fate_unknown_ = false;
};

}  // namespace heron::state
