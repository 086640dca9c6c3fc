// The stream managers that are connected now, what each said last, and where they are. Addresses
// are soft state of this master process: rebuilt from reports, never stored.
//
// Thread: the master's event loop.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "heron/base/ids.h"
#include "heron/topology_master/core/effects.h"
#include "heron/topology_master/core/incarnations.h"
#include "proto/master.pb.h"

namespace heron::topology_master {

struct StreamManagerSession {
  ContainerId container = 0;  // as the handshake proved it
  std::optional<proto::StreamManagerReport> report;

  // What it was sent last.
  std::string sent;
  MonotonicTime sent_at{};
  bool topology_sent = false;
  uint64_t plan_sent = 0;  // version
  MonotonicTime plan_sent_at{};
};

class StreamManagers {
 public:
  void Up(SessionId id, ContainerId container);
  void Down(SessionId id);
  // The session if the report is its own; nullptr: ignored.
  StreamManagerSession* Report(SessionId id, proto::StreamManagerReport report);

  // Takes the session's report as that of its container's stream manager: learns its address. False
  // when the plan has no such container, or a later stream manager of it is known: the report
  // counts for nothing then. `changed` is set to true when an address changed.
  bool Accept(const StreamManagerSession& session, const Incarnations& incarnations,
              bool* changed);
  bool IsCurrent(const StreamManagerSession& session, const Incarnations& incarnations) const;
  bool IsConnected(ContainerId container, const Incarnations& incarnations) const;

  // Those of containers whose incarnation is not over.
  void WriteAddresses(const Incarnations& incarnations, proto::MasterUpdate* update) const;

  std::map<SessionId, StreamManagerSession>& sessions() { return sessions_; }
  const std::map<SessionId, StreamManagerSession>& sessions() const { return sessions_; }

 private:
  std::map<SessionId, StreamManagerSession> sessions_;
  std::map<ContainerId, proto::StreamManagerAddress> addresses_;
};

}  // namespace heron::topology_master
