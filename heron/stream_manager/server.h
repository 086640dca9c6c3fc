// heron-stream-manager with its sockets: listener for instances and stream managers of lower containers, dialers to those of
// higher ones, to the topology master and to the executor. Decides nothing about data; that is StreamManagerCore.
//
// Thread: the loop's, everything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "heron/state/async_store.h"
#include "heron/stream_manager/core/stream_manager_core.h"
#include "heron/stream_manager/executor_link.h"
#include "heron/stream_manager/master_finder.h"
#include "heron/stream_manager/options.h"

namespace heron::stream_manager {

class Server final : private Effects, private link::SessionHandler {
 public:
  // `on_exit` is called at most once, with the exit code, from the loop. `loop` must outlive the server.
  Server(net::EventLoop& loop, Options options, std::string secret,
         std::shared_ptr<state::StateStore> store, std::function<void(int)> on_exit);
  ~Server() override;

  // Binds and starts to dial.
  Status Start();
  uint16_t port() const { return listener_->port(); }
  const StreamManagerCore& core() const { return *core_; }

 private:
  // Effects
  void SendToInstance(TaskId task, proto::Lane lane, BufferSlice frame) override;
  void SendToPeer(ContainerId container, proto::Lane lane, BufferSlice frame) override;
  void SendToMaster(BufferSlice frame) override;
  size_t InstanceQueuedBytes(TaskId task, proto::Lane lane) override;
  size_t PeerQueuedBytes(ContainerId container, proto::Lane lane) override;
  size_t MasterQueuedBytes() override;
  void PauseInstance(TaskId task) override;
  void ResumeInstance(TaskId task) override;
  void PausePeer(ContainerId container) override;
  void ResumePeer(ContainerId container) override;
  void CloseInstance(TaskId task, const std::string& why) override;
  void ClosePeer(ContainerId container, const std::string& why) override;
  void SetPeerTarget(ContainerId container, const std::string& host, uint16_t port,
                     Epoch epoch) override;
  void ClearPeerTarget(ContainerId container) override;
  void Log(const std::string& line) override;

  // link::SessionHandler
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) override;
  void OnWritable(link::Session& session, proto::Lane lane) override;
  void OnSessionDown(link::Session& session, const Status& why) override;

  Status Listen();
  void DialMaster();
  std::optional<link::Refusal> Admit(const proto::Identity& caller) const;
  void OnMasterRefused(const proto::Refused& refused);
  void Exit(int code);
  MonotonicTime Now() const { return loop_.clock().Now(); }
  // After each event: the core may want to be woken earlier than before.
  void ArmTimer();
  void OnTimer();
  link::Session* InstanceSession(TaskId task) const;
  link::Session* PeerSession(ContainerId container) const;

  net::EventLoop& loop_;
  const Options options_;
  const link::TopologyCredentials credentials_;
  const proto::Identity self_;
  std::function<void(int)> on_exit_;
  state::AsyncStore store_;
  std::unique_ptr<StreamManagerCore> core_;

  absl::flat_hash_map<TaskId, link::Session*> instances_;
  absl::flat_hash_map<ContainerId, link::Session*> peers_;
  link::Session* master_ = nullptr;

  net::TimerId timer_ = 0;
  MonotonicTime timer_at_{};
  MonotonicTime log_window_{};
  int logged_in_window_ = 0;
  uint64_t suppressed_lines_ = 0;

  // Last, so that they go first: no callback comes when the rest is gone.
  std::unique_ptr<link::SessionListener> listener_;
  std::map<ContainerId, std::unique_ptr<link::SessionDialer>> peer_dialers_;
  std::unique_ptr<link::SessionDialer> master_dialer_;
  std::unique_ptr<ExecutorLink> executor_;
  std::unique_ptr<MasterFinder> finder_;
};

}  // namespace heron::stream_manager
