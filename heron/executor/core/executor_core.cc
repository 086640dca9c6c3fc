#include "heron/executor/core/executor_core.h"

#include <algorithm>
#include <csignal>

#include "heron/base/exit_codes.h"

namespace heron::executor {

namespace {

// An instance has no end of its own but these; kExitError comes with a line in its log.
bool ExitedByItself(const ChildEnd& end) {
  switch (end.exit_code) {
    case kExitError:
    case kExitUsage:
    case kExitUserError:
    case kExitUnrecoverable:
    case kExitDefinitionDiffers:
    case kExitFenced:
    case kExitNotWanted:
    case kExitParentDied:
      return false;
    default:
      return end.signal == 0 && end.exit_code >= 0;
  }
}

}  // namespace

ExecutorCore::ExecutorCore(Self self, Effects* effects)
    : self_(std::move(self)), effects_(effects) {}

ChildKey ExecutorCore::KeyOf(const proto::Identity& identity) {
  return {identity.role(), identity.role() == proto::INSTANCE ? identity.task() : 0};
}

void ExecutorCore::Start(MonotonicTime now) {
  if (self_.container == 0) Want({proto::TOPOLOGY_MASTER, 0}, {}, now);
  OnTime(now);
}

// --- commands ---

void ExecutorCore::OnContainerPlan(const proto::ContainerPlan& plan, MonotonicTime now) {
  if (plan.mastership_epoch() < mastership_epoch_) {
    ++ignored_plans_;
    return;
  }
  mastership_epoch_ = plan.mastership_epoch();
  failures_.Acknowledge(plan.acknowledged_failure());
  const std::string text = plan.text().empty() ? "" : ": " + plan.text();
  switch (plan.command()) {
    case proto::ContainerPlan::RUN:
      Run(plan, now);
      break;
    case proto::ContainerPlan::STOP:
      BeginEnd(kExitOk, "the topology ended" + text, false, now);
      break;
    case proto::ContainerPlan::FENCED:
      BeginEnd(kExitFenced, "another executor holds this container" + text, true, now);
      break;
    case proto::ContainerPlan::NOT_WANTED:
      BeginEnd(kExitNotWanted, "the plan has no such container" + text, false, now);
      break;
    default:  // WAIT, and what a later version may say: what runs goes on
      break;
  }
}

void ExecutorCore::Run(const proto::ContainerPlan& plan, MonotonicTime now) {
  if (ending_.has_value()) return;
  if (plan.incarnation() < incarnation_) {
    ++ignored_plans_;
    return;
  }
  if (plan.incarnation() > incarnation_) AdoptIncarnation(plan.incarnation(), now);
  if (self_.container == 0) return;
  for (auto& [key, child] : children_) child.wanted = false;
  Want({proto::STREAM_MANAGER, 0}, {}, now);
  for (const proto::PlannedTask& task : plan.tasks()) {
    if (task.task() > 0) Want({proto::INSTANCE, task.task()}, task, now);
  }
  DropUnwanted(now);
  OnTime(now);
}

// Everything below the topology master gets new epochs, so everything starts anew.
void ExecutorCore::AdoptIncarnation(uint64_t incarnation, MonotonicTime now) {
  incarnation_ = incarnation;
  stream_manager_seen_ = false;
  for (auto& [key, child] : children_) {
    if (key.role == proto::TOPOLOGY_MASTER) continue;
    child.restarts = 0;
    child.failures_in_a_row = 0;
    if (child.alive()) {
      child.restarting = true;
      StopChild(child, now);
    }
  }
  effects_->ReportChanged();
}

void ExecutorCore::Want(const ChildKey& key, const proto::PlannedTask& task, MonotonicTime now) {
  const auto [at, inserted] = children_.try_emplace(key);
  Child& child = at->second;
  child.wanted = true;
  child.task = task;
  if (!inserted) {
    // Wanted again while it was being stopped.
    if (child.alive() && child.phase != Child::Phase::kRunning) child.restarting = true;
    return;
  }
  child.key = key;
  child.due = now;
}

void ExecutorCore::DropUnwanted(MonotonicTime now) {
  for (auto at = children_.begin(); at != children_.end();) {
    Child& child = at->second;
    if (!child.wanted && !child.alive()) {
      at = children_.erase(at);
      continue;
    }
    if (!child.wanted) StopChild(child, now);
    ++at;
  }
}

void ExecutorCore::OnStoreVerdict(model::StoreVerdict verdict, MonotonicTime now) {
  if (verdict == model::StoreVerdict::kEnded) {
    BeginEnd(kExitOk, "the store says that the topology ended", false, now);
  } else if (verdict == model::StoreVerdict::kNotWanted) {
    BeginEnd(kExitNotWanted,
             "the store says that the topology was killed or replaced by another one", false, now);
  }
}

void ExecutorCore::OnTerminate(MonotonicTime now) {
  BeginEnd(kExitStopped, "told to terminate", false, now);
}

// --- children ---

ExecutorCore::Admission ExecutorCore::Admit(const proto::Identity& caller) const {
  if (caller.container() != self_.container) return Admission::kNotWanted;
  const auto at = children_.find(KeyOf(caller));
  if (at == children_.end() || !at->second.alive()) return Admission::kNotWanted;
  // The epoch of a topology master is its mastership, which it has not gained yet when it calls.
  if (caller.role() == proto::TOPOLOGY_MASTER) return Admission::kAdmitted;
  const Epoch epoch{caller.epoch().incarnation(), caller.epoch().restart()};
  if (epoch == at->second.epoch) return Admission::kAdmitted;
  return epoch < at->second.epoch ? Admission::kFenced : Admission::kNotWanted;
}

void ExecutorCore::OnChildReport(const proto::Identity& identity, const proto::ChildReport& report,
                                 MonotonicTime now) {
  if (Admit(identity) != Admission::kAdmitted) return;
  Child& child = children_.at(KeyOf(identity));
  const bool had_error = !child.report.error().empty();
  proto::ChildReport kept = child.report;
  child.report = report;
  // An error is said once and must survive the heartbeats that are still in the queue behind it.
  if (report.error().empty() && had_error) {
    child.report.set_error(kept.error());
    child.report.set_error_component(kept.error_component());
    child.report.set_unrecoverable(kept.unrecoverable());
  }
  child.report.set_made_progress(report.made_progress() || kept.made_progress());
  if (child.report.made_progress()) child.failures_in_a_row = 0;
  if (child.key.role != proto::STREAM_MANAGER || report.port() == 0) return;
  SetStreamManager(report.port(), child.epoch);
  if (!stream_manager_seen_) {
    stream_manager_seen_ = true;
    OnTime(now);
  }
}

void ExecutorCore::SetStreamManager(uint32_t port, Epoch epoch) {
  proto::ChildUpdate update;
  update.set_stream_manager_port(port);
  update.mutable_stream_manager_epoch()->set_incarnation(epoch.incarnation);
  update.mutable_stream_manager_epoch()->set_restart(epoch.restart);
  if (update.SerializeAsString() == child_update_.SerializeAsString()) return;
  child_update_ = update;
  effects_->ChildUpdateChanged();
}

void ExecutorCore::OnChildEnded(const ChildKey& key, const ChildEnd& end, MonotonicTime now) {
  const auto at = children_.find(key);
  if (at == children_.end() || !at->second.alive()) return;
  Child& child = at->second;
  if (key.role == proto::STREAM_MANAGER) SetStreamManager(0, child.epoch);
  child.phase = Child::Phase::kWaiting;
  child.due.reset();
  if (ending_.has_value() || !child.wanted) {
    children_.erase(at);
    effects_->ReportChanged();
    if (ending_.has_value()) StopNext(now);
    EndIfNothingIsLeft();
    return;
  }
  if (child.restarting) {
    child.restarting = false;
    child.due = now;
    OnTime(now);
    return;
  }
  if (end.exit_code == kExitFenced && key.role != proto::TOPOLOGY_MASTER) {
    children_.erase(at);
    BeginEnd(kExitFenced, ToString(key) + " was fenced by a newer incarnation of this container",
             true, now);
    return;
  }
  if (end.exit_code == kExitNotWanted && key.role == proto::TOPOLOGY_MASTER) {
    children_.erase(at);
    BeginEnd(kExitNotWanted, "the topology master is not wanted any more", false, now);
    return;
  }
  RecordFailure(child, end);
  PlanRestart(child, now);
  effects_->ReportChanged();
  OnTime(now);
}

void ExecutorCore::RecordFailure(Child& child, const ChildEnd& end) {
  // Whoever stops a process wants another one: that is no failure of the process.
  const bool stopped = end.exit_code == kExitStopped;
  if (!child.report.made_progress() && !stopped) ++child.failures_in_a_row;
  proto::ProcessFailure failure;
  failure.set_process(ProcessName(child.key.role));
  failure.set_container(self_.container);
  failure.set_component(child.task.component());
  failure.set_task(child.key.task);
  failure.mutable_epoch()->set_incarnation(child.epoch.incarnation);
  failure.mutable_epoch()->set_restart(child.epoch.restart);
  failure.set_exit_code(end.exit_code);
  failure.set_signal(end.signal);
  if (!child.report.error().empty()) {
    failure.set_reason(child.report.error());
    if (!child.report.error_component().empty()) {
      failure.set_component(child.report.error_component());
    }
  } else if (stopped) {
    failure.set_reason("told to stop (heron restart, or SIGTERM)");
  } else {
    std::string reason = end.description;
    if (child.key.role == proto::INSTANCE && ExitedByItself(end)) {
      reason += " by itself; user code must not call exit";
    }
    if (!end.last_output.empty()) reason += "; log: " + end.last_output;
    failure.set_reason(std::move(reason));
  }
  failure.set_restarts(child.restarts);
  failure.set_failures_in_a_row(child.failures_in_a_row);
  failure.set_at_unix_ms(end.at_unix_ms);
  failure.set_unrecoverable(child.report.unrecoverable() || end.exit_code == kExitUnrecoverable ||
                            end.exit_code == kExitDefinitionDiffers);
  failure.set_had_progress(child.report.made_progress() || stopped);
  failures_.Add(std::move(failure));
}

void ExecutorCore::PlanRestart(Child& child, MonotonicTime now) {
  ++child.restarts;
  child.due = now + child.backoff.NextDelay(now - child.started_at);
}

// Instances need to hear of a stream manager first; later ones reconnect to whichever there is.
bool ExecutorCore::MayStart(const Child& child) const {
  return child.phase == Child::Phase::kWaiting && child.due.has_value() && !ending_.has_value() &&
         (child.key.role != proto::INSTANCE || stream_manager_seen_);
}

void ExecutorCore::StartChild(Child& child, MonotonicTime now) {
  const uint64_t incarnation = child.key.role == proto::TOPOLOGY_MASTER ? 0 : incarnation_;
  if (child.ever_started && child.epoch.incarnation == incarnation) {
    ++child.epoch.restart;
  } else {
    child.epoch = {incarnation, 0};
  }
  child.ever_started = true;
  child.report.Clear();
  child.started_at = now;
  child.due.reset();
  const Result<int64_t> pid = effects_->StartChild(child);
  if (pid.ok()) {
    child.phase = Child::Phase::kRunning;
    child.pid = *pid;
  } else {
    ChildEnd end;
    end.description = pid.status().message();
    RecordFailure(child, end);
    PlanRestart(child, now);
    // A start that cannot succeed now is not tried again within the same moment.
    child.due = std::max(*child.due, now + RestartBackoff::kFirstDelay);
  }
  effects_->ReportChanged();
}

void ExecutorCore::StopChild(Child& child, MonotonicTime now) {
  if (child.phase != Child::Phase::kRunning) return;
  child.phase = Child::Phase::kStopping;
  child.due = now + kStopGrace;
  effects_->SignalChild(child, SIGTERM);
}

void ExecutorCore::KillChild(Child& child) {
  child.phase = Child::Phase::kKilled;
  child.due.reset();
  effects_->SignalChild(child, SIGKILL);
}

// --- time and end ---

void ExecutorCore::OnTime(MonotonicTime now) {
  for (auto& [key, child] : children_) {
    if (!child.due.has_value() || *child.due > now) continue;
    if (child.phase == Child::Phase::kStopping) {
      KillChild(child);
    } else if (MayStart(child)) {
      StartChild(child, now);
    }
  }
  if (give_up_at_.has_value() && *give_up_at_ <= now && ending_.has_value() && !ending_->said) {
    ending_->said = true;
    effects_->Exit(ending_->exit_code, ending_->why + "; " + std::to_string(children_.size()) +
                                           " processes did not end after SIGKILL, first " +
                                           ToString(children_.begin()->first));
  }
}

std::optional<MonotonicTime> ExecutorCore::NextDeadline() const {
  std::optional<MonotonicTime> next;
  const auto add = [&next](const std::optional<MonotonicTime>& time) {
    if (time.has_value() && (!next.has_value() || *time < *next)) next = time;
  };
  for (const auto& [key, child] : children_) {
    if (child.phase == Child::Phase::kStopping || MayStart(child)) add(child.due);
  }
  if (ending_.has_value() && !ending_->said) add(give_up_at_);
  return next;
}

void ExecutorCore::BeginEnd(int exit_code, const std::string& why, bool at_once,
                            MonotonicTime now) {
  // The first reason stands; a later, harder one only hurries.
  const bool first = !ending_.has_value();
  if (first) {
    ending_ = Ending{exit_code, why};
    give_up_at_ = now + 2 * kStopGrace + kKillGrace;
  }
  for (auto at = children_.begin(); at != children_.end();) {
    Child& child = at->second;
    if (!child.alive()) {
      at = children_.erase(at);
      continue;
    }
    if (at_once && child.phase != Child::Phase::kKilled) KillChild(child);
    ++at;
  }
  if (first) effects_->ReportChanged();
  if (!at_once) StopNext(now);
  OnTime(now);
  EndIfNothingIsLeft();
}

// Instances first: they should not see their stream manager go and call it a loss.
void ExecutorCore::StopNext(MonotonicTime now) {
  const bool instances = std::any_of(children_.begin(), children_.end(), [](const auto& entry) {
    return entry.first.role == proto::INSTANCE;
  });
  for (auto& [key, child] : children_) {
    if (!instances || key.role == proto::INSTANCE) StopChild(child, now);
  }
}

void ExecutorCore::EndIfNothingIsLeft() {
  if (!ending_.has_value() || ending_->said || !children_.empty()) return;
  ending_->said = true;
  effects_->Exit(ending_->exit_code, ending_->why);
}

proto::ExecutorReport ExecutorCore::Report() const {
  proto::ExecutorReport report;
  report.set_container(self_.container);
  report.set_host(self_.host);
  report.set_pid(self_.pid);
  report.set_nonce(self_.nonce);
  report.set_incarnation(incarnation_);
  failures_.WriteTo(&report);
  for (const auto& [key, child] : children_) WriteState(child, report.add_children());
  return report;
}

}  // namespace heron::executor
