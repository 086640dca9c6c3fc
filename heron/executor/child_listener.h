// The sessions of a container's processes with their executor: takes their reports, tells them
// where the stream manager is.
//
// Thread: the loop's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "heron/executor/core/child.h"
#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "proto/container.pb.h"

namespace heron::executor {

class ChildListener : public link::SessionHandler {
 public:
  struct Callbacks {
    std::function<std::optional<link::Refusal>(const proto::Identity&)> admit;
    std::function<void(const proto::Identity&, const proto::ChildReport&)> report;
    std::function<void()> session_gone;
  };

  static Result<std::unique_ptr<ChildListener>> Listen(
      net::EventLoop& loop, const std::string& host, ContainerId container,
      link::TopologyCredentials credentials, link::SessionOptions session, Callbacks callbacks);

  uint16_t port() const { return listener_->port(); }
  bool HasSession(const ChildKey& key) const;
  // To all, and to each that comes later.
  void SetUpdate(const proto::ChildUpdate& update);
  // The same again, once an interval.
  void Repeat();

 private:
  explicit ChildListener(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) override;
  void OnSessionDown(link::Session& session, const Status& why) override;

  const Callbacks callbacks_;
  proto::ChildUpdate update_;
  std::map<link::Session*, ChildKey> sessions_;
  std::unique_ptr<link::SessionListener> listener_;
};

}  // namespace heron::executor
