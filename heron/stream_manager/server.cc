#include "heron/stream_manager/server.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "heron/base/exit_codes.h"
#include "heron/settings/topology_settings.h"

namespace heron::stream_manager {
namespace {

// The listener is there before the topology's limit is known; the core enforces that one.
constexpr size_t kMaxDataBodyBytes = 65u << 20;
constexpr int kLinesPerSecond = 20;

link::SessionOptions Sessions(const Options& options) {
  link::SessionOptions session;
  session.heartbeat_interval = options.settings.heartbeat_interval();
  session.heartbeat_timeout = options.settings.heartbeat_timeout();
  return session;
}

link::SessionOptions DataSessions(const Options& options) {
  link::SessionOptions session = Sessions(options);
  session.connection.max_body_bytes = kMaxDataBodyBytes;
  return session;
}

CoreSettings SettingsOf(const proto::SubmittedTopology& topology) {
  CoreSettings settings;
  auto parsed = settings::ParseTopologySettings(topology.topology().config());
  if (!parsed.ok()) {
    LOG(ERROR) << "configuration of topology " << topology.name() << ": "
               << parsed.status().ToString() << "; the defaults are used";
    return settings;
  }
  settings.queue_high_bytes = static_cast<size_t>(parsed->queue_high_bytes);
  settings.frame_max_bytes = static_cast<size_t>(parsed->tuple_max_bytes) + (1u << 20);
  settings.destination_grace = parsed->destination_grace();
  settings.heartbeat_interval = parsed->heartbeat_interval();
  return settings;
}

}  // namespace

Server::Server(net::EventLoop& loop, Options options, std::string secret,
               std::shared_ptr<state::StateStore> store, std::function<void(int)> on_exit)
    : loop_(loop),
      options_(std::move(options)),
      credentials_{options_.topology.name, options_.topology_id, std::move(secret)},
      self_(link::MakeIdentity(proto::STREAM_MANAGER, options_.container, 0, options_.epoch)),
      on_exit_(std::move(on_exit)),
      store_(loop, std::move(store)) {}

Server::~Server() { loop_.CancelTimer(timer_); }

Status Server::Start() {
  HERON_RETURN_IF_ERROR(Listen());
  CoreSettings core_settings;  // until the plan is known
  core_settings.heartbeat_interval = options_.settings.heartbeat_interval();
  core_ = std::make_unique<StreamManagerCore>(
      CoreIdentity{options_.topology_id, options_.container, options_.epoch, options_.executor_host,
                   listener_->port()},
      core_settings, SettingsOf, static_cast<Effects*>(this), Now());
  DialMaster();
  ExecutorLink::Options executor;
  executor.credentials = credentials_;
  executor.session = Sessions(options_);
  executor.report_interval = options_.settings.heartbeat_interval();
  executor.self = self_;
  executor.host = options_.executor_host;
  executor.port = options_.executor_port;
  executor.listening_port = listener_->port();
  executor_ = std::make_unique<ExecutorLink>(loop_, std::move(executor),
                                             [this] { Exit(kExitParentDied); });
  ArmTimer();
  LOG(INFO) << "stream manager of container " << options_.container << ", epoch "
            << options_.epoch << ", listens on "
            << net::FormatHostPort(options_.executor_host, listener_->port());
  return Status::Ok();
}

Status Server::Listen() {
  link::SessionListener::Options listen;
  listen.host = options_.executor_host;
  listen.self = self_;
  listen.credentials = credentials_;
  listen.session = DataSessions(options_);
  listen.lanes[proto::INSTANCE] = {proto::CONTROL, proto::DATA, proto::ACK};
  listen.lanes[proto::STREAM_MANAGER] = {proto::CONTROL, proto::DATA};
  listen.admit = [this](const proto::Identity& caller) { return Admit(caller); };
  auto listener = link::SessionListener::Listen(loop_, std::move(listen), this);
  if (!listener.ok()) return listener.status().WithContext("listening for instances");
  listener_ = std::move(listener).value();
  return Status::Ok();
}

void Server::DialMaster() {
  link::SessionDialer::Options dial;
  dial.self = self_;
  dial.callee = link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, {});
  dial.credentials = credentials_;
  dial.session = Sessions(options_);
  dial.lanes = {proto::CONTROL};
  dial.on_refused = [this](const proto::Refused& refused) { OnMasterRefused(refused); };
  master_dialer_ = link::SessionDialer::Make(loop_, std::move(dial), this);
  finder_ = std::make_unique<MasterFinder>(
      loop_, store_, options_.topology, options_.topology_id,
      [this](const MasterFinder::Location& at) {
        master_dialer_->SetTarget(
            at.host, at.port, link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, at.epoch));
      });
}

