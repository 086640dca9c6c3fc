#include <glog/logging.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "heron/base/random.h"
#include "heron/link/handshake.h"
#include "heron/link/lane_session.h"
#include "heron/link/session.h"

namespace heron::link {
namespace {

// How long a refused connection is kept in the books: as long as it may take to send the refusal.
constexpr Duration kRefusalTime = std::chrono::seconds(1);

using PendingId = uint64_t;
using GroupKey = std::tuple<Place, std::string>;  // caller, session nonce

class ListenerCore;

// An accepted connection that is not part of a session yet.
class PendingLane final : public net::Connection::Handler,
                          public std::enable_shared_from_this<PendingLane> {
 public:
  PendingLane(PendingId number, std::weak_ptr<ListenerCore> core,
              std::unique_ptr<net::Connection> accepted, const proto::Identity& self,
              const TopologyCredentials& credentials)
      : id(number),
        connection(std::move(accepted)),
        handshake(self, credentials, RandomBytes(kNonceBytes)),
        core_(std::move(core)) {}

  void OnFrame(net::Frame frame) override;
  void OnClosed(const Status& why) override;

  const proto::Identity& caller() const { return handshake.hello().caller(); }
  GroupKey group() const { return {PlaceOf(caller()), handshake.hello().session()}; }

  const PendingId id;
  std::unique_ptr<net::Connection> connection;
  ListenerHandshake handshake;
  net::TimerId timer = 0;
  bool refused = false;  // being flushed

 private:
  std::weak_ptr<ListenerCore> core_;
};

// Lanes of one session to be, all proved.
struct Group {
  std::vector<std::shared_ptr<PendingLane>> lanes;
};

class ListenerCore final : public LaneSession::Owner,
                           public std::enable_shared_from_this<ListenerCore> {
 public:
  ListenerCore(net::EventLoop& loop, SessionListener::Options options, SessionHandler* handler)
      : loop_(loop), options_(std::move(options)), handler_(handler) {}

  Status Open();
  void Shutdown();
  uint16_t port() const { return listener_->port(); }
  void SetSelf(proto::Identity self) { options_.self = std::move(self); }
  const SessionListener::Counters& counters() const { return counters_; }

  void OnPendingFrame(const std::shared_ptr<PendingLane>& lane, const net::Frame& frame);
  void OnPendingClosed(const std::shared_ptr<PendingLane>& lane);
  void OnSessionEnded(LaneSession& session, const Status& why) override;
  void OnSessionClosedByUser(LaneSession& session) override { Forget(session); }

 private:
  void OnAccept(std::unique_ptr<net::Connection> connection);
  void OnPendingTimer(PendingId id);
  void OnHandshakeFailed(const std::shared_ptr<PendingLane>& lane);
  void OnProved(const std::shared_ptr<PendingLane>& lane);
  std::optional<Refusal> JudgeLane(const PendingLane& lane);
  std::optional<Refusal> JudgeFencing(const proto::Identity& caller);
  void Admit(Group group);
  void BringUp(Group group);
  void RefuseGroup(const Group& group, const Refusal& refusal);
  void Refuse(const std::shared_ptr<PendingLane>& lane, const Refusal& refusal);
  void FlushAndDrop(const std::shared_ptr<PendingLane>& lane);
  void Drop(const std::shared_ptr<PendingLane>& lane);
  void Count(const Refusal& refusal, const std::string& who);
  std::shared_ptr<LaneSession> Forget(LaneSession& session);

  net::EventLoop& loop_;
  SessionListener::Options options_;
  SessionHandler* handler_;
  std::unique_ptr<net::Listener> listener_;
  SessionListener::Counters counters_;
  bool dead_ = false;
  PendingId next_pending_ = 1;
  std::map<PendingId, std::shared_ptr<PendingLane>> pending_;
  std::map<GroupKey, Group> groups_;
  std::map<Place, std::shared_ptr<LaneSession>> sessions_;
  // Highest epoch that had a session here. Only callers with a right proof get in, so the topology
  // bounds it.
  std::map<Place, Epoch> highest_epoch_;
  std::set<std::pair<int, int>> logged_;  // (reason, caller's role)
};

void PendingLane::OnFrame(net::Frame frame) {
  auto keep = shared_from_this();
  if (auto core = core_.lock()) core->OnPendingFrame(keep, frame);
}

void PendingLane::OnClosed(const Status& /*why*/) {
  auto keep = shared_from_this();
  if (auto core = core_.lock()) core->OnPendingClosed(keep);
}

Status ListenerCore::Open() {
  net::ConnectionOptions connection = options_.session.connection;
  connection.max_body_bytes = kMaxHandshakeBodyBytes;  // until a session is up
  Result<std::unique_ptr<net::Listener>> listener =
      net::Listener::Listen(loop_, options_.host, options_.port, connection,
                            [weak = weak_from_this()](std::unique_ptr<net::Connection> accepted) {
                              if (auto self = weak.lock()) self->OnAccept(std::move(accepted));
                            });
  if (!listener.ok()) return listener.status();
  listener_ = std::move(*listener);
  return Status::Ok();
}

void ListenerCore::Shutdown() {
  dead_ = true;
  listener_.reset();
  groups_.clear();
  for (auto& [id, lane] : std::exchange(pending_, {})) {
    loop_.CancelTimer(lane->timer);
    if (!lane->refused) lane->connection->Close();
  }
  for (auto& [place, session] : std::exchange(sessions_, {})) {
    session->Abandon();
    // A callback of it may be on the stack.
    loop_.Post([keep = std::move(session)] {});
  }
}

void ListenerCore::OnAccept(std::unique_ptr<net::Connection> connection) {
  const size_t limit = options_.session.max_pending_handshakes;
  if (pending_.size() >= 2 * limit) {
    ++counters_.refused;
    return;  // not even an answer
  }
  const PendingId id = next_pending_++;
  auto lane = std::make_shared<PendingLane>(id, weak_from_this(), std::move(connection),
                                            options_.self, options_.credentials);
  const bool full = pending_.size() >= limit;
  pending_.emplace(id, lane);
  if (full) {
    Refuse(lane, {proto::TOO_MANY, "too many handshakes at the same time; try again"});
    return;
  }
  lane->timer = loop_.RunAfter(options_.session.handshake_timeout, [weak = weak_from_this(), id] {
    if (auto self = weak.lock()) self->OnPendingTimer(id);
  });
  lane->connection->SetHandler(lane.get());
}

void ListenerCore::OnPendingTimer(PendingId id) {
  auto it = pending_.find(id);
  if (it == pending_.end()) return;
  std::shared_ptr<PendingLane> lane = it->second;
  lane->timer = 0;
  if (!lane->refused) {
    ++counters_.handshake_timeouts;
    LOG_FIRST_N(WARNING, 3) << "handshake with " << lane->connection->peer_address()
                            << " took too long; connection closed";
  }
  OnPendingClosed(lane);
}

void ListenerCore::OnPendingFrame(const std::shared_ptr<PendingLane>& lane,
                                  const net::Frame& frame) {
  if (dead_ || lane->refused) return;
  std::optional<HandshakeMessage> answer = lane->handshake.OnMessage(frame.type, frame.body());
  if (answer.has_value()) lane->connection->SendFrame(answer->ToFrame());
  switch (lane->handshake.state()) {
    case ListenerHandshake::State::kFailed:
      OnHandshakeFailed(lane);
      break;
    case ListenerHandshake::State::kProved:
      OnProved(lane);
      break;
    case ListenerHandshake::State::kAwaitHello:
    case ListenerHandshake::State::kAwaitProof:
      break;
  }
}

void ListenerCore::OnHandshakeFailed(const std::shared_ptr<PendingLane>& lane) {
  const HandshakeFailure& failure = lane->handshake.failure();
  const std::string who = lane->connection->peer_address();
  Count({failure.refused.reason(), failure.refused.text()},
        failure.by_peer ? who + " (it refused us)" : who);
  // A lane that was proved and then talked out of turn takes its session along.
  auto group = groups_.find(lane->group());
  if (group != groups_.end() && std::find(group->second.lanes.begin(), group->second.lanes.end(),
                                          lane) != group->second.lanes.end()) {
    Group doomed = std::move(group->second);
    groups_.erase(group);
    for (const auto& other : doomed.lanes) {
      if (other != lane) Drop(other);
    }
  }
  FlushAndDrop(lane);
}

// The connection is gone, or took too long: so are the other lanes of its session.
void ListenerCore::OnPendingClosed(const std::shared_ptr<PendingLane>& lane) {
  if (dead_) return;
  auto group = groups_.find(lane->group());
  if (group != groups_.end() && std::find(group->second.lanes.begin(), group->second.lanes.end(),
                                          lane) != group->second.lanes.end()) {
    Group doomed = std::move(group->second);
    groups_.erase(group);
    for (const auto& other : doomed.lanes) Drop(other);
    return;
  }
  Drop(lane);
}

std::optional<Refusal> ListenerCore::JudgeLane(const PendingLane& lane) {
  const proto::Hello& hello = lane.handshake.hello();
  auto wanted = options_.lanes.find(hello.caller().role());
  if (wanted == options_.lanes.end()) {
    return Refusal{proto::NOT_WANTED, "no calls from " + DescribeIdentity(hello.caller())};
  }
  if (std::find(wanted->second.begin(), wanted->second.end(), hello.lane()) ==
      wanted->second.end()) {
    return Refusal{proto::MALFORMED, "no " + proto::Lane_Name(hello.lane()) + " lane for " +
                                         DescribeIdentity(hello.caller())};
  }
  if (auto fenced = JudgeFencing(hello.caller())) return fenced;
  auto group = groups_.find(lane.group());
  if (group == groups_.end()) return std::nullopt;
  for (const auto& other : group->second.lanes) {
    const proto::Hello& sibling = other->handshake.hello();
    if (sibling.lane() == hello.lane()) {
      return Refusal{proto::MALFORMED, "the same lane of a session twice"};
    }
    if (EpochOf(sibling.caller().epoch()) != EpochOf(hello.caller().epoch())) {
      return Refusal{proto::MALFORMED, "lanes of one session with different epochs"};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> ListenerCore::JudgeFencing(const proto::Identity& caller) {
  const Epoch epoch = EpochOf(caller.epoch());
  auto known = highest_epoch_.find(PlaceOf(caller));
  if (epoch.incarnation == 0 || known == highest_epoch_.end() || epoch >= known->second) {
    return std::nullopt;
  }
  return Refusal{proto::FENCED,
                 DescribeIdentity(caller) + " was replaced by epoch " + known->second.ToString()};
}

void ListenerCore::OnProved(const std::shared_ptr<PendingLane>& lane) {
  if (auto refusal = JudgeLane(*lane)) {
    Refuse(lane, *refusal);
    return;
  }
  const GroupKey key = lane->group();
  Group& group = groups_[key];
  group.lanes.push_back(lane);
  if (group.lanes.size() < options_.lanes.at(lane->caller().role()).size()) return;
  Group complete = std::move(group);
  groups_.erase(key);
  Admit(std::move(complete));
}

void ListenerCore::Admit(Group group) {
  // A copy: the user may destroy the listener in any of these calls.
  const proto::Identity caller = group.lanes.front()->caller();
  std::optional<Refusal> refusal;
  if (options_.admit) {
    const auto admit = options_.admit;
    refusal = admit(caller);
    if (dead_) return;
  }
  // Again: the epoch may have risen since the first lane was proved.
  if (!refusal) refusal = JudgeFencing(caller);
  if (refusal) {
    RefuseGroup(group, *refusal);
    return;
  }
  auto old = sessions_.find(PlaceOf(caller));
  if (old != sessions_.end()) {
    std::shared_ptr<LaneSession> displaced = old->second;
    displaced->Fail(Unavailable("replaced by a newer session of " + DescribeIdentity(caller)));
    if (dead_) return;
  }
  BringUp(std::move(group));
}

void ListenerCore::BringUp(Group group) {
  const proto::Identity caller = group.lanes.front()->caller();
  std::vector<LaneSession::ProvedLane> lanes;
  for (const auto& lane : group.lanes) {
    loop_.CancelTimer(std::exchange(lane->timer, 0));
    pending_.erase(lane->id);
    lane->connection->Send(proto::WELCOME, proto::Welcome());
    lanes.push_back({lane->handshake.hello().lane(), std::move(lane->connection)});
  }
  auto session = std::make_shared<LaneSession>(loop_, options_.session, caller, std::move(lanes),
                                               handler_, this);
  sessions_[PlaceOf(caller)] = session;
  Epoch& highest = highest_epoch_[PlaceOf(caller)];
  highest = std::max(highest, EpochOf(caller.epoch()));
  ++counters_.accepted;
  session->Start();
  handler_->OnSessionUp(*session);
}

void ListenerCore::RefuseGroup(const Group& group, const Refusal& refusal) {
  for (const auto& lane : group.lanes) Refuse(lane, refusal);
}

void ListenerCore::Refuse(const std::shared_ptr<PendingLane>& lane, const Refusal& refusal) {
  Count(refusal, lane->connection->peer_address());
  lane->connection->SendFrame(RefusedMessage(refusal.reason, refusal.text).ToFrame());
  FlushAndDrop(lane);
}

// Stays in `pending_` while the refusal is sent, so that these connections are bounded, too.
void ListenerCore::FlushAndDrop(const std::shared_ptr<PendingLane>& lane) {
  lane->refused = true;
  lane->connection->CloseAfterFlush();
  loop_.CancelTimer(lane->timer);
  lane->timer = loop_.RunAfter(kRefusalTime, [weak = weak_from_this(), id = lane->id] {
    if (auto self = weak.lock()) self->OnPendingTimer(id);
  });
}

void ListenerCore::Drop(const std::shared_ptr<PendingLane>& lane) {
  loop_.CancelTimer(std::exchange(lane->timer, 0));
  lane->connection->Close();
  pending_.erase(lane->id);
}

void ListenerCore::Count(const Refusal& refusal, const std::string& who) {
  ++counters_.refused;
  if (refusal.reason == proto::WRONG_PROOF) ++counters_.wrong_proof;
  if (refusal.reason == proto::MALFORMED) ++counters_.malformed;
  // Once per reason: whoever knocks wrongly does it again and again.
  if (logged_.emplace(refusal.reason, 0).second) {
    LOG(WARNING) << "connection from " << who
                 << " refused: " << proto::RefusalReason_Name(refusal.reason) << ": "
                 << refusal.text << " (further ones are only counted)";
  }
}

std::shared_ptr<LaneSession> ListenerCore::Forget(LaneSession& session) {
  auto it = sessions_.find(PlaceOf(session.peer()));
  if (it == sessions_.end() || it->second.get() != &session) return nullptr;
  std::shared_ptr<LaneSession> keep = std::move(it->second);
  sessions_.erase(it);
  return keep;
}

void ListenerCore::OnSessionEnded(LaneSession& session, const Status& why) {
  auto self = shared_from_this();
  std::shared_ptr<LaneSession> keep = Forget(session);
  if (!dead_) handler_->OnSessionDown(session, why);
}

class SessionListenerImpl final : public SessionListener {
 public:
  explicit SessionListenerImpl(std::shared_ptr<ListenerCore> core) : core_(std::move(core)) {}
  ~SessionListenerImpl() override { core_->Shutdown(); }
  uint16_t port() const override { return core_->port(); }
  void SetSelf(proto::Identity self) override { core_->SetSelf(std::move(self)); }
  const Counters& counters() const override { return core_->counters(); }

 private:
  std::shared_ptr<ListenerCore> core_;
};

}  // namespace

Result<std::unique_ptr<SessionListener>> SessionListener::Listen(net::EventLoop& loop,
                                                                 Options options,
                                                                 SessionHandler* handler) {
  if (options.credentials.secret.empty()) {
    return InvalidArgument("cannot listen without the topology's secret");
  }
  auto core = std::make_shared<ListenerCore>(loop, std::move(options), handler);
  HERON_RETURN_IF_ERROR(core->Open());
  return std::unique_ptr<SessionListener>(std::make_unique<SessionListenerImpl>(std::move(core)));
}

}  // namespace heron::link
