// The messages of MasterCore: what it says to executors and stream managers, made from what is
// stored.
#include <algorithm>

#include "heron/topology_master/core/master_core.h"

namespace heron::topology_master {

using proto::ContainerPlan;
using proto::ExecutionState;
using proto::MasterUpdate;

namespace {

// A stream manager that has another plan than it was sent this long ago is sent it again.
constexpr Duration kPlanRepeat = std::chrono::seconds(3);

std::string EndText(const ExecutionState& state) {
  if (state.state() == ExecutionState::FAILED) return "the topology failed: " + state.reason();
  return state.incomplete().empty() ? "the topology finished"
                                    : "the topology finished, but not everything arrived";
}

}  // namespace

void MasterCore::SendViews(Moment m) {
  if (!record_ && lease_epoch_ == 0) return;
  const bool changed = views_changed_ && m.now >= views_sent_at_ + kUrgentPause;
  if (changed) {
    views_changed_ = false;
    views_sent_at_ = m.now;
  }
  const auto due = [&](const auto& session) {
    return changed || session.sent.empty() ||
           m.now >= session.sent_at + options_.heartbeat_interval;
  };
  for (auto& [id, session] : executors_.sessions()) {
    if (!session.report || (!session.answer_due && !due(session))) continue;
    session.answer_due = false;
    const ContainerPlan plan = PlanFor(m, session);
    std::string bytes = plan.SerializeAsString();
    if (bytes == session.sent && m.now < session.sent_at + options_.heartbeat_interval) continue;
    session.sent = std::move(bytes);
    session.sent_at = m.now;
    session.stop_sent = session.stop_sent || plan.command() == ContainerPlan::STOP;
    effects_->SendContainerPlan(id, plan);
  }
  if (!record_ || !record_->plan_stored || !record_->layout) return;
  for (auto& [id, session] : stream_managers_.sessions()) {
    if (!due(session) || plan_index_.count(session.container) == 0) continue;
    MasterUpdate update = UpdateFor(session.container);
    std::string bytes = update.SerializeAsString();
    if (bytes == session.sent && m.now < session.sent_at + options_.heartbeat_interval) continue;
    session.sent = std::move(bytes);
    session.sent_at = m.now;
    if (!session.topology_sent) *update.mutable_topology() = record_->submitted;
    session.topology_sent = true;
    const uint64_t version = record_->plan.version();
    const bool repeat = session.report && session.report->plan_version() != version &&
                        m.now >= session.plan_sent_at + kPlanRepeat;
    if (session.plan_sent != version || repeat) {
      *update.mutable_plan() = record_->plan;
      session.plan_sent = version;
      session.plan_sent_at = m.now;
    }
    effects_->SendMasterUpdate(id, update);
  }
}

void MasterCore::AddGrants(ContainerId container,
                           google::protobuf::RepeatedPtrField<proto::TaskGrant>* out) const {
  if (grants_.empty()) return;
  auto it = plan_index_.find(container);
  if (it == plan_index_.end()) return;
  for (const proto::PlannedTask& task : record_->plan.containers(it->second).tasks()) {
    if (auto grant = grants_.find(task.task()); grant != grants_.end()) *out->Add() = grant->second;
  }
}

bool MasterCore::OthersHaveStopped(Moment m) const {
  if (ended_at_ && m.now >= *ended_at_ + kStopGrace) return true;
  return std::all_of(plan_index_.begin(), plan_index_.end(), [this](const auto& entry) {
    return entry.first == 0 || stopped_.count(entry.first) > 0;
  });
}

ContainerPlan MasterCore::PlanFor(Moment m, const ExecutorSession& session) const {
  ContainerPlan plan;
  plan.set_mastership_epoch(record_ ? record_epoch_ : lease_epoch_);
  plan.set_command(ContainerPlan::WAIT);
  if (!record_) return plan;
  const ExecutorClaim claim = session.Claim();
  if (record_->plan_stored) plan.set_version(record_->plan.version());
  plan.set_acknowledged_failure(executors_.StoredFailure(claim));

  if (Ended() && (session.container != 0 || OthersHaveStopped(m))) {
    plan.set_command(ContainerPlan::STOP);
    plan.set_text(EndText(*record_->state));
    return plan;
  }
  switch (incarnations_.Judge(claim)) {
    case Incarnations::Verdict::kUnknownContainer:
      plan.set_command(ContainerPlan::NOT_WANTED);
      plan.set_text("the plan has no container " + std::to_string(session.container));
      break;
    case Incarnations::Verdict::kFenced:
      plan.set_command(ContainerPlan::FENCED);
      plan.set_text("another executor holds container " + std::to_string(session.container));
      break;
    case Incarnations::Verdict::kCandidate:
      break;
    case Incarnations::Verdict::kHolder:
      // The one of container 0 runs nothing but the master and waits for no plan.
      if (session.container != 0 && !record_->plan_stored) break;
      plan.set_command(ContainerPlan::RUN);
      plan.set_incarnation(incarnations_.IncarnationOf(session.container));
      if (auto it = plan_index_.find(session.container); it != plan_index_.end()) {
        *plan.mutable_tasks() = record_->plan.containers(it->second).tasks();
      }
      AddGrants(session.container, plan.mutable_grants());
      break;
  }
  return plan;
}

MasterUpdate MasterCore::UpdateFor(ContainerId container) const {
  MasterUpdate update;
  update.set_mastership_epoch(record_epoch_);
  update.set_plan_version(record_->plan.version());
  stream_managers_.WriteAddresses(incarnations_, &update);
  update.set_active(!Ended() && desire_ == proto::DesiredState::ACTIVE && all_registered_);
  AddGrants(container, update.mutable_grants());
  return update;
}

}  // namespace heron::topology_master
