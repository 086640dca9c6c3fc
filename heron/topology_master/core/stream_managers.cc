#include "heron/topology_master/core/stream_managers.h"

#include <glog/logging.h>

#include <utility>

#include "heron/topology_master/core/task_board.h"

namespace heron::topology_master {

void StreamManagers::Up(SessionId id, ContainerId container) {
  sessions_[id].container = container;
}

void StreamManagers::Down(SessionId id) { sessions_.erase(id); }

StreamManagerSession* StreamManagers::Report(SessionId id, proto::StreamManagerReport report) {
  auto it = sessions_.find(id);
  if (it == sessions_.end()) return nullptr;
  if (report.container() != it->second.container || report.port() == 0 ||
      report.port() > 65535) {
    LOG_EVERY_N(WARNING, 100) << "the stream manager of container " << it->second.container
                              << " sent a report that is not its own; it is ignored";
    return nullptr;
  }
  it->second.report = std::move(report);
  return &it->second;
}

bool StreamManagers::IsCurrent(const StreamManagerSession& session,
                               const Incarnations& incarnations) const {
  if (!session.report || !incarnations.HasContainer(session.container)) return false;
  const Epoch epoch = EpochOf(session.report->epoch());
  if (epoch.incarnation < incarnations.IncarnationOf(session.container)) return false;
  auto it = addresses_.find(session.container);
  return it == addresses_.end() || epoch >= EpochOf(it->second.epoch());
}

bool StreamManagers::Accept(const StreamManagerSession& session, const Incarnations& incarnations,
                            bool* changed) {
  if (!IsCurrent(session, incarnations)) return false;
  const proto::StreamManagerReport& report = *session.report;
  proto::StreamManagerAddress& address = addresses_[session.container];
  if (address.port() == report.port() && address.host() == report.host() &&
      EpochOf(address.epoch()) == EpochOf(report.epoch())) {
    return true;
  }
  address.set_container(session.container);
  *address.mutable_epoch() = report.epoch();
  address.set_host(report.host());
  address.set_port(report.port());
  *changed = true;
  return true;
}

bool StreamManagers::IsConnected(ContainerId container, const Incarnations& incarnations) const {
  for (const auto& [id, session] : sessions_) {
    if (session.container == container && IsCurrent(session, incarnations)) return true;
  }
  return false;
}

void StreamManagers::WriteAddresses(const Incarnations& incarnations,
                                    proto::MasterUpdate* update) const {
  for (const auto& [container, address] : addresses_) {
    if (address.epoch().incarnation() >= incarnations.IncarnationOf(container)) {
      *update->add_addresses() = address;
    }
  }
}

}  // namespace heron::topology_master
