#include "heron/executor/master_follower.h"

#include <glog/logging.h>

#include "proto/state.pb.h"

namespace heron::executor {
namespace {

constexpr size_t kMaxRefusalsSaid = 16;

}  // namespace

MasterFollower::MasterFollower(net::EventLoop& loop, state::AsyncStore& store, Options options,
                               Callbacks callbacks)
    : store_(store), options_(std::move(options)), callbacks_(std::move(callbacks)) {
  link::SessionDialer::Options dial;
  // Without an epoch: a new executor of this container must not be refused for knowing no
  // incarnation yet. The reports carry it, and the topology master judges by them.
  dial.self = link::MakeIdentity(proto::EXECUTOR, options_.container, 0, {});
  dial.callee = link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, {});
  dial.credentials = options_.credentials;
  dial.session = options_.session;
  dial.lanes = {proto::CONTROL};
  dial.on_refused = [this](const proto::Refused& refused) { OnRefused(refused); };
  dialer_ = link::SessionDialer::Make(loop, std::move(dial), this);
}

MasterFollower::~MasterFollower() { *alive_ = false; }

void MasterFollower::Start() {
  if (started_) return;
  started_ = true;
  watch_ = store_.WatchNode(state::MasterPath(options_.key), [this] { Look(); });
  Look();
}

void MasterFollower::Look() {
  if (!started_ || reading_) return;
  reading_ = true;
  store_.ReadLease(state::MasterPath(options_.key),
                   [this, alive = alive_](Result<state::LeaseView> lease) {
                     if (!*alive) return;
                     reading_ = false;
                     OnLease(lease);
                   });
}

// A store that cannot be reached, or a lease nobody holds, leaves a session alone: it lives or dies
// by its heartbeats.
void MasterFollower::OnLease(const Result<state::LeaseView>& lease) {
  if (!lease.ok() || lease->released || lease->payload.empty()) return;
  proto::MasterLocation location;
  if (!location.ParseFromString(lease->payload)) {
    LOG_FIRST_N(WARNING, 10) << "the lease of the topology master holds damaged bytes";
    return;
  }
  if (location.topology_id() != options_.credentials.topology_id) return;
  if (location.port() == 0 || location.port() > 65535) return;
  dialer_->SetTarget(location.host(), static_cast<uint16_t>(location.port()),
                     link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, {lease->epoch, 0}));
}

void MasterFollower::OnRefused(const proto::Refused& refused) {
  // Repeated with each dial; said once per text.
  if (refusals_said_.size() < kMaxRefusalsSaid && refusals_said_.insert(refused.text()).second) {
    LOG(WARNING) << "the topology master refuses this executor: "
                 << proto::RefusalReason_Name(refused.reason()) << " " << refused.text();
  }
}

void MasterFollower::Send(const proto::ExecutorReport& report) {
  link::Session* session = dialer_->session();
  if (session != nullptr) session->Send(proto::CONTROL, proto::EXECUTOR_REPORT, report);
}

void MasterFollower::OnSessionUp(link::Session& session) {
  LOG(INFO) << "connected to the topology master at " << session.peer_address();
  callbacks_.connected();
}

void MasterFollower::OnFrame(link::Session& /*session*/, proto::Lane /*lane*/, net::Frame frame) {
  if (frame.type != proto::CONTAINER_PLAN) return;
  proto::ContainerPlan plan;
  const Status status = net::ParseBody(frame.body(), plan);
  if (!status.ok()) {
    LOG_FIRST_N(WARNING, 10) << "from the topology master: " << status.ToString();
    return;
  }
  callbacks_.plan(plan);
}

void MasterFollower::OnSessionDown(link::Session& /*session*/, const Status& why) {
  LOG(INFO) << "lost the topology master: " << why.ToString();
  Look();
}

}  // namespace heron::executor
