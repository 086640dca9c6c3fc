// For tests of the core: an Effects that records, and makers of the frames and updates the core takes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heron/net/frame.h"
#include "heron/stream_manager/core/effects.h"
#include "heron/stream_manager/core/stream_manager_core.h"
#include "proto/frame.pb.h"
#include "proto/master.pb.h"
#include "proto/stream.pb.h"

namespace heron::stream_manager {

inline constexpr char kTestTopologyId[] = "test-0123";

// Task i+1 belongs to a component and a container. Each component subscribes to the one named before it.
using TaskPlaces = std::vector<std::pair<std::string, ContainerId>>;
proto::MasterUpdate MakeUpdate(const TaskPlaces& places, uint64_t plan_version = 1,
                               uint64_t mastership_epoch = 1);

BufferSlice BatchFrame(TaskId source, TaskId destination, uint64_t number,
                       size_t payload_bytes = 100, uint32_t tuples = 1, Epoch epoch = {1, 0});
BufferSlice EndedFrame(TaskId source, TaskId destination, uint64_t last_number = 0);
BufferSlice ConfirmedFrame(TaskId source, TaskId destination);
BufferSlice StatesFrame(ContainerId container, Epoch epoch, uint64_t number,
                        const std::vector<std::pair<TaskId, bool>>& tasks_and_stopped);
BufferSlice ReportFrame(TaskId task, Epoch epoch, proto::TaskStatus::Phase phase,
                        uint64_t executed = 0);
uint16_t TypeOf(const BufferSlice& frame);
// Of a TUPLE_BATCH frame.
uint64_t NumberOf(const BufferSlice& frame);

template <typename Message>
Message Parse(const BufferSlice& frame) {
  Message message;
  (void)net::ParseBody(frame.view().substr(net::kFrameHeaderBytes), message);
  return message;
}

class RecordedWorld : public Effects {
 public:
  struct Sent {
    int to = 0;  // task or container
    proto::Lane lane = proto::LANE_UNSPECIFIED;
    BufferSlice frame;
  };

  void SendToInstance(TaskId task, proto::Lane lane, BufferSlice frame) override;
  void SendToPeer(ContainerId container, proto::Lane lane, BufferSlice frame) override;
  void SendToMaster(BufferSlice frame) override { to_master.push_back(std::move(frame)); }
  size_t InstanceQueuedBytes(TaskId task, proto::Lane lane) override {
    return instance_queued[{task, lane}];
  }
  size_t PeerQueuedBytes(ContainerId container, proto::Lane lane) override {
    return peer_queued[{container, lane}];
  }
  size_t MasterQueuedBytes() override { return 0; }
  void PauseInstance(TaskId task) override { paused.insert(task); }
  void ResumeInstance(TaskId task) override { paused.erase(task); }
  void PausePeer(ContainerId container) override { paused_peers.insert(container); }
  void ResumePeer(ContainerId container) override { paused_peers.erase(container); }
  void CloseInstance(TaskId task, const std::string&) override { closed.push_back(task); }
  void ClosePeer(ContainerId container, const std::string&) override {
    closed_peers.push_back(container);
  }
  void SetPeerTarget(ContainerId container, const std::string& host, uint16_t port,
                     Epoch epoch) override;
  void ClearPeerTarget(ContainerId container) override { targets.erase(container); }
  void Log(const std::string& line) override { lines.push_back(line); }

  // Data and ack frames that went to a task or peer, of one type, in order.
  std::vector<BufferSlice> FramesTo(TaskId task, proto::MessageType type) const;
  std::vector<BufferSlice> FramesToPeer(ContainerId container, proto::MessageType type) const;
  std::vector<uint64_t> NumbersTo(TaskId task) const;
  std::vector<uint64_t> NumbersToPeer(ContainerId container) const;
  proto::TaskStates LastStatesToPeer(ContainerId container) const;
  proto::TaskStates LastStatesTo(TaskId task) const;
  proto::StreamManagerReport LastReport() const;

  // Lanes towards these take nothing: their bytes stay queued.
  std::set<TaskId> stuck_instances;
  std::set<ContainerId> stuck_peers;
  void Unstick(TaskId task);
  void UnstickPeer(ContainerId container);

  std::vector<Sent> to_instances;
  std::vector<Sent> to_peers;
  std::vector<BufferSlice> to_master;
  std::map<std::pair<int, proto::Lane>, size_t> instance_queued;
  std::map<std::pair<int, proto::Lane>, size_t> peer_queued;
  std::set<TaskId> paused;
  std::set<ContainerId> paused_peers;
  std::vector<TaskId> closed;
  std::vector<ContainerId> closed_peers;
  std::map<ContainerId, std::string> targets;  // "host:port incarnation.restart"
  std::vector<std::string> lines;
};

}  // namespace heron::stream_manager
