#include "tools/cli/restart.h"

#include <algorithm>
#include <map>
#include <vector>

#include "heron/base/ids.h"
#include "tools/cli/health.h"
#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/recorded_launch.h"
#include "tools/cli/records.h"
#include "tools/cli/target.h"

namespace tools::cli {
namespace {

using heron::Duration;
using heron::Epoch;
using heron::FailedPrecondition;
using heron::MonotonicTime;
using heron::Result;
using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::proto::TaskStatus;
using heron::state::TopologyKey;

// For an executor to start a new supervisor.
constexpr Duration kSupervisorTime = std::chrono::seconds(5);

Epoch EpochOf(const TaskStatus& status) {
  return {status.epoch().incarnation(), status.epoch().restart()};
}

bool IsReady(TaskStatus::Phase phase) {
  return phase == TaskStatus::RUNNING || phase == TaskStatus::FINISH_REQUESTED ||
         phase == TaskStatus::FINISHING || phase == TaskStatus::FINISHED;
}

// Of this id; empty when the topology master has not written one.
Result<ExecutionState> ReadState(Cli& cli, const TopologyKey& key, const std::string& id) {
  auto execution = ReadExecution(*cli.store, key);
  if (!execution.ok()) return execution.status();
  if (!*execution || (*execution)->value.topology_id() != id) return ExecutionState();
  return (*execution)->value;
}

// The record of a topology that may be restarted.
Result<Stored<DesiredState>> CheckWanted(Cli& cli, const TopologyKey& key) {
  auto desired = ReadDesired(*cli.store, key);
  if (!desired.ok()) return desired.status();
  if (!*desired) return NoSuchTopology(*cli.store, cli.cluster, key);
  const DesiredState& wish = (*desired)->value;
  if (wish.desire() == DesiredState::KILLING) {
    return FailedPrecondition(key.name + " is being killed; submit it again afterwards");
  }
  if (wish.desire() != DesiredState::ACTIVE && wish.desire() != DesiredState::INACTIVE) {
    return FailedPrecondition(
        key.name + " is still being submitted (" + wish.by() +
        "); should that have broken off, remove it: " + CommandText(cli, "kill", key));
  }
  Result<ExecutionState> state = ReadState(cli, key, wish.topology_id());
  if (!state.ok()) return state.status();
  if (state->state() == ExecutionState::FINISHED) {
    return FailedPrecondition(key.name + " has finished; submit it again to run it again");
  }
  if (state->state() == ExecutionState::FAILED) {
    return FailedPrecondition(key.name + " has failed: " + state->reason() +
                              "; submit it again to run it again");
  }
  return **desired;
}

// What is restarted: its tasks with the epochs they have now.
using Epochs = std::map<int, Epoch>;

class Restart {
 public:
  Restart(Cli& cli, const TopologyKey& key, const RestartOptions& options,
          const heron::settings::ClusterConfig& config, Progress& progress)
      : cli_(cli), key_(key), options_(options), config_(config), progress_(progress) {}

  // The state it has then.
  Result<std::string> Run();

 private:
  Result<Epochs> Select(const std::string& id) const;
  Status RestartPart(const std::string& id, const Epochs& tasks);
  Status AwaitSupervisor(const std::string& id);
  Result<std::string> Await(const std::string& id, const Epochs& before);

