// The topology master's I/O: listens for executors and stream managers, contends for the lease of
// its topology, reads and writes the state store, and hands everything to MasterCore.
//
// It listens before it contends, and the lease's payload says where from the first moment on. A
// payload with an old port is harmless: whoever dials it meets nobody, or a process that refuses to
// be called a master of that epoch.
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "heron/state/async_store.h"
#include "heron/topology_master/core/master_core.h"
#include "heron/topology_master/executor_link.h"
#include "heron/topology_master/options.h"

namespace heron::topology_master {

class Server final : private Effects, private link::SessionHandler {
 public:
  // `on_exit` is called once, in the loop's thread; nothing is done afterwards. `loop` must outlive
  // it.
  Server(net::EventLoop& loop, Options options, std::string secret,
         std::shared_ptr<state::StateStore> store, std::function<void(int exit_code)> on_exit);
  ~Server() override;

  Status Start();
  uint16_t port() const { return listener_->port(); }

 private:
  // Effects
  void ReadNode(Node node, uint64_t request) override;
  void WriteNode(Node node, uint64_t request, std::string value,
                 std::optional<int64_t> expected_version) override;
  void SendContainerPlan(SessionId session, const proto::ContainerPlan& plan) override;
  void SendMasterUpdate(SessionId session, const proto::MasterUpdate& update) override;
  void Exit(int code, const std::string& why) override;

  // link::SessionHandler, of the listener
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) override;
  void OnSessionDown(link::Session& session, const Status& why) override;

  void OnLeaseGained(uint64_t epoch);
  void OnLeaseLost();
  void Send(SessionId id, proto::MessageType type, const google::protobuf::MessageLite& message);
  Moment Now() const { return {loop_.clock().Now(), loop_.clock().UnixMillis()}; }
  std::string Path(Node node) const;
  std::string Location(uint64_t epoch) const;

  net::EventLoop& loop_;
  const Options options_;
  const link::TopologyCredentials credentials_;
  const std::function<void(int)> on_exit_;
  bool exited_ = false;
  MasterCore core_;

  std::map<const link::Session*, SessionId> ids_;
  std::map<SessionId, link::Session*> sessions_;
  SessionId last_session_ = 0;
  std::unique_ptr<link::SessionListener> listener_;
  std::unique_ptr<ExecutorLink> executor_;
  net::TimerId tick_timer_ = 0;

  state::AsyncStore store_;
  std::unique_ptr<state::Watch> desired_watch_;
  std::unique_ptr<state::Lease> lease_;
};

}  // namespace heron::topology_master
