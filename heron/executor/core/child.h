// One process of a container as the executor's core sees it: which one, in which life, in which
// phase.
//
// Thread: the executor's loop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/ids.h"
#include "heron/base/restart_backoff.h"
#include "proto/container.pb.h"
#include "proto/handshake.pb.h"
#include "proto/master.pb.h"
#include "proto/plan.pb.h"

namespace heron::executor {

// Which process; there is never more than one of each alive.
struct ChildKey {
  proto::Role role = proto::ROLE_UNSPECIFIED;  // TOPOLOGY_MASTER, STREAM_MANAGER or INSTANCE
  TaskId task = 0;                             // of an instance

  friend auto operator<=>(const ChildKey&, const ChildKey&) = default;
};

// "instance", "stream-manager", "topology-master": as in ProcessFailure.process.
const char* ProcessName(proto::Role role);
// "instance 7", "stream-manager".
std::string ToString(const ChildKey& key);

// How a child ended, as the process table said; its process group is gone.
struct ChildEnd {
  int exit_code = -1;  // -1 when killed by a signal or never started
  int signal = 0;
  std::string description;  // "killed by signal 9 (Killed)", "cannot execute /a/b: ..."
  std::string last_output;  // the last lines of its log, joined by " | "
  int64_t at_unix_ms = 0;   // for people
};

struct Child {
  enum class Phase {
    kWaiting,  // to be started at `due`
    kRunning,
    kStopping,  // SIGTERM was sent; SIGKILL at `due`
    kKilled,    // SIGKILL was sent
  };

  ChildKey key;
  proto::PlannedTask task;  // of an instance
  Phase phase = Phase::kWaiting;
  std::optional<MonotonicTime> due;
  bool wanted = true;       // false: to be forgotten when it has ended
  bool restarting = false;  // stopped on purpose, for a new epoch: its end is no failure
  Epoch epoch;              // of the present life, of the last one while it waits
  bool ever_started = false;
  int64_t pid = 0;
  MonotonicTime started_at{};
  RestartBackoff backoff;
  uint32_t restarts = 0;           // after the first start of this incarnation
  uint32_t failures_in_a_row = 0;  // without progress
  proto::ChildReport report;       // the latest of this life

  bool alive() const { return phase != Phase::kWaiting; }
};

// What goes into a report about it.
void WriteState(const Child& child, proto::ChildState* out);

}  // namespace heron::executor
