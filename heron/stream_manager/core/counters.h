// What a stream manager's core counts about itself, for logs and metrics. Plain numbers, read by the owner's thread.
#pragma once

#include <cstdint>

namespace heron::stream_manager {

struct Counters {
  uint64_t frames_forwarded = 0;
  uint64_t bytes_forwarded = 0;
  uint64_t stops = 0;                   // how often a local task became stopped
  uint64_t stale_master_updates = 0;    // of a lower mastership epoch
  uint64_t foreign_master_updates = 0;  // of another topology id
  uint64_t bad_master_updates = 0;      // plan and topology that do not fit
  uint64_t older_plans = 0;             // a plan version below the known one
  uint64_t malformed_frames = 0;        // bodies that could not be read
  uint64_t unknown_frames = 0;          // message types that have no business in their lane
  uint64_t forged_frames = 0;           // claim to come from somebody other than the session's peer
  uint64_t misrouted_frames = 0;        // from a stream manager for a task that is not in this container
  uint64_t unknown_destinations = 0;    // the plan has no such task
  uint64_t overflow_frames = 0;         // beyond the hard cap; only when a peer ignores a stopped task
  uint64_t dropped_frames = 0;          // the destination was down for too long
  uint64_t dropped_confirmations = 0;   // repeated by their origin: Ended is re-sent until confirmed
  uint64_t dropped_acks = 0;            // to a spout that is away, or does not read
  uint64_t stale_task_states = 0;
  uint64_t skipped_updates = 0;         // state not sent as the control lane was full; the next one heals it
};

}  // namespace heron::stream_manager
