#include "heron/instance/core/instance_core.h"

#include <string>

namespace heron::instance {

using proto::TaskStatus;

namespace {

Epoch FromProto(const proto::Epoch& epoch) { return {epoch.incarnation(), epoch.restart()}; }

constexpr size_t kOpenInputsNamed = 8;

bool FirstLife(Epoch epoch) { return epoch.incarnation <= 1 && epoch.restart == 0; }

}  // namespace

std::string_view DropReasonName(DropReason reason) {
  switch (reason) {
    case DropReason::kTooLarge:
      return "too_large";
    case DropReason::kRefused:
      return "refused";
    case DropReason::kStray:
      return "stray";
    case DropReason::kTooOld:
      return "too_old";
    case DropReason::kTaskFinished:
      return "task_finished";
    case DropReason::kDamaged:
      return "damaged";
  }
  return "unknown";
}

InstanceCore::InstanceCore(TaskSetup setup, Effects* effects)
    : setup_(setup), effects_(effects), channels_(FirstLife(setup.epoch)) {}

void InstanceCore::OnPlan(const Routes& routes, bool active, const proto::TaskGrant& grant,
                          MonotonicTime now) {
  has_plan_ = true;
  inputs_.SetUpstream(routes.upstream);
  announcer_.SetDestinations(routes.downstream);
  if (grant.task() == setup_.task) MergeGrant(grant);
  if (active != active_) {
    active_ = active;
    effects_->SetActive(active);
  }
  Advance(now);
}

void InstanceCore::MergeGrant(const proto::TaskGrant& grant) {
  // A stream manager that has just started may know less than its predecessor: nothing that was heard is taken back.
  if (grant.has_finish_grant()) {
    const Epoch epoch = FromProto(grant.finish_granted());
    if (!has_grant_ || epoch > granted_) granted_ = epoch;
    has_grant_ = true;
  }
  if (grant.finished() && phase_ < TaskStatus::FINISHING) finished_elsewhere_ = true;
}

void InstanceCore::OnTaskStates(const proto::TaskStates& states, MonotonicTime now) {
  for (const proto::TaskStates::Task& task : states.tasks()) {
    announcer_.OnTaskEpoch(task.task(), FromProto(task.epoch()));
  }
  Advance(now);
}

bool InstanceCore::OnBatch(const model::BatchHeader& header) {
  if (header.destination_task != setup_.task || !inputs_.IsUpstream(header.source_task)) {
    Drop(DropReason::kStray, header.tuple_count);
    return false;
  }
  switch (channels_.OnBatch(header.source_task, header.source_epoch, header.number)) {
    case ChannelTracker::Verdict::kRepeated:
      ++repeated_batches_;
      return false;
    case ChannelTracker::Verdict::kTooOld:
      Drop(DropReason::kTooOld, header.tuple_count);
      return false;
    case ChannelTracker::Verdict::kDeliver:
      break;
  }
  inputs_.OnBatch(header.source_task, header.source_epoch);
  if (finished_elsewhere_ || phase_ >= TaskStatus::FINISHING) {
    Drop(DropReason::kTaskFinished, header.tuple_count);
    return false;
  }
  ++delivered_;
  delivered_tuples_ += header.tuple_count;
  drained_ = false;
  // What was withdrawn is asked for again once everything has ended again.
  if (phase_ == TaskStatus::FINISH_REQUESTED) SetPhase(TaskStatus::RUNNING);
  return true;
}

void InstanceCore::OnEnded(const proto::Ended& ended, MonotonicTime now) {
  if (ended.destination_task() != setup_.task) return;
  const Epoch epoch = FromProto(ended.source_epoch());
  if (inputs_.IsUpstream(ended.source_task())) {
    channels_.OnEnded(ended.source_task(), epoch, ended.last_number());
    inputs_.OnEnded(ended.source_task(), epoch);
  }
  effects_->SendConfirmed(ended.source_task(), epoch);
  Advance(now);
}

void InstanceCore::OnConfirmed(const proto::EndedConfirmed& confirmed, MonotonicTime now) {
  if (confirmed.source_task() != setup_.task) return;
  if (FromProto(confirmed.source_epoch()) != setup_.epoch) return;
  announcer_.OnConfirmed(confirmed.destination_task(), FromProto(confirmed.destination_epoch()));
  Advance(now);
}

void InstanceCore::OnSessionUp(MonotonicTime now) {
  session_up_ = true;
  announcer_.OnSessionUp();
  Advance(now);
}

void InstanceCore::OnSessionDown() { session_up_ = false; }

void InstanceCore::OnOpened(MonotonicTime now) {
  opened_ = true;
  if (phase_ == TaskStatus::REGISTERED) SetPhase(TaskStatus::RUNNING);
  Advance(now);
}

void InstanceCore::OnDrained(uint64_t ticket, MonotonicTime now) {
  if (drain_asked_ && ticket == drain_ticket_) drained_ = drain_ticket_ == delivered_;
  Advance(now);
}

void InstanceCore::OnOutputEnded(const std::map<TaskId, uint64_t>& last_numbers,
                                 MonotonicTime now) {
  SetPhase(TaskStatus::FINISHING);
  announcer_.Start(last_numbers);
  Advance(now);
}

void InstanceCore::Tick(MonotonicTime now) { Advance(now); }

void InstanceCore::Advance(MonotonicTime now) {
  if (!has_plan_) return;
  if (!started_) {
    started_ = true;
    if (finished_elsewhere_) {
      SetPhase(TaskStatus::FINISHING);
      announcer_.Start({});
    } else {
      effects_->StartTask();
    }
  }
  if (opened_ && phase_ < TaskStatus::FINISHING) {
    if (!setup_.spout) {
      AdvanceBolt();
    } else if (finished_elsewhere_ && !end_asked_) {
      end_asked_ = true;
      effects_->EndOutput();
    }
  }
  Announce(now);
}

bool InstanceCore::ExecutedAll() {
  if (drained_ && drain_ticket_ == delivered_) return true;
  if (drain_asked_ && drain_ticket_ == delivered_) return false;
  drain_asked_ = true;
  drained_ = false;
  drain_ticket_ = delivered_;
  effects_->AskDrained(drain_ticket_);
  return false;
}

void InstanceCore::AdvanceBolt() {
  if (!inputs_.AllEnded()) {
    if (phase_ == TaskStatus::FINISH_REQUESTED) SetPhase(TaskStatus::RUNNING);
    return;
  }
  if (!ExecutedAll()) return;
  if (finished_elsewhere_ || (has_grant_ && granted_ <= setup_.epoch)) {
    BeginFinishing();
  } else {
    SetPhase(TaskStatus::FINISH_REQUESTED);
  }
}

void InstanceCore::BeginFinishing() {
  const bool own_grant = has_grant_ && granted_ == setup_.epoch;
  SetPhase(TaskStatus::FINISHING);
  if (!finished_elsewhere_ && own_grant) {
    effects_->RunFinish();
    return;
  }
  finish_lost_ = !finished_elsewhere_;
  effects_->EndOutput();
}

void InstanceCore::Announce(MonotonicTime now) {
  if (!announcer_.started()) return;
  if (session_up_) {
    for (const EndAnnouncer::Announcement& due : announcer_.TakeDue(now)) {
      effects_->SendEnded(due.destination, due.last_number);
    }
  }
  if (phase_ == TaskStatus::FINISHING && announcer_.Done()) SetPhase(TaskStatus::FINISHED);
}

void InstanceCore::SetPhase(TaskStatus::Phase phase) {
  if (phase_ == phase) return;
  phase_ = phase;
  effects_->ReportChanged();
}

uint64_t InstanceCore::WaitingTuples() const {
  const auto dropped = [this](DropReason reason) {
    return counters_.dropped[static_cast<size_t>(reason)];
  };
  const uint64_t done = counters_.executed + dropped(DropReason::kDamaged) +
                        dropped(DropReason::kStray);
  return delivered_tuples_ > done ? delivered_tuples_ - done : 0;
}

TaskStatus InstanceCore::Status() const {
  TaskStatus status;
  status.set_task(setup_.task);
  status.mutable_epoch()->set_incarnation(setup_.epoch.incarnation);
  status.mutable_epoch()->set_restart(setup_.epoch.restart);
  status.set_phase(phase_);
  status.set_emitted(counters_.emitted);
  status.set_executed(counters_.executed);
  status.set_lost_batches(channels_.lost_batches());
  status.set_progress(counters_.progress);
  status.set_acked(counters_.acked);
  status.set_failed(counters_.failed);
  status.set_timed_out(counters_.timed_out);
  status.set_pending(counters_.pending);
  status.set_held(counters_.held);
  status.set_finish_lost(finish_lost_);
  uint64_t all = 0;
  for (size_t i = 0; i < kDropReasons; ++i) {
    const uint64_t tuples = dropped_[i] + counters_.dropped[i];
    if (tuples == 0) continue;
    all += tuples;
    (*status.mutable_drop_reasons())[std::string(DropReasonName(static_cast<DropReason>(i)))] =
        tuples;
  }
  status.set_dropped_tuples(all);
  if (!setup_.spout && phase_ < TaskStatus::FINISHING) {
    status.set_waiting_tuples(WaitingTuples());
    status.set_open_inputs(static_cast<uint32_t>(inputs_.open()));
    for (TaskId task : inputs_.Open(kOpenInputsNamed)) status.add_open_input(task);
  }
  return status;
}

}  // namespace heron::instance
