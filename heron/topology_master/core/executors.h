// The executors that are connected now, what each said last, and which of their failures are
// stored.
//
// Thread: the master's event loop.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/topology_master/core/effects.h"
#include "heron/topology_master/core/incarnations.h"
#include "proto/master.pb.h"
#include "proto/state.pb.h"

namespace heron::topology_master {

struct ExecutorSession {
  ContainerId container = 0;  // as the handshake proved it
  std::optional<proto::ExecutorReport> report;

  bool answer_due = false;  // it reported, and the answer may be a new one
  // What it was sent last.
  std::string sent;
  MonotonicTime sent_at{};
  bool stop_sent = false;

  ExecutorClaim Claim() const {
    return {container, report ? report->nonce() : "", report ? report->incarnation() : 0};
  }
};

class Executors {
 public:
  // Up to which number the failures of an executor are in the stored state, or will be when a write
  // succeeds.
  struct FailureMark {
    ContainerId container = 0;
    std::string nonce;
    uint64_t number = 0;
  };
  struct NewFailures {
    std::vector<proto::ProcessFailure> failures;  // oldest first, per executor
    std::vector<FailureMark> marks;               // to be given to MarkStored after the write
  };

  void Up(SessionId id, ContainerId container);
  void Down(SessionId id);
  // The session if the report is well-formed and its own; nullptr: ignored.
  ExecutorSession* Report(SessionId id, proto::ExecutorReport report);

  std::map<SessionId, ExecutorSession>& sessions() { return sessions_; }
  const std::map<SessionId, ExecutorSession>& sessions() const { return sessions_; }
  // The newest session of the executor that holds the container; nullptr when it is not connected.
  const ExecutorSession* Holder(ContainerId container, const Incarnations& incarnations) const;
  // Of all that have reported, oldest session first.
  std::vector<ExecutorClaim> Claims() const;

  // Failures told by holders that are neither marked nor in `stored` (may be nullptr).
  NewFailures FailuresToStore(const Incarnations& incarnations,
                              const proto::ExecutionState* stored) const;
  void MarkStored(const std::vector<FailureMark>& marks);
  // What to acknowledge to this executor.
  uint64_t StoredFailure(const ExecutorClaim& claim) const;

 private:
  std::map<SessionId, ExecutorSession> sessions_;
  std::map<ContainerId, FailureMark> stored_;  // of the container's holder
};

}  // namespace heron::topology_master
