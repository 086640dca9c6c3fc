#include "heron/topology_master/server.h"

#include <glog/logging.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "heron/base/exit_codes.h"
#include "heron/net/frame.h"
#include "proto/frame.pb.h"
#include "proto/state.pb.h"

namespace heron::topology_master {

namespace {

constexpr Duration kTick = std::chrono::milliseconds(20);
// A peer that lets this much pile up is cut off: it comes back and gets the state as it is then.
constexpr size_t kMaxQueuedBytes = 128u << 20;

link::SessionOptions Sessions(const Options& options) {
  link::SessionOptions session;
  session.heartbeat_interval = options.settings.heartbeat_interval();
  session.heartbeat_timeout = options.settings.heartbeat_timeout();
  return session;
}

std::optional<link::Refusal> Admit(const proto::Identity& caller) {
  const bool executor = caller.role() == proto::EXECUTOR;
  // Which containers the plan has is said in the answer to the first report; here only what can
  // never be is refused.
  if (caller.container() < (executor ? 0 : 1)) {
    return link::Refusal{proto::NOT_WANTED, "there is no such container"};
  }
  return std::nullopt;
}

}  // namespace

Server::Server(net::EventLoop& loop, Options options, std::string secret,
               std::shared_ptr<state::StateStore> store, std::function<void(int)> on_exit)
    : loop_(loop),
      options_(std::move(options)),
      credentials_{options_.key.name, options_.topology_id, std::move(secret)},
      on_exit_(std::move(on_exit)),
      core_({.topology_id = options_.topology_id,
             .heartbeat_interval = options_.settings.heartbeat_interval()},
            this),
      store_(loop, std::move(store)) {}

Server::~Server() { loop_.CancelTimer(tick_timer_); }

Status Server::Start() {
  link::SessionListener::Options listen;
  listen.host = options_.bind_host;
  listen.self = link::MakeIdentity(proto::TOPOLOGY_MASTER, options_.container, 0, {});
  listen.credentials = credentials_;
  listen.session = Sessions(options_);
  listen.lanes[proto::EXECUTOR] = {proto::CONTROL};
  listen.lanes[proto::STREAM_MANAGER] = {proto::CONTROL};
  listen.admit = Admit;
  auto listener = link::SessionListener::Listen(loop_, std::move(listen), this);
  if (!listener.ok()) {
    return listener.status().WithContext("cannot listen on " + options_.bind_host);
  }
  listener_ = std::move(listener).value();

  ExecutorLink::Options executor;
  executor.credentials = credentials_;
  executor.session = Sessions(options_);
  executor.report_interval = options_.settings.heartbeat_interval();
  executor.container = options_.container;
  executor.host = options_.executor_host;
  executor.port = options_.executor_port;
  executor.listening_port = listener_->port();
  executor_ = std::make_unique<ExecutorLink>(loop_, std::move(executor), [this] {
    Exit(kExitError, "the executor of this container is gone");
  });

  desired_watch_ = store_.WatchNode(state::DesiredPath(options_.key),
                                    [this] { core_.OnDesiredChanged(Now()); });
  state::LeaseOptions lease;
  lease.payload = Location(0);
  lease.lease = options_.settings.lease();
  state::LeaseEvents events;
  events.on_gained = [this](uint64_t epoch) { OnLeaseGained(epoch); };
  events.on_lost = [this] { OnLeaseLost(); };
  lease_ = store_.Contend(state::MasterPath(options_.key), std::move(lease), std::move(events));
  tick_timer_ = loop_.RunEvery(kTick, [this] { core_.OnTick(Now()); });
  LOG(INFO) << "listening on " << net::FormatHostPort(options_.bind_host, listener_->port())
            << ", contending for the mastership of " << options_.topology_id;
  return Status::Ok();
}

std::string Server::Location(uint64_t epoch) const {
  proto::MasterLocation location;
  location.set_topology_id(options_.topology_id);
  location.set_host(options_.bind_host);
  location.set_port(listener_->port());
  location.set_mastership_epoch(epoch);
  location.set_pid(getpid());
  return location.SerializeAsString();
}

void Server::OnLeaseGained(uint64_t epoch) {
  LOG(INFO) << "mastership gained, epoch " << epoch;
  listener_->SetSelf(link::MakeIdentity(proto::TOPOLOGY_MASTER, options_.container, 0, {epoch, 0}));
  lease_->SetPayload(Location(epoch));
  core_.OnLeaseGained(Now(), epoch);
}

void Server::OnLeaseLost() {
  LOG(WARNING) << "mastership lost; nothing is changed until it is gained again";
  core_.OnLeaseLost(Now());
}

// ---- store ----

std::string Server::Path(Node node) const {
  switch (node) {
    case Node::kTopology:
      return state::TopologyPath(options_.key);
    case Node::kPackingPlan:
      return state::PackingPlanPath(options_.key);
    case Node::kDesired:
      return state::DesiredPath(options_.key);
    case Node::kPhysicalPlan:
      return state::PhysicalPlanPath(options_.key);
    case Node::kExecutionState:
      return state::ExecutionStatePath(options_.key);
  }
  return "";
}

void Server::ReadNode(Node node, uint64_t request) {
  store_.Get(Path(node), [this, request](Result<state::VersionedValue> result) {
    if (!result.ok()) {
      core_.OnRead(Now(), request, result.status());
    } else {
      core_.OnRead(Now(), request, StoredValue{std::move(result->value), result->version});
    }
  });
}

void Server::WriteNode(Node node, uint64_t request, std::string value,
                       std::optional<int64_t> expected_version) {
  const auto done = [this, request](const Result<int64_t>& result) {
    core_.OnWritten(Now(), request, result);
  };
  // After a pause of the process the loss may not have been told yet.
  if (!lease_->Held()) {
    store_.Get(Path(node), [done](const Result<state::VersionedValue>&) {
      done(Unavailable("the mastership is in doubt"));
    });
  } else if (expected_version) {
    store_.Set(Path(node), std::move(value), *expected_version, done);
  } else {
    store_.Create(Path(node), std::move(value), done);
  }
}

// ---- sessions ----

void Server::Send(SessionId id, proto::MessageType type,
                  const google::protobuf::MessageLite& message) {
  auto it = sessions_.find(id);
  if (it == sessions_.end()) return;
  link::Session* session = it->second;
  if (session->QueuedBytes(proto::CONTROL) <= kMaxQueuedBytes) {
    session->Send(proto::CONTROL, type, message);
    return;
  }
  // Not from inside the core, which calls us.
  loop_.Post([this, id] {
    auto late = sessions_.find(id);
    if (late == sessions_.end()) return;
    link::Session* slow = late->second;
    OnSessionDown(*slow, Unavailable("it does not read what it is sent"));
    slow->Close();
  });
}

void Server::SendContainerPlan(SessionId session, const proto::ContainerPlan& plan) {
  Send(session, proto::CONTAINER_PLAN, plan);
}

void Server::SendMasterUpdate(SessionId session, const proto::MasterUpdate& update) {
  Send(session, proto::MASTER_UPDATE, update);
}

void Server::OnSessionUp(link::Session& session) {
  const SessionId id = ++last_session_;
  ids_[&session] = id;
  sessions_[id] = &session;
  const ContainerId container = session.peer().container();
  if (session.peer().role() == proto::EXECUTOR) {
    LOG(INFO) << "executor of container " << container << " connected";
    core_.OnExecutorUp(Now(), id, container);
  } else {
    LOG(INFO) << "stream manager of container " << container << " connected";
    core_.OnStreamManagerUp(Now(), id, container);
  }
}

void Server::OnFrame(link::Session& session, proto::Lane /*lane*/, net::Frame frame) {
  auto it = ids_.find(&session);
  if (it == ids_.end()) return;
  Status parsed;
  const proto::Role role = session.peer().role();
  if (frame.type == proto::EXECUTOR_REPORT && role == proto::EXECUTOR) {
    proto::ExecutorReport report;
    parsed = net::ParseBody(frame.body(), report);
    if (parsed.ok()) core_.OnExecutorReport(Now(), it->second, std::move(report));
  } else if (frame.type == proto::STREAM_MANAGER_REPORT && role == proto::STREAM_MANAGER) {
    proto::StreamManagerReport report;
    parsed = net::ParseBody(frame.body(), report);
    if (parsed.ok()) core_.OnStreamManagerReport(Now(), it->second, std::move(report));
  }
  LOG_IF_EVERY_N(WARNING, !parsed.ok(), 100)
      << "from " << session.peer_address() << ": " << parsed.ToString();
}

void Server::OnSessionDown(link::Session& session, const Status& why) {
  auto it = ids_.find(&session);
  if (it == ids_.end()) return;
  const SessionId id = it->second;
  ids_.erase(it);
  sessions_.erase(id);
  const bool executor = session.peer().role() == proto::EXECUTOR;
  LOG(INFO) << (executor ? "executor" : "stream manager") << " of container "
            << session.peer().container() << " is gone: " << why.message();
  if (executor) {
    core_.OnExecutorDown(Now(), id);
  } else {
    core_.OnStreamManagerDown(Now(), id);
  }
}

void Server::Exit(int code, const std::string& why) {
  if (exited_) return;
  exited_ = true;
  LOG(WARNING) << "exit " << code << ": " << why;
  on_exit_(code);
}

}  // namespace heron::topology_master
