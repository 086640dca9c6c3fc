// The session with the executor that started this master: says that it lives and where it listens.
// An executor that is gone for good takes its children along; should that have failed, this process
// ends itself.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "heron/link/session.h"
#include "heron/net/event_loop.h"

namespace heron::topology_master {

class ExecutorLink final : private link::SessionHandler {
 public:
  struct Options {
    link::TopologyCredentials credentials;
    link::SessionOptions session;
    ContainerId container = 0;
    std::string host;  // of the executor
    uint16_t port = 0;
    uint16_t listening_port = 0;  // what is reported
    Duration lost_timeout = std::chrono::seconds(5);
    Duration report_interval = std::chrono::milliseconds(500);
  };

  // Calls `on_lost` once, after lost_timeout without a session. `loop` must outlive it.
  ExecutorLink(net::EventLoop& loop, Options options, std::function<void()> on_lost);
  ~ExecutorLink() override;

 private:
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session&, proto::Lane, net::Frame) override {}  // ChildUpdate is for instances
  void OnSessionDown(link::Session& session, const Status& why) override;
  void Report();
  void ExpectSession();

  net::EventLoop& loop_;
  const Options options_;
  const std::function<void()> on_lost_;
  net::TimerId report_timer_ = 0;
  net::TimerId lost_timer_ = 0;
  std::unique_ptr<link::SessionDialer> dialer_;
};

}  // namespace heron::topology_master
