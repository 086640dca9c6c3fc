// For tests over loopback: the processes a stream manager talks to, in the same event loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "heron/stream_manager/core/recorded_world.h"
#include "proto/container.pb.h"
#include "proto/master.pb.h"
#include "proto/state.pb.h"

namespace heron::stream_manager {

inline link::TopologyCredentials TestCredentials() {
  return {"test", kTestTopologyId, std::string(32, 's')};
}

// Runs the loop until `done`; false after 20 s.
bool RunUntil(net::EventLoop& loop, const std::function<bool()>& done);

class FakeMaster : public link::SessionHandler {
 public:
  FakeMaster(net::EventLoop& loop, proto::MasterUpdate update);

  std::string LeasePayload(const std::string& topology_id = kTestTopologyId) const;
  // To all connected, whole.
  void Publish();
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) override;
  void OnSessionDown(link::Session& session, const Status& why) override;

  proto::MasterUpdate update;  // addresses are filled in from reports
  std::map<ContainerId, proto::StreamManagerReport> reports;
  bool fence = false;

 private:
  std::map<link::Session*, ContainerId> sessions_;
  std::unique_ptr<link::SessionListener> listener_;
};

class FakeExecutor : public link::SessionHandler {
 public:
  FakeExecutor(net::EventLoop& loop, ContainerId container);
  uint16_t port() const { return listener_->port(); }
  void OnSessionUp(link::Session&) override { ++sessions; }
  void OnFrame(link::Session&, proto::Lane, net::Frame frame) override;
  void OnSessionDown(link::Session&, const Status&) override {}

  std::vector<proto::ChildReport> reports;
  int sessions = 0;

 private:
  std::unique_ptr<link::SessionListener> listener_;
};

class FakeInstance : public link::SessionHandler {
 public:
  FakeInstance(net::EventLoop& loop, ContainerId container, TaskId task, Epoch epoch = {1, 0});
  void Dial(uint16_t port);
  link::Session* session() { return dialer_->session(); }
  void Send(BufferSlice frame, proto::Lane lane = proto::DATA) {
    session()->SendFrame(lane, std::move(frame));
  }
  void OnSessionUp(link::Session& session) override;
  void OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) override;
  void OnSessionDown(link::Session&, const Status&) override { ++downs; }

  std::vector<uint64_t> numbers;  // of batches
  int ended = 0;
  int confirmed = 0;
  int downs = 0;
  int refusals = 0;
  std::vector<proto::InstancePlan> plans;
  proto::TaskStates states;

 private:
  const ContainerId container_;
  const TaskId task_;
  const Epoch epoch_;
  std::unique_ptr<link::SessionDialer> dialer_;
};

}  // namespace heron::stream_manager
