#include "heron/executor/child_listener.h"

#include <glog/logging.h>

namespace heron::executor {

Result<std::unique_ptr<ChildListener>> ChildListener::Listen(
    net::EventLoop& loop, const std::string& host, ContainerId container,
    link::TopologyCredentials credentials, link::SessionOptions session, Callbacks callbacks) {
  auto made = std::unique_ptr<ChildListener>(new ChildListener(std::move(callbacks)));
  link::SessionListener::Options options;
  options.host = host;
  options.self = link::MakeIdentity(proto::EXECUTOR, container, 0, {});
  options.credentials = std::move(credentials);
  options.session = session;
  for (const proto::Role role : {proto::TOPOLOGY_MASTER, proto::STREAM_MANAGER, proto::INSTANCE}) {
    options.lanes[role] = {proto::CONTROL};
  }
  options.admit = made->callbacks_.admit;
  auto listener = link::SessionListener::Listen(loop, std::move(options), made.get());
  if (!listener.ok()) return listener.status().WithContext("cannot listen for the container");
  made->listener_ = std::move(listener).value();
  return made;
}

bool ChildListener::HasSession(const ChildKey& key) const {
  for (const auto& [session, owner] : sessions_) {
    if (owner == key) return true;
  }
  return false;
}

void ChildListener::SetUpdate(const proto::ChildUpdate& update) {
  update_ = update;
  Repeat();
}

void ChildListener::Repeat() {
  for (const auto& [session, owner] : sessions_) {
    session->Send(proto::CONTROL, proto::CHILD_UPDATE, update_);
  }
}

void ChildListener::OnSessionUp(link::Session& session) {
  const proto::Identity& peer = session.peer();
  sessions_[&session] = {peer.role(), peer.role() == proto::INSTANCE ? peer.task() : 0};
  session.Send(proto::CONTROL, proto::CHILD_UPDATE, update_);
}

void ChildListener::OnFrame(link::Session& session, proto::Lane /*lane*/, net::Frame frame) {
  if (frame.type != proto::CHILD_REPORT) return;
  proto::ChildReport report;
  const Status status = net::ParseBody(frame.body(), report);
  if (!status.ok()) {
    LOG_FIRST_N(WARNING, 10) << "from " << ToString(sessions_[&session]) << ": "
                             << status.ToString();
    return;
  }
  callbacks_.report(session.peer(), report);
}

void ChildListener::OnSessionDown(link::Session& session, const Status& /*why*/) {
  sessions_.erase(&session);
  callbacks_.session_gone();
}

}  // namespace heron::executor
