#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "heron/base/random.h"
#include "heron/link/back_off.h"
#include "heron/link/handshake.h"
#include "heron/link/lane_session.h"
#include "heron/link/session.h"

namespace heron::link {
namespace {

// A session that lived longer was a real one: after it the first delay is the shortest again.
constexpr Duration kLongEnough = std::chrono::seconds(1);

class DialerCore;

// One lane of a session to be.
class LaneDial final : public net::Connection::Handler,
                       public std::enable_shared_from_this<LaneDial> {
 public:
  LaneDial(std::weak_ptr<DialerCore> core, uint64_t number, const proto::Hello& hello,
           const TopologyCredentials& credentials)
      : lane(hello.lane()),
        attempt(number),
        handshake(hello, credentials),
        core_(std::move(core)) {}

  void OnFrame(net::Frame frame) override;
  void OnClosed(const Status& why) override;

  const proto::Lane lane;
  const uint64_t attempt;
  DialerHandshake handshake;
  std::unique_ptr<net::Connector> connector;
  std::unique_ptr<net::Connection> connection;

 private:
  std::weak_ptr<DialerCore> core_;
};

class DialerCore final : public LaneSession::Owner,
                         public std::enable_shared_from_this<DialerCore> {
 public:
  DialerCore(net::EventLoop& loop, SessionDialer::Options options, SessionHandler* handler)
      : loop_(loop), options_(std::move(options)), handler_(handler), back_off_(RandomUint64()) {}

  void Shutdown();
  void SetTarget(const std::string& host, uint16_t port, const proto::Identity& callee);
  void ClearTarget();
  void SetSelf(proto::Identity self) { options_.self = std::move(self); }
  Session* session() { return session_.get(); }

  void OnLaneFrame(LaneDial& lane, const net::Frame& frame);
  void OnLaneClosed(LaneDial& lane, const Status& why);
  void OnSessionEnded(LaneSession& session, const Status& why) override;
  void OnSessionClosedByUser(LaneSession& session) override;

 private:
  struct Target {
    std::string host;
    uint16_t port;
    proto::Identity callee;
  };

  void Dial();
  void DialLane(proto::Lane lane, const std::string& session_id);
  void OnConnected(LaneDial& lane, Result<std::unique_ptr<net::Connection>> result);
  void OnLaneRefused(LaneDial& lane);
  void BringUpIfComplete();
  void AttemptFailed(const Status& why);
  void StopAttempt();
  void DropSession(const std::string& why);
  void DialLater();
  bool IsPresent(const LaneDial& lane) const { return !dead_ && lane.attempt == attempt_; }

  net::EventLoop& loop_;
  SessionDialer::Options options_;
  SessionHandler* handler_;
  BackOff back_off_;
  bool dead_ = false;
  std::optional<Target> target_;
  uint64_t attempt_ = 0;  // numbers the attempts: callbacks of an earlier one are void
  std::vector<std::shared_ptr<LaneDial>> lanes_;  // of the present attempt
  net::TimerId attempt_timer_ = 0;
  net::TimerId retry_timer_ = 0;
  std::shared_ptr<LaneSession> session_;
  // Closed by SetTarget or ClearTarget; OnSessionDown is on its way.
  std::vector<std::shared_ptr<LaneSession>> dropped_;
  std::string last_logged_;
};

void LaneDial::OnFrame(net::Frame frame) {
  auto keep = shared_from_this();
  if (auto core = core_.lock()) core->OnLaneFrame(*this, frame);
}

void LaneDial::OnClosed(const Status& why) {
  auto keep = shared_from_this();
  if (auto core = core_.lock()) core->OnLaneClosed(*this, why);
}

void DialerCore::Shutdown() {
  dead_ = true;
  target_.reset();
  StopAttempt();
  loop_.CancelTimer(std::exchange(retry_timer_, 0));
  if (session_ != nullptr) dropped_.push_back(std::move(session_));
  for (auto& session : std::exchange(dropped_, {})) {
    session->Abandon();
    // A callback of it may be on the stack.
    loop_.Post([keep = std::move(session)] {});
  }
}

void DialerCore::SetTarget(const std::string& host, uint16_t port, const proto::Identity& callee) {
  if (target_ && target_->host == host && target_->port == port &&
      PlaceOf(target_->callee) == PlaceOf(callee) &&
      EpochOf(target_->callee.epoch()) == EpochOf(callee.epoch())) {
    return;
  }
  target_ = Target{host, port, callee};
  DropSession("the callee has moved");
  StopAttempt();
  back_off_.Reset();
  last_logged_.clear();
  loop_.CancelTimer(std::exchange(retry_timer_, 0));
  Dial();
}

void DialerCore::ClearTarget() {
  target_.reset();
  DropSession("the callee is gone");
  StopAttempt();
  loop_.CancelTimer(std::exchange(retry_timer_, 0));
}

void DialerCore::DropSession(const std::string& why) {
  if (session_ == nullptr) return;
  std::shared_ptr<LaneSession> session = std::move(session_);
  dropped_.push_back(session);
  session->FailLater(Unavailable(why));
}

void DialerCore::Dial() {
  StopAttempt();
  // All lanes carry the same random bytes: that is what makes them one session.
  const std::string session_id = RandomBytes(kSessionIdBytes);
  attempt_timer_ = loop_.RunAfter(options_.session.handshake_timeout, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->attempt_timer_ = 0;
    self->AttemptFailed(DeadlineExceeded("handshake took too long"));
  });
  for (proto::Lane lane : options_.lanes) DialLane(lane, session_id);
}

void DialerCore::DialLane(proto::Lane lane, const std::string& session_id) {
  proto::Hello hello;
  *hello.mutable_caller() = options_.self;
  *hello.mutable_callee() = target_->callee;
  hello.set_lane(lane);
  hello.set_session(session_id);
  hello.set_nonce(RandomBytes(kNonceBytes));
  auto dial = std::make_shared<LaneDial>(weak_from_this(), attempt_, hello, options_.credentials);
  lanes_.push_back(dial);
  net::ConnectionOptions connection = options_.session.connection;
  connection.max_body_bytes = kMaxHandshakeBodyBytes;  // until the session is up
  dial->connector = net::Connector::Connect(
      loop_, target_->host, target_->port, connection, options_.session.handshake_timeout,
      [weak = weak_from_this(),
       dial_weak = std::weak_ptr<LaneDial>(dial)](Result<std::unique_ptr<net::Connection>> result) {
        auto self = weak.lock();
        auto connected = dial_weak.lock();
        if (self != nullptr && connected != nullptr) {
          self->OnConnected(*connected, std::move(result));
        }
      });
}

void DialerCore::OnConnected(LaneDial& lane, Result<std::unique_ptr<net::Connection>> result) {
  if (!IsPresent(lane)) return;
  if (!result.ok()) {
    AttemptFailed(result.status());
    return;
  }
  lane.connection = std::move(*result);
  lane.connection->SetHandler(&lane);
  lane.connection->SendFrame(lane.handshake.Hello().ToFrame());
}

void DialerCore::OnLaneFrame(LaneDial& lane, const net::Frame& frame) {
  if (!IsPresent(lane)) return;
  std::optional<HandshakeMessage> answer = lane.handshake.OnMessage(frame.type, frame.body());
  if (answer.has_value()) lane.connection->SendFrame(answer->ToFrame());
  switch (lane.handshake.state()) {
    case DialerHandshake::State::kFailed:
      OnLaneRefused(lane);
      break;
    case DialerHandshake::State::kDone:
      // The session's first frames may be right behind; they wait for the other lanes.
      lane.connection->PauseReading();
      BringUpIfComplete();
      break;
    case DialerHandshake::State::kAwaitChallenge:
    case DialerHandshake::State::kAwaitWelcome:
      break;
  }
}

void DialerCore::OnLaneRefused(LaneDial& lane) {
  const HandshakeFailure failure = lane.handshake.failure();
  // Our own refusal should still reach the listener, which counts it.
  lane.connection->CloseAfterFlush();
  const proto::RefusalReason reason = failure.refused.reason();
  AttemptFailed(Unavailable((failure.by_peer ? "refused by the callee: " : "") +
                            proto::RefusalReason_Name(reason) + ": " + failure.refused.text()));
  const bool weighty = reason == proto::FENCED || reason == proto::NOT_WANTED;
  if (dead_ || !options_.on_refused || (weighty && !failure.trusted)) return;
  const auto on_refused = options_.on_refused;
  on_refused(failure.refused);
}

void DialerCore::OnLaneClosed(LaneDial& lane, const Status& why) {
  if (IsPresent(lane)) AttemptFailed(why.WithContext("handshake"));
}

void DialerCore::BringUpIfComplete() {
  const proto::Identity peer = lanes_.front()->handshake.listener();
  for (const auto& lane : lanes_) {
    if (lane->handshake.state() != DialerHandshake::State::kDone) return;
    // A callee that was replaced between two lanes.
    if (EpochOf(lane->handshake.listener().epoch()) != EpochOf(peer.epoch())) {
      AttemptFailed(Unavailable("the lanes met different lives of the callee"));
      return;
    }
  }
  std::vector<LaneSession::ProvedLane> proved;
  for (const auto& lane : lanes_) proved.push_back({lane->lane, std::move(lane->connection)});
  StopAttempt();
  last_logged_.clear();
  session_ = std::make_shared<LaneSession>(loop_, options_.session, peer, std::move(proved),
                                           handler_, this);
  std::shared_ptr<LaneSession> session = session_;
  session->Start();
  handler_->OnSessionUp(*session);
}

void DialerCore::AttemptFailed(const Status& why) {
  StopAttempt();
  if (!target_) return;
  // Once per kind of failure: the next dial mostly fails the same way.
  if (why.message() != last_logged_) {
    last_logged_ = why.message();
    LOG(WARNING) << "no session with " << DescribeIdentity(target_->callee) << " at "
                 << net::FormatHostPort(target_->host, target_->port) << ": " << why.message()
                 << " (trying again)";
  }
  DialLater();
}

void DialerCore::StopAttempt() {
  ++attempt_;
  loop_.CancelTimer(std::exchange(attempt_timer_, 0));
  // The lanes may be on the stack; each keeps itself alive there. Destroying a connection lets a
  // flush go on.
  lanes_.clear();
}

void DialerCore::DialLater() {
  loop_.CancelTimer(retry_timer_);
  retry_timer_ = loop_.RunAfter(back_off_.Next(), [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->retry_timer_ = 0;
    self->Dial();
  });
}

void DialerCore::OnSessionEnded(LaneSession& session, const Status& why) {
  auto self = shared_from_this();
  std::shared_ptr<LaneSession> keep;
  if (session_.get() == &session) {
    keep = std::move(session_);
    if (loop_.clock().Now() - session.up_since() > kLongEnough) back_off_.Reset();
    if (target_) DialLater();
  } else {
    auto it = std::find_if(dropped_.begin(), dropped_.end(),
                           [&session](const auto& dropped) { return dropped.get() == &session; });
    if (it == dropped_.end()) return;
    keep = std::move(*it);
    dropped_.erase(it);
  }
  if (!dead_) handler_->OnSessionDown(session, why);
}

void DialerCore::OnSessionClosedByUser(LaneSession& session) {
  if (session_.get() == &session) {
    session_.reset();
    if (loop_.clock().Now() - session.up_since() > kLongEnough) back_off_.Reset();
    if (target_) DialLater();
    return;
  }
  std::erase_if(dropped_, [&session](const auto& dropped) { return dropped.get() == &session; });
}

class SessionDialerImpl final : public SessionDialer {
 public:
  explicit SessionDialerImpl(std::shared_ptr<DialerCore> core) : core_(std::move(core)) {}
  ~SessionDialerImpl() override { core_->Shutdown(); }
  void SetTarget(const std::string& host, uint16_t port, const proto::Identity& callee) override {
    core_->SetTarget(host, port, callee);
  }
  void ClearTarget() override { core_->ClearTarget(); }
  void SetSelf(proto::Identity self) override { core_->SetSelf(std::move(self)); }
  Session* session() override { return core_->session(); }

 private:
  std::shared_ptr<DialerCore> core_;
};

}  // namespace

std::unique_ptr<SessionDialer> SessionDialer::Make(net::EventLoop& loop, Options options,
                                                   SessionHandler* handler) {
  CHECK(!options.lanes.empty()) << "a session needs a lane";
  return std::make_unique<SessionDialerImpl>(
      std::make_shared<DialerCore>(loop, std::move(options), handler));
}

}  // namespace heron::link
