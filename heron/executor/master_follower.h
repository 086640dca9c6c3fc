// Keeps a session to the topology master: finds it through its lease in the state store, dials it,
// dials the next one when the lease changes hands. Leases of other topology ids are ignored.
//
// Thread: the loop's.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "heron/state/async_store.h"
#include "heron/state/paths.h"
#include "proto/master.pb.h"

namespace heron::executor {

class MasterFollower : public link::SessionHandler {
 public:
  struct Options {
    state::TopologyKey key;
    ContainerId container = 0;
    link::TopologyCredentials credentials;
    link::SessionOptions session;
  };
  struct Callbacks {
    std::function<void()> connected;
    std::function<void(const proto::ContainerPlan&)> plan;
  };

  // Dials only after Start(). `loop` and `store` must outlive it.
  MasterFollower(net::EventLoop& loop, state::AsyncStore& store, Options options,
                 Callbacks callbacks);
  ~MasterFollower() override;

  void Start();
  // Reads the lease again; the watch on it does the same.
  void Look();
  bool connected() const { return dialer_->session() != nullptr; }
  // Nothing while there is no session.
  void Send(const proto::ExecutorReport& report);

 private:
  void OnLease(const Result<state::LeaseView>& lease);
  void OnRefused(const proto::Refused& refused);
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) override;
  void OnSessionDown(link::Session& session, const Status& why) override;

  state::AsyncStore& store_;
  const Options options_;
  const Callbacks callbacks_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  bool started_ = false;
  bool reading_ = false;
  std::set<std::string> refusals_said_;  // at most kMaxRefusalsSaid
  std::unique_ptr<link::SessionDialer> dialer_;
  std::unique_ptr<state::Watch> watch_;
};

}  // namespace heron::executor
