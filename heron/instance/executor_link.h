// The instance's session with the executor of its container: says who it is, what went wrong and
// whether it made progress; learns where the stream manager is. Everything is state, said again at
// each change and every heartbeat interval.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "proto/container.pb.h"

namespace heron::instance {

class ExecutorLink : private link::SessionHandler {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // 0: there is none now.
    virtual void OnStreamManagerAt(uint16_t port, Epoch epoch) = 0;
    virtual void OnRefused(const proto::Refused& refused) = 0;
  };
  struct Options {
    link::TopologyCredentials credentials;
    link::SessionOptions session;
    proto::Identity self;
    std::string host;
    uint16_t port = 0;
    std::string component;
  };

  // Dials at once and for ever. `loop` and `listener` must outlive it.
  ExecutorLink(net::EventLoop& loop, Options options, Listener* listener);
  ~ExecutorLink() override;

  void SetProgress();
  void SetError(const std::string& text, bool unrecoverable);
  // The error was taken by the kernel.
  bool ErrorSent() const;

 private:
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) override;
  void OnSessionDown(link::Session& session, const Status& why) override;
  void Report();

  net::EventLoop& loop_;
  Listener* const listener_;
  proto::ChildReport report_;
  bool error_reported_ = false;  // in the present session
  std::unique_ptr<link::SessionDialer> dialer_;
  net::TimerId timer_ = 0;
};

}  // namespace heron::instance
