// What users write. One object per task, in a process of its own; every call comes on that task's
// thread. An exception that leaves a call is shown with component and task, and restarts the task
// (heron::Unrecoverable fails the topology).
#pragma once

#include <chrono>
#include <cstdint>

#include "heron/api/context.h"
#include "heron/api/message_id.h"
#include "heron/api/tuple.h"

namespace heron {

// What a spout knows about its next tuple.
class Next {
 public:
  enum class Kind { kMore, kIdle, kWaiting, kEnded };

  static Next More() { return Next(Kind::kMore, {}); }  // call again at once
  // Nothing now; call again after this time, or when woken.
  static Next Idle(std::chrono::nanoseconds time) { return Next(Kind::kIdle, time); }
  static Next Waiting() { return Next(Kind::kWaiting, {}); }  // until ctx.Waker() is called
  // Do not call again, except after a Fail.
  static Next Ended() { return Next(Kind::kEnded, {}); }

  Kind kind() const { return kind_; }
  std::chrono::nanoseconds idle_time() const { return idle_time_; }

 private:
  Next(Kind kind, std::chrono::nanoseconds time) : kind_(kind), idle_time_(time) {}
  Kind kind_;
  std::chrono::nanoseconds idle_time_;
};

// A source. Open, then Activate, NextTuple... until Ended or the end of the topology, then Close.
// Between Deactivate and Activate NextTuple is not called.
class Spout {
 public:
  virtual ~Spout() = default;
  virtual void Open(SpoutContext&) {}
  // Emits one tuple, or a few, or none.
  virtual Next NextTuple() = 0;
  // What became of a tuple that was emitted with a MessageId, once for each such emit, between two
  // calls of NextTuple. Ack: it and all that came of it was executed. Fail: that is not known;
  // emitting it again, with any id, is at-least-once delivery. A spout that has said Ended is asked
  // for tuples again after a Fail, until it says Ended again and none is pending.
  virtual void Ack(const MessageId&) {}
  virtual void Fail(const MessageId&, FailReason) {}
  virtual void Activate() {}
  virtual void Deactivate() {}
  virtual void Close() {}  // not called when the process is killed
};

// What a tick says. Both begin anew when the task restarts.
struct TickInfo {
  int64_t number = 0;                         // of ticks given so far, from 1
  std::chrono::nanoseconds since_previous{};  // of the first: since Prepare returned
};

// An operator. Prepare, Execute..., Finish once when every input has ended, then Cleanup.
class Bolt {
 public:
  virtual ~Bolt() = default;
  virtual void Prepare(BoltContext&) {}
  // `in` is valid until Execute returns.
  virtual void Execute(const Tuple& in) = 0;
  // Comes as often as BoltHandle::Tick asked for: after Prepare and before Finish, between two
  // tuples or while there are none, also while the topology is deactivated (what was sent before
  // is still executed then). May emit. A tick is late while Execute runs or an emit waits for room;
  // what was missed is not made up for by a burst, since_previous tells.
  virtual void Tick(TickInfo) {}
  // Every input has ended. May emit; what it emits is delivered before the topology counts as
  // finished.
  virtual void Finish() {}
  virtual void Cleanup() {}  // not called when the process is killed
};

}  // namespace heron
