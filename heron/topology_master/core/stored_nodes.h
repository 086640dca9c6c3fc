// The master's nodes in the state store as last read or written, and the rules for changing them:
// everything is read before the first write; at most one write per node is under way; a write that
// lost, or whose answer is an error (it may have happened), makes everything be read again.
//
// Thread: the master's event loop.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/topology_master/core/effects.h"

namespace heron::topology_master {

class StoredNodes {
 public:
  static constexpr Duration kFirstRetryDelay = std::chrono::milliseconds(100);
  static constexpr Duration kMaxRetryDelay = std::chrono::seconds(2);
  // An answer to a read that takes longer is not waited for: everything is read again.
  static constexpr Duration kReadTimeout = std::chrono::seconds(30);

  // `effects` must outlive it.
  explicit StoredNodes(Effects* effects) : effects_(effects) {}

  // Reads all nodes, now; answers to earlier reads and writes are ignored from here on.
  void ReadAll(MonotonicTime now);
  // The same after a pause that doubles with each call, until something was written.
  void ReadAllLater(MonotonicTime now);
  // Ignores all answers under way and reads nothing: the lease is lost.
  void Stop();

  // Everything is read and nothing since told that it was wrong.
  bool complete() const { return phase_ == Phase::kComplete; }
  // nullopt: the node does not exist.
  const std::optional<StoredValue>& Get(Node node) const { return slot(node).value; }

  bool CanWrite(Node node) const { return complete() && slot(node).write_request == 0; }
  bool writing(Node node) const { return slot(node).write_request != 0; }
  // Only when CanWrite().
  void Write(Node node, std::string value);

  // True when this answer made it complete.
  bool OnRead(MonotonicTime now, uint64_t request, Result<StoredValue> result);
  // The node that is stored now with the value that was written; nullopt for an answer to nothing,
  // and for a failure.
  std::optional<Node> OnWritten(MonotonicTime now, uint64_t request, const Result<int64_t>& result);
  void OnTick(MonotonicTime now);

  uint64_t NewRequest() { return ++last_request_; }

 private:
  enum class Phase { kStopped, kPausing, kReading, kComplete };
  struct Slot {
    std::optional<StoredValue> value;
    uint64_t read_request = 0;
    uint64_t write_request = 0;
    std::string written;  // under way
  };
  Slot& slot(Node node) { return slots_[static_cast<size_t>(node)]; }
  const Slot& slot(Node node) const { return slots_[static_cast<size_t>(node)]; }
  void ForgetRequests();

  Effects* const effects_;
  Phase phase_ = Phase::kStopped;
  MonotonicTime due_{};  // kPausing: when to read; kReading: when to give up
  Duration retry_delay_ = kFirstRetryDelay;
  uint64_t last_request_ = 0;
  std::array<Slot, std::size(kAllNodes)> slots_;
};

}  // namespace heron::topology_master