std::optional<link::Refusal> Server::Admit(const proto::Identity& caller) const {
  std::optional<std::string> why;
  if (caller.role() == proto::INSTANCE) {
    why = core_->RefuseInstance(caller.task());
  } else {
    why = core_->RefusePeer(caller.container());
  }
  if (!why) return std::nullopt;
  return link::Refusal{proto::NOT_WANTED, *why};
}

void Server::OnMasterRefused(const proto::Refused& refused) {
  if (refused.reason() != proto::FENCED) return;
  LOG(ERROR) << "fenced by the topology master: " << refused.text();
  Exit(kExitFenced);
}

void Server::Exit(int code) {
  if (auto on_exit = std::exchange(on_exit_, nullptr)) on_exit(code);
}

// ---- sessions

void Server::OnSessionUp(link::Session& session) {
  const proto::Identity& peer = session.peer();
  const Epoch epoch = link::EpochOf(peer.epoch());
  // A session that was replaced is forgotten here; its end is then of no interest.
  switch (peer.role()) {
    case proto::INSTANCE:
      instances_[peer.task()] = &session;
      core_->OnInstanceUp(peer.task(), epoch, Now());
      break;
    case proto::STREAM_MANAGER:
      peers_[peer.container()] = &session;
      core_->OnPeerUp(peer.container(), epoch, Now());
      break;
    case proto::TOPOLOGY_MASTER:
      LOG(INFO) << "connected to the topology master, mastership epoch " << epoch.incarnation;
      master_ = &session;
      core_->OnMasterUp(Now());
      break;
    default:
      break;
  }
  ArmTimer();
}

void Server::OnFrame(link::Session& session, proto::Lane lane, net::Frame frame) {
  const proto::Identity& peer = session.peer();
  switch (peer.role()) {
    case proto::INSTANCE:
      if (InstanceSession(peer.task()) != &session) return;
      core_->OnInstanceFrame(peer.task(), lane, frame.type, std::move(frame.bytes), Now());
      break;
    case proto::STREAM_MANAGER:
      if (PeerSession(peer.container()) != &session) return;
      core_->OnPeerFrame(peer.container(), lane, frame.type, std::move(frame.bytes), Now());
      break;
    case proto::TOPOLOGY_MASTER:
      if (master_ != &session) return;
      core_->OnMasterFrame(frame.type, frame.bytes, Now());
      break;
    default:
      break;
  }
  ArmTimer();
}

void Server::OnWritable(link::Session& session, proto::Lane lane) {
  const proto::Identity& peer = session.peer();
  if (lane != proto::DATA) return;
  if (peer.role() == proto::INSTANCE && InstanceSession(peer.task()) == &session) {
    core_->OnInstanceWritable(peer.task(), Now());
  } else if (peer.role() == proto::STREAM_MANAGER && PeerSession(peer.container()) == &session) {
    core_->OnPeerWritable(peer.container(), Now());
  }
  ArmTimer();
}

void Server::OnSessionDown(link::Session& session, const Status& why) {
  const proto::Identity& peer = session.peer();
  switch (peer.role()) {
    case proto::INSTANCE:
      if (InstanceSession(peer.task()) != &session) return;
      LOG(INFO) << "lost task " << peer.task() << ": " << why.ToString();
      instances_.erase(peer.task());
      core_->OnInstanceDown(peer.task(), Now());
      break;
    case proto::STREAM_MANAGER:
      if (PeerSession(peer.container()) != &session) return;
      LOG(INFO) << "lost the stream manager of container " << peer.container() << ": "
                << why.ToString();
      peers_.erase(peer.container());
      core_->OnPeerDown(peer.container(), Now());
      break;
    case proto::TOPOLOGY_MASTER:
      if (master_ != &session) return;
      LOG(INFO) << "lost the topology master: " << why.ToString() << "; data goes on";
      master_ = nullptr;
      core_->OnMasterDown(Now());
      break;
    default:
      break;
  }
  ArmTimer();
}

link::Session* Server::InstanceSession(TaskId task) const {
  auto it = instances_.find(task);
  return it == instances_.end() ? nullptr : it->second;
}

