#include "heron/link/lane_session.h"

#include <algorithm>
#include <utility>

namespace heron::link {

class LaneSession::Lane final : public net::Connection::Handler {
 public:
  Lane(LaneSession& session, proto::Lane number, std::unique_ptr<net::Connection> connection)
      : session_(session), number_(number), connection_(std::move(connection)) {}

  // Each keeps the session alive to its end: the handler may destroy its owner.
  void OnFrame(net::Frame frame) override {
    auto keep = session_.shared_from_this();
    session_.OnLaneFrame(number_, std::move(frame));
  }
  void OnWritable() override {
    auto keep = session_.shared_from_this();
    if (!session_.down_) session_.handler_->OnWritable(session_, number_);
  }
  void OnClosed(const Status& why) override {
    auto keep = session_.shared_from_this();
    session_.Fail(why.WithContext(proto::Lane_Name(number_) + " lane"));
  }

  net::Connection& connection() const { return *connection_; }
  proto::Lane number() const { return number_; }

 private:
  LaneSession& session_;
  const proto::Lane number_;
  std::unique_ptr<net::Connection> connection_;
};

LaneSession::LaneSession(net::EventLoop& loop, const SessionOptions& options, proto::Identity peer,
                         std::vector<ProvedLane> lanes, SessionHandler* handler, Owner* owner)
    : loop_(loop),
      options_(options),
      peer_(std::move(peer)),
      handler_(handler),
      owner_(owner),
      up_since_(loop.clock().Now()),
      last_tick_(up_since_),
      grace_since_(up_since_) {
  for (ProvedLane& proved : lanes) {
    lanes_.push_back(std::make_unique<Lane>(*this, proved.lane, std::move(proved.connection)));
    by_number_[static_cast<size_t>(proved.lane)] = lanes_.back().get();
  }
  heartbeat_lane_ = by_number_[proto::CONTROL];
  if (heartbeat_lane_ == nullptr) heartbeat_lane_ = lanes_.front().get();
}

LaneSession::~LaneSession() = default;

void LaneSession::Start() {
  for (auto& lane : lanes_) {
    lane->connection().SetMaxBodyBytes(lane->number() == proto::CONTROL
                                           ? options_.control_max_body_bytes
                                           : options_.connection.max_body_bytes);
    lane->connection().SetHandler(lane.get());
    lane->connection().ResumeReading();
  }
  heartbeat_timer_ = loop_.RunEvery(options_.heartbeat_interval, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->OnHeartbeatTimer();
  });
}

void LaneSession::OnLaneFrame(proto::Lane lane, net::Frame frame) {
  if (down_ || (frame.type >= proto::HELLO && frame.type <= proto::HEARTBEAT)) return;
  handler_->OnFrame(*this, lane, std::move(frame));
}

void LaneSession::OnHeartbeatTimer() {
  const MonotonicTime now = loop_.clock().Now();
  // This process was held up (stopped, starved of CPU): what looks like the peer's silence may be
  // ours.
  if (now - last_tick_ > options_.heartbeat_interval + options_.heartbeat_interval / 2) {
    grace_since_ = now;
  }
  last_tick_ = now;
  net::Connection& connection = heartbeat_lane_->connection();
  // What waits in the queue will be a sign of life as good as a heartbeat.
  if (!sent_since_tick_ && connection.QueuedBytes() == 0) {
    proto::Heartbeat heartbeat;
    heartbeat.set_number(++heartbeats_);
    connection.Send(proto::HEARTBEAT, heartbeat);
  }
  sent_since_tick_ = false;
  // Judged after the sockets were read: the first post runs behind the handlers that are ready now,
  // and behind it the loop asks the kernel; the second runs behind the reads found by that.
  loop_.Post([weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr || self->down_) return;
    self->loop_.Post([weak] {
      if (auto again = weak.lock()) again->JudgeSilence();
    });
  });
}

void LaneSession::JudgeSilence() {
  const MonotonicTime now = loop_.clock().Now();
  // Held up between the tick and here: what came meanwhile was not read. The next tick judges.
  if (down_ || now - last_tick_ > options_.heartbeat_interval / 2) return;
  MonotonicTime alive = grace_since_;
  for (const auto& lane : lanes_) alive = std::max(alive, lane->connection().last_received());
  const Duration silence = now - alive;
  if (silence <= options_.heartbeat_timeout) return;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(silence).count();
  Fail(DeadlineExceeded("the peer has been silent for " + std::to_string(ms) + " ms"));
}

void LaneSession::Fail(const Status& why) {
  if (down_) return;
  auto keep = shared_from_this();
  CloseLanes();
  if (owner_ != nullptr) owner_->OnSessionEnded(*this, why);
}

void LaneSession::FailLater(const Status& why) {
  if (down_) return;
  CloseLanes();
  loop_.Post([self = shared_from_this(), why] {
    if (self->owner_ != nullptr) self->owner_->OnSessionEnded(*self, why);
  });
}

void LaneSession::Abandon() {
  owner_ = nullptr;
  if (!down_) CloseLanes();
}

void LaneSession::Close() {
  Owner* owner = std::exchange(owner_, nullptr);
  if (!down_) CloseLanes();
  if (owner == nullptr) return;
  // The caller may stand in a callback of this session.
  loop_.Post([keep = shared_from_this()] {});
  owner->OnSessionClosedByUser(*this);
}

void LaneSession::CloseLanes() {
  down_ = true;
  loop_.CancelTimer(std::exchange(heartbeat_timer_, 0));
  for (auto& lane : lanes_) lane->connection().Close();
}

LaneSession::Lane* LaneSession::Find(proto::Lane lane) const {
  const auto number = static_cast<size_t>(lane);
  Lane* found = number < by_number_.size() ? by_number_[number] : nullptr;
  DCHECK(found != nullptr) << "the session with " << DescribeIdentity(peer_) << " has no "
                           << proto::Lane_Name(lane) << " lane";
  return found;
}

std::string LaneSession::peer_address() const {
  return lanes_.front()->connection().peer_address();
}

void LaneSession::Send(proto::Lane lane, proto::MessageType type,
                       const google::protobuf::MessageLite& message) {
  if (down_) return;
  SendFrame(lane, net::EncodeFrame(static_cast<uint16_t>(type), message));
}

void LaneSession::SendFrame(proto::Lane lane, BufferSlice frame) {
  SendFrame(lane, std::move(frame), BufferSlice());
}

void LaneSession::SendFrame(proto::Lane lane, BufferSlice head, BufferSlice tail) {
  Lane* found = Find(lane);
  if (down_ || found == nullptr) return;
  if (found == heartbeat_lane_) sent_since_tick_ = true;
  found->connection().SendFrame(std::move(head), std::move(tail));
}

size_t LaneSession::QueuedBytes(proto::Lane lane) const {
  const Lane* found = Find(lane);
  return found == nullptr ? 0 : found->connection().QueuedBytes();
}

void LaneSession::PauseReading(proto::Lane lane) {
  if (Lane* found = Find(lane)) found->connection().PauseReading();
}

void LaneSession::ResumeReading(proto::Lane lane) {
  if (Lane* found = Find(lane)) found->connection().ResumeReading();
}

}  // namespace heron::link
