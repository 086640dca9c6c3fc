// What the core does to the world. The server implements it with sessions, tests with a recording or a toy network.
//
// Nothing here calls back into the core. Sends never block and are not answered; sends to somebody whose session is
// down are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heron/base/buffer.h"
#include "heron/base/ids.h"
#include "proto/handshake.pb.h"

namespace heron::stream_manager {

class Effects {
 public:
  virtual ~Effects() = default;

  // Whole frames, header included.
  virtual void SendToInstance(TaskId task, proto::Lane lane, BufferSlice frame) = 0;
  virtual void SendToPeer(ContainerId container, proto::Lane lane, BufferSlice frame) = 0;
  virtual void SendToMaster(BufferSlice frame) = 0;

  // Not yet taken by the kernel. 0 while the session is down.
  virtual size_t InstanceQueuedBytes(TaskId task, proto::Lane lane) = 0;
  virtual size_t PeerQueuedBytes(ContainerId container, proto::Lane lane) = 0;
  virtual size_t MasterQueuedBytes() = 0;

  // Reading of the data lane.
  virtual void PauseInstance(TaskId task) = 0;
  virtual void ResumeInstance(TaskId task) = 0;
  virtual void PausePeer(ContainerId container) = 0;  // only while there is no plan
  virtual void ResumePeer(ContainerId container) = 0;

  // No OnInstanceDown or OnPeerDown follows.
  virtual void CloseInstance(TaskId task, const std::string& why) = 0;
  virtual void ClosePeer(ContainerId container, const std::string& why) = 0;

  // Stream managers of higher containers are dialled.
  virtual void SetPeerTarget(ContainerId container, const std::string& host, uint16_t port,
                             Epoch epoch) = 0;
  virtual void ClearPeerTarget(ContainerId container) = 0;

  // One line for people about something rare: a task stopped, a destination given up.
  virtual void Log(const std::string& line) = 0;
};

}  // namespace heron::stream_manager