link::Session* Server::PeerSession(ContainerId container) const {
  auto it = peers_.find(container);
  return it == peers_.end() ? nullptr : it->second;
}

void Server::ArmTimer() {
  const MonotonicTime next = core_->NextWake();
  if (timer_ != 0 && timer_at_ <= next) return;
  loop_.CancelTimer(timer_);
  timer_at_ = next;
  timer_ = loop_.RunAfter(std::max(next - Now(), Duration::zero()), [this] { OnTimer(); });
}

void Server::OnTimer() {
  timer_ = 0;
  core_->OnTimer(Now());
  ArmTimer();
}

// ---- effects

void Server::SendToInstance(TaskId task, proto::Lane lane, BufferSlice frame) {
  if (link::Session* session = InstanceSession(task)) session->SendFrame(lane, std::move(frame));
}

void Server::SendToPeer(ContainerId container, proto::Lane lane, BufferSlice frame) {
  if (link::Session* session = PeerSession(container)) session->SendFrame(lane, std::move(frame));
}

void Server::SendToMaster(BufferSlice frame) {
  if (master_ != nullptr) master_->SendFrame(proto::CONTROL, std::move(frame));
}

size_t Server::InstanceQueuedBytes(TaskId task, proto::Lane lane) {
  link::Session* session = InstanceSession(task);
  return session == nullptr ? 0 : session->QueuedBytes(lane);
}

size_t Server::PeerQueuedBytes(ContainerId container, proto::Lane lane) {
  link::Session* session = PeerSession(container);
  return session == nullptr ? 0 : session->QueuedBytes(lane);
}

size_t Server::MasterQueuedBytes() {
  return master_ == nullptr ? 0 : master_->QueuedBytes(proto::CONTROL);
}

void Server::PauseInstance(TaskId task) {
  if (link::Session* session = InstanceSession(task)) session->PauseReading(proto::DATA);
}

void Server::ResumeInstance(TaskId task) {
  if (link::Session* session = InstanceSession(task)) session->ResumeReading(proto::DATA);
}

void Server::PausePeer(ContainerId container) {
  if (link::Session* session = PeerSession(container)) session->PauseReading(proto::DATA);
}

void Server::ResumePeer(ContainerId container) {
  if (link::Session* session = PeerSession(container)) session->ResumeReading(proto::DATA);
}

void Server::CloseInstance(TaskId task, const std::string& why) {
  link::Session* session = InstanceSession(task);
  if (session == nullptr) return;
  LOG(WARNING) << "closing the session of task " << task << ": " << why;
  instances_.erase(task);
  session->Close();
}

void Server::ClosePeer(ContainerId container, const std::string& why) {
  link::Session* session = PeerSession(container);
  if (session == nullptr) return;
  LOG(WARNING) << "closing the session of container " << container << ": " << why;
  peers_.erase(container);
  session->Close();
}

void Server::SetPeerTarget(ContainerId container, const std::string& host, uint16_t port,
                           Epoch epoch) {
  const proto::Identity callee =
      link::MakeIdentity(proto::STREAM_MANAGER, container, 0, epoch);
  std::unique_ptr<link::SessionDialer>& dialer = peer_dialers_[container];
  if (dialer == nullptr) {
    link::SessionDialer::Options dial;
    dial.self = self_;
    dial.callee = callee;
    dial.credentials = credentials_;
    dial.session = DataSessions(options_);
    dial.lanes = {proto::CONTROL, proto::DATA};
    dialer = link::SessionDialer::Make(loop_, std::move(dial), this);
  }
  dialer->SetTarget(host, port, callee);
}

void Server::ClearPeerTarget(ContainerId container) {
  auto it = peer_dialers_.find(container);
  if (it != peer_dialers_.end()) it->second->ClearTarget();
}

void Server::Log(const std::string& line) {
  const MonotonicTime now = Now();
  if (now - log_window_ > std::chrono::seconds(1)) {
    if (suppressed_lines_ > 0) LOG(INFO) << suppressed_lines_ << " lines were left out";
    log_window_ = now;
    logged_in_window_ = 0;
    suppressed_lines_ = 0;
  }
  if (logged_in_window_ >= kLinesPerSecond) {
    ++suppressed_lines_;
    return;
  }
  ++logged_in_window_;
  LOG(INFO) << line;
}

}  // namespace heron::stream_manager