  Cli& cli_;
  const TopologyKey& key_;
  const RestartOptions& options_;
  const heron::settings::ClusterConfig& config_;
  Progress& progress_;
};

Result<Epochs> Restart::Select(const std::string& id) const {
  auto plan = ReadPlan(*cli_.store, key_);
  if (!plan.ok()) return plan.status();
  Result<ExecutionState> state = ReadState(cli_, key_, id);
  if (!state.ok()) return state.status();
  Epochs epochs;
  std::string containers, components;
  if (*plan) {
    for (const auto& container : (*plan)->value.containers()) {
      containers += (containers.empty() ? "" : ", ") + std::to_string(container.container());
      for (const auto& task : container.tasks()) {
        if (task.component_index() == 0) {
          components += (components.empty() ? "" : ", ") + task.component();
        }
        if (options_.container && container.container() != *options_.container) continue;
        if (options_.task && task.task() != *options_.task) continue;
        if (!options_.component.empty() && task.component() != options_.component) continue;
        epochs[task.task()] = Epoch();
      }
    }
  }
  for (const TaskStatus& status : state->tasks()) {
    const auto at = epochs.find(status.task());
    if (at != epochs.end()) at->second = EpochOf(status);
  }
  if (!epochs.empty() || options_.container == 0) return epochs;
  if (options_.container) {
    return FailedPrecondition(key_.name + " has no container " +
                              std::to_string(*options_.container) + "; it has 0, " + containers);
  }
  if (options_.task) {
    return FailedPrecondition(key_.name + " has no task " + std::to_string(*options_.task) +
                              "; see them: " + CommandText(cli_, "topologies", key_) +
                              " --output json");
  }
  return FailedPrecondition(key_.name + " has no component '" + options_.component + "'; it has " +
                            components);
}

Result<std::string> Restart::Run() {
  const bool whole = !options_.container && !options_.task && options_.component.empty();
  auto desired = CheckWanted(cli_, key_);
  if (!desired.ok()) return desired.status();
  const std::string id = desired->value.topology_id();
  Result<Epochs> before = Select(id);
  if (!before.ok()) return before.status();
  progress_.Step("restarting", key_.name);
  if (whole) {
    Result<std::string> restarted = RestartWhole(cli_, key_, config_);
    if (!restarted.ok()) return restarted.status();
  } else {
    HERON_RETURN_IF_ERROR(RestartPart(id, *before));
  }
  return Await(id, *before);
}

Status Restart::RestartPart(const std::string& id, const Epochs& tasks) {
  Result<scheduler::Health> health = ExamineTopology(cli_, key_, id);
  if (!health.ok()) return health.status();
  if (health->lost) {
    return FailedPrecondition(key_.name + " is LOST: " + health->reason +
                              "; restart all of it: " + CommandText(cli_, "restart", key_));
  }
  if (options_.container) {
    HERON_RETURN_IF_ERROR(AwaitSupervisor(id));
    return cli_.scheduler->RestartContainer(id, *options_.container);
  }
  for (const auto& [task, epoch] : tasks) {
    HERON_RETURN_IF_ERROR(cli_.scheduler->RestartTask(id, task));
  }
  return Status::Ok();
}

// An executor that is stopped needs somebody who starts another one.
Status Restart::AwaitSupervisor(const std::string& id) {
  const MonotonicTime start = cli_.clock->Now();
  for (;;) {
    auto processes = cli_.scheduler->Processes(id);
    if (!processes.ok()) return processes.status();
    const bool there = std::any_of(processes->begin(), processes->end(), [](const auto& process) {
      return process.kind == scheduler::ProcessKind::kSupervisor;
    });
    if (there) return Status::Ok();
    if (cli_.interrupted() || cli_.clock->Now() - start >= kSupervisorTime) {
      return FailedPrecondition(key_.name + " has no supervisor that would start a container; " +
                                "restart all of it: " + CommandText(cli_, "restart", key_));
    }
    cli_.sleep(kPollInterval);
  }
}

Result<std::string> Restart::Await(const std::string& id, const Epochs& before) {
  const MonotonicTime start = cli_.clock->Now();
  for (;;) {
    std::string missing = "the topology master";
    Result<ExecutionState> state = ReadState(cli_, key_, id);
    if (!state.ok()) {
      missing = "the state store (" + state.status().message() + ")";
    } else if (state->state() == ExecutionState::FAILED) {
      return FailedPrecondition(key_.name + " failed: " + state->reason());
    } else if (state->state() != ExecutionState::STATE_UNSPECIFIED) {
      Epochs left = before;
      for (const TaskStatus& status : state->tasks()) {
        const auto at = left.find(status.task());
        if (at == left.end()) continue;
        if (EpochOf(status) > at->second && IsReady(status.phase())) left.erase(at);
      }
      const bool starting = state->state() == ExecutionState::STARTING;
      if (state->state() == ExecutionState::FINISHED || (left.empty() && !starting)) {
        progress_.Finish();
        return ExecutionState::State_Name(state->state());
      }
      progress_.Step("ready", std::to_string(before.size() - left.size()) + " of " +
                                  std::to_string(before.size()) + " tasks");
      missing = left.empty() ? state->waiting_for() : "task " + std::to_string(left.begin()->first);
    }
    auto desired = ReadDesired(*cli_.store, key_);
    if (desired.ok() && (!*desired || (*desired)->value.topology_id() != id ||
                         (*desired)->value.desire() == DesiredState::KILLING)) {
      return FailedPrecondition(key_.name + " was killed meanwhile");
    }
    if (cli_.interrupted()) {
      return FailedPrecondition("detached; the restart goes on. Follow it: " +
                                CommandText(cli_, "wait --for running", key_));
    }
    if (cli_.clock->Now() - start >= options_.timeout) {
      return heron::DeadlineExceeded(key_.name + " does not run again after " +
                                     DurationText(options_.timeout) + "; waiting for " + missing);
    }
    cli_.sleep(kPollInterval);
  }
}

}  // namespace

Result<std::string> RestartWhole(Cli& cli, const TopologyKey& key,
                                 const heron::settings::ClusterConfig& config) {
  auto desired = CheckWanted(cli, key);
  if (!desired.ok()) return desired.status();
  const std::string id = desired->value.topology_id();
  // Before anything is ended: what cannot be started again goes on.
  auto request = RecordedLaunch(cli, key, id, config);
  if (!request.ok()) return request.status();
  const Status started = cli.scheduler->Relaunch(*request);
  if (started.ok()) return id;
  auto now = ReadDesired(*cli.store, key);
  if (now.ok() && (!*now || (*now)->value.topology_id() != id)) {
    // The kill could not know of what was made behind it.
    cli.scheduler->CleanUp(key, id, /*keep_logs=*/false).IgnoreError();
    return FailedPrecondition(key.name + " was killed meanwhile");
  }
  return started.WithContext("cannot restart " + key.name);
}

Status RestartCommand(Cli& cli, const TopologyKey& key, const RestartOptions& options,
                      const heron::settings::ClusterConfig& config) {
  Result<std::string> state = std::string();
  {
    Progress progress(*cli.err, cli.terminal);
    state = Restart(cli, key, options, config, progress).Run();
  }
  if (!state.ok()) return state.status();
  *cli.out << (cli.json ? DoneJson(key, *state) : "restarted " + key.name + " (" + *state + ")")
           << std::endl;
  return Status::Ok();
}

}  // namespace tools::cli
