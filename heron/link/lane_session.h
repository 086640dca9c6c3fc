// The session of either side once its lanes are proved: lanes, heartbeats, and the end. For
// heron/link only.
//
// Ownership: held by shared_ptr in its SessionListener or SessionDialer (the Owner), which takes
// itself off with Abandon() before it dies. Thread: the loop's.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "heron/link/session.h"

namespace heron::link {

class LaneSession final : public Session, public std::enable_shared_from_this<LaneSession> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // The lanes are closed. The owner forgets the session and tells the handler (OnSessionDown).
    virtual void OnSessionEnded(LaneSession& session, const Status& why) = 0;
    // The user closed it. The owner forgets the session and tells nobody.
    virtual void OnSessionClosedByUser(LaneSession& session) = 0;
  };
  struct ProvedLane {
    proto::Lane lane;
    std::unique_ptr<net::Connection> connection;
  };

  LaneSession(net::EventLoop& loop, const SessionOptions& options, proto::Identity peer,
              std::vector<ProvedLane> lanes, SessionHandler* handler, Owner* owner);
  ~LaneSession() override;

  // Takes the connections over and starts to read and to judge.
  void Start();
  // From a loop callback: closes and tells the owner.
  void Fail(const Status& why);
  // From anywhere: closes now, tells the owner in a callback of its own.
  void FailLater(const Status& why);
  // Closes; neither owner nor handler hear of it any more.
  void Abandon();
  MonotonicTime up_since() const { return up_since_; }

  const proto::Identity& peer() const override { return peer_; }
  std::string peer_address() const override;
  void Send(proto::Lane lane, proto::MessageType type,
            const google::protobuf::MessageLite& message) override;
  void SendFrame(proto::Lane lane, BufferSlice frame) override;
  void SendFrame(proto::Lane lane, BufferSlice head, BufferSlice tail) override;
  size_t QueuedBytes(proto::Lane lane) const override;
  void PauseReading(proto::Lane lane) override;
  void ResumeReading(proto::Lane lane) override;
  void Close() override;

 private:
  class Lane;

  Lane* Find(proto::Lane lane) const;
  void OnLaneFrame(proto::Lane lane, net::Frame frame);
  void OnHeartbeatTimer();
  void JudgeSilence();
  void CloseLanes();

  net::EventLoop& loop_;
  const SessionOptions options_;
  const proto::Identity peer_;
  SessionHandler* handler_;
  Owner* owner_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::array<Lane*, 4> by_number_{};  // indexed by proto::Lane
  Lane* heartbeat_lane_ = nullptr;
  bool down_ = false;
  bool sent_since_tick_ = false;  // on the heartbeat lane
  uint64_t heartbeats_ = 0;
  net::TimerId heartbeat_timer_ = 0;
  MonotonicTime up_since_;
  MonotonicTime last_tick_;
  MonotonicTime grace_since_;  // silence counts from here at the earliest
};

}  // namespace heron::link
