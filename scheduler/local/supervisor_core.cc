#include "scheduler/local/supervisor_core.h"

#include <algorithm>
#include <csignal>

#include "heron/base/exit_codes.h"

namespace scheduler::local {

using heron::ContainerId;
using heron::MonotonicTime;
using heron::Status;
using heron::model::StoreVerdict;

SupervisorCore::SupervisorCore(std::vector<ContainerId> containers, Effects* effects)
    : effects_(effects) {
  for (const ContainerId container : containers) executors_[container];
}

Status SupervisorCore::Start(const std::set<ContainerId>& running, MonotonicTime now) {
  Status first;
  for (auto& [container, executor] : executors_) {
    if (running.count(container) > 0) {
      executor.phase = Phase::kRunning;
      executor.started_at = now;
      continue;
    }
    const Status started = StartExecutor(container, executor, now);
    if (!started.ok() && first.ok()) first = started;
    if (!started.ok() && running.empty()) break;
  }
  return first;
}

Status SupervisorCore::StartExecutor(ContainerId container, Executor& executor, MonotonicTime now) {
  executor.started_at = now;
  const Status started = effects_->StartExecutor(container);
  if (started.ok()) {
    executor.phase = Phase::kRunning;
    return started;
  }
  executor.phase = Phase::kWaiting;
  executor.due = now + std::max(executor.backoff.NextDelay(heron::Duration::zero()),
                                heron::RestartBackoff::kFirstDelay);
  return started;
}

void SupervisorCore::OnExecutorEnded(ContainerId container, int exit_code, MonotonicTime now) {
  const auto at = executors_.find(container);
  if (at == executors_.end() || at->second.phase != Phase::kRunning) return;
  Executor& executor = at->second;
  const bool for_good = exit_code == heron::kExitOk || exit_code == heron::kExitFenced ||
                        exit_code == heron::kExitNotWanted;
  if (for_good || ending_) {
    executor.phase = Phase::kDone;
    ExitIfDone();
    return;
  }
  executor.phase = Phase::kAsking;
  executor.due = now + executor.backoff.NextDelay(now - executor.started_at);
  effects_->AskStore();
}

void SupervisorCore::OnStoreVerdict(StoreVerdict verdict, MonotonicTime now) {
  for (auto& [container, executor] : executors_) {
    const bool down = executor.phase == Phase::kAsking || executor.phase == Phase::kWaiting;
    if (verdict != StoreVerdict::kGoOn && down) {
      executor.phase = Phase::kDone;
    } else if (executor.phase == Phase::kAsking) {
      executor.phase = Phase::kWaiting;
    }
  }
  OnTime(now);
  ExitIfDone();
}

void SupervisorCore::OnTerminate(MonotonicTime now) {
  if (ending_) return;
  ending_ = true;
  kill_at_ = now + kStopGrace;
  give_up_at_ = kill_at_ + kKillGrace;
  for (auto& [container, executor] : executors_) {
    if (executor.phase == Phase::kRunning) {
      effects_->SignalExecutor(container, SIGTERM);
    } else {
      executor.phase = Phase::kDone;
    }
  }
  ExitIfDone();
}

void SupervisorCore::OnTime(MonotonicTime now) {
  if (exited_) return;
  if (!ending_) {
    for (auto& [container, executor] : executors_) {
      // An executor that cannot be started is asked about, too: its topology may be gone with its
      // files.
      if (executor.phase != Phase::kWaiting || executor.due > now) continue;
      if (!StartExecutor(container, executor, now).ok()) {
        executor.phase = Phase::kAsking;
        effects_->AskStore();
      }
    }
    return;
  }
  if (!killed_ && kill_at_ <= now) {
    killed_ = true;
    for (const auto& [container, executor] : executors_) {
      if (executor.phase == Phase::kRunning) effects_->SignalExecutor(container, SIGKILL);
    }
  }
  if (give_up_at_ <= now) {
    exited_ = true;
    effects_->Exit(heron::kExitError, "some executors did not end after SIGKILL");
  }
}

std::optional<MonotonicTime> SupervisorCore::NextDeadline() const {
  if (exited_) return std::nullopt;
  if (ending_) return killed_ ? give_up_at_ : kill_at_;
  std::optional<MonotonicTime> next;
  for (const auto& [container, executor] : executors_) {
    if (executor.phase != Phase::kWaiting) continue;
    if (!next.has_value() || executor.due < *next) next = executor.due;
  }
  return next;
}

void SupervisorCore::ExitIfDone() {
  if (exited_) return;
  for (const auto& [container, executor] : executors_) {
    if (executor.phase != Phase::kDone) return;
  }
  exited_ = true;
  effects_->Exit(heron::kExitOk, "all executors have ended");
}

}  // namespace scheduler::local
