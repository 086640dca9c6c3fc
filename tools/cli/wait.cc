#include "tools/cli/wait.h"

#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "tools/cli/health.h"
#include "tools/cli/json_output.h"
#include "tools/cli/records.h"
#include "tools/cli/target.h"

namespace tools::cli {
namespace {

using heron::Duration;
using heron::FailedPrecondition;
using heron::MonotonicTime;
using heron::Result;
using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::proto::ProcessFailure;
using heron::proto::TaskStatus;
using heron::state::TopologyKey;

// Between two lines of progress where they stay.
constexpr Duration kProgressInterval = std::chrono::seconds(10);
constexpr Duration kProcessesInterval = std::chrono::seconds(1);
// So long without anybody who runs it a wanted topology counts as lost.
constexpr Duration kLostAfter = std::chrono::seconds(5);
// For the processes of a finished topology to end.
constexpr Duration kEndingTime = std::chrono::seconds(20);

class Waiter {
 public:
  Waiter(Cli& cli, const TopologyKey& key, const std::string& id, const WaitOptions& options,
         Progress& progress)
      : cli_(cli), key_(key), id_(id), options_(options), progress_(progress) {}

  Status Run();

 private:
  // nullopt: go on waiting.
  std::optional<Status> CheckDesired();
  std::optional<Status> CheckExecution();
  std::optional<Status> CheckProcesses();
  Status AwaitEnd(const ExecutionState& state);
  void ShowFailures(const ExecutionState& state);
  void ShowProgress(const ExecutionState& state);
  void ShowRunning(const ExecutionState& state);
  void CountPlan();

  Cli& cli_;
  const TopologyKey& key_;
  const std::string& id_;
  const WaitOptions& options_;
  Progress& progress_;
  std::string missing_ = "the topology master";  // what is waited for, for the time-out
  DesiredState::Desire desire_ = DesiredState::ACTIVE;
  std::set<std::tuple<int, uint64_t, int64_t, std::string>> shown_;
  int containers_ = 0;
  int tasks_ = 0;
  std::map<int, std::string> bounded_;  // component by task of a bounded spout
  std::set<int> spouts_;                // tasks
  std::optional<MonotonicTime> progress_at_;
  MonotonicTime next_process_check_;
  std::optional<MonotonicTime> lost_since_;
};

std::string FailureLine(const ProcessFailure& failure) {
  std::string line = "failure: ";
  if (!failure.component().empty()) {
    line += failure.component() + " (task " + std::to_string(failure.task()) + ")";
  } else {
    line += failure.process();
  }
  line += " in container " + std::to_string(failure.container()) + ": " + failure.reason();
  if (failure.failures_in_a_row() > 1) {
    line += " (" + std::to_string(failure.failures_in_a_row()) + " times in a row)";
  }
  return line;
}

Status Waiter::Run() {
  CountPlan();
  const MonotonicTime start = cli_.clock->Now();
  next_process_check_ = start + kProcessesInterval;
  for (;;) {
    for (auto check : {&Waiter::CheckDesired, &Waiter::CheckExecution, &Waiter::CheckProcesses}) {
      if (std::optional<Status> done = (this->*check)()) return *done;
    }
    if (cli_.interrupted()) {
      return FailedPrecondition(
          "detached; the topology goes on. Follow it: " + CommandText(cli_, "wait", key_) + " or " +
          CommandText(cli_, "logs --follow", key_) + "; see how it is: " +
          CommandText(cli_, "explain", key_) +
          "; end it: " + CommandText(cli_, "kill", key_));
    }
    if (options_.timeout && cli_.clock->Now() - start >= *options_.timeout) {
      return heron::DeadlineExceeded(
          key_.name +
          (options_.what == WaitOptions::For::kRunning ? " does not run" : " has not finished") +
          " after " + DurationText(*options_.timeout) + "; waiting for " + missing_ +
          "; see why: " + CommandText(cli_, "explain", key_));
    }
    cli_.sleep(kPollInterval);
  }
}

void Waiter::CountPlan() {
  auto plan = ReadPlan(*cli_.store, key_);
  if (!plan.ok() || !*plan) return;
  containers_ = (*plan)->value.containers_size();
  std::map<std::string, bool> spouts;  // bounded?
  auto submitted = ReadSubmitted(*cli_.store, key_);
  if (submitted.ok() && *submitted) {
    for (const auto& component : (*submitted)->value.topology().components()) {
      if (component.kind() == heron::proto::SPOUT) spouts[component.name()] = component.bounded();
    }
  }
  for (const auto& container : (*plan)->value.containers()) {
    tasks_ += container.tasks_size();
    for (const auto& task : container.tasks()) {
      const auto spout = spouts.find(task.component());
      if (spout == spouts.end()) continue;
      spouts_.insert(task.task());
      if (spout->second) bounded_[task.task()] = task.component();
    }
  }
}

// On a terminal as it changes, elsewhere now and then.
void Waiter::ShowRunning(const ExecutionState& state) {
  const MonotonicTime now = cli_.clock->Now();
  const bool first = !progress_at_.has_value();
  if (!first && now - *progress_at_ < (cli_.terminal ? kPollInterval : kProgressInterval)) return;
  progress_at_ = now;
  uint64_t read = 0, executed = 0;
  int finished = 0;
  std::map<std::string, std::pair<double, int>> progress;  // sum, tasks that tell it
  for (const TaskStatus& task : state.tasks()) {
    (spouts_.contains(task.task()) ? read : executed) +=
        spouts_.contains(task.task()) ? task.emitted() : task.executed();
    const bool done = task.phase() == TaskStatus::FINISHED;
    finished += done;
    const auto bounded = bounded_.find(task.task());
    const double fraction = done ? 1 : task.progress();
    if (bounded == bounded_.end() || !(fraction >= 0 && fraction <= 1)) continue;
    progress[bounded->second].first += fraction;
    progress[bounded->second].second += 1;
  }
  std::string detail;
  for (const auto& [component, sum] : progress) {
    detail += component + " " +
              std::to_string(static_cast<int>(std::floor(100 * sum.first / sum.second))) + " %, ";
  }
  progress_.Step("running", detail + std::to_string(read) + " tuples read, " +
                                std::to_string(executed) + " executed, " +
                                std::to_string(finished) + " of " + std::to_string(tasks_) +
                                " tasks finished");
}

std::optional<Status> Waiter::CheckDesired() {
  auto desired = ReadDesired(*cli_.store, key_);
  if (!desired.ok()) {
    missing_ = "the state store (" + desired.status().message() + ")";
    return std::nullopt;
  }
  if (!*desired) return FailedPrecondition(key_.name + " was killed meanwhile");
  if ((*desired)->value.topology_id() != id_) {
    return FailedPrecondition(key_.name + " was replaced meanwhile by " +
                              (*desired)->value.topology_id());
  }
  desire_ = (*desired)->value.desire();
  if (desire_ == DesiredState::KILLING) return FailedPrecondition(key_.name + " is being killed");
  if (desire_ == DesiredState::SUBMITTING && !MayBeAlive((*desired)->value.by())) {
    return FailedPrecondition(
        "its submit (" + (*desired)->value.by() +
        ") broke off; remove what it left: " + CommandText(cli_, "kill", key_));
  }
  return std::nullopt;
}

std::optional<Status> Waiter::CheckExecution() {
  auto execution = ReadExecution(*cli_.store, key_);
  if (!execution.ok()) {
    missing_ = "the state store (" + execution.status().message() + ")";
    return std::nullopt;
  }
  if (!*execution || (*execution)->value.topology_id() != id_) {
    missing_ = desire_ == DesiredState::SUBMITTING ? "its submit" : "the topology master";
    progress_.Step("containers", "up 0 of " + std::to_string(containers_));
    return std::nullopt;
  }
  const ExecutionState& state = (*execution)->value;
  ShowFailures(state);
  const bool for_running = options_.what == WaitOptions::For::kRunning;
  switch (state.state()) {
    case ExecutionState::FAILED:
      return FailedPrecondition(key_.name + " failed: " + state.reason());
    case ExecutionState::FINISHED:
      return AwaitEnd(state);
    case ExecutionState::RUNNING:
      missing_ = "the end of its input";
      if (for_running) {
        progress_.Step("running");
        progress_.Finish();
        return Status::Ok();
      }
      ShowRunning(state);
      return std::nullopt;
    case ExecutionState::INACTIVE:
      progress_.Step("inactive", for_running && !options_.inactive_will_do
                                     ? "(deactivated: " + CommandText(cli_, "activate", key_) + ")"
                                     : "");
      missing_ = "its activation: " + CommandText(cli_, "activate", key_);
      if (for_running && options_.inactive_will_do) {
        progress_.Finish();
        return Status::Ok();
      }
      return std::nullopt;
    default:
      ShowProgress(state);
      return std::nullopt;
  }
}

void Waiter::ShowProgress(const ExecutionState& state) {
  std::set<int> up;
  for (const auto& container : state.containers()) {
    if (container.container() > 0 && container.executor_connected())
      up.insert(container.container());
  }
  int registered = 0;
  for (const TaskStatus& task : state.tasks()) {
    if (task.phase() != TaskStatus::PHASE_UNSPECIFIED && task.phase() != TaskStatus::DOWN) {
      ++registered;
    }
  }
  missing_ = state.waiting_for().empty() ? "its tasks" : state.waiting_for();
  if (static_cast<int>(up.size()) < containers_) {
    progress_.Step("containers",
                   "up " + std::to_string(up.size()) + " of " + std::to_string(containers_));
    return;
  }
  progress_.Step("registered", std::to_string(registered) + " of " + std::to_string(tasks_) +
                                   (registered == tasks_ ? ", preparing" : ""));
}

void Waiter::ShowFailures(const ExecutionState& state) {
  for (const ProcessFailure& failure : state.failures()) {
    if (shown_
            .emplace(failure.container(), failure.number(), failure.at_unix_ms(), failure.reason())
            .second) {
      progress_.Note(FailureLine(failure));
    }
  }
}

// An ended topology writes its end before its processes go, so silence is judged only after its
// state was read again.
std::optional<Status> Waiter::CheckProcesses() {
  if (cli_.clock->Now() < next_process_check_ || desire_ == DesiredState::SUBMITTING) {
    return std::nullopt;
  }
  next_process_check_ = cli_.clock->Now() + kProcessesInterval;
  auto health = ExamineTopology(cli_, key_, id_);
  if (!health.ok() || !health->lost) {
    lost_since_.reset();
    return std::nullopt;
  }
  if (!lost_since_) lost_since_ = cli_.clock->Now();
  if (cli_.clock->Now() - *lost_since_ < kLostAfter) return std::nullopt;
  return FailedPrecondition(key_.name + " is LOST: " + LostText(cli_, key_, *health) +
                            "; see why: " + CommandText(cli_, "logs", key_));
}

Status Waiter::AwaitEnd(const ExecutionState& state) {
  progress_.Step("finished");
  const MonotonicTime start = cli_.clock->Now();
  for (;;) {
    auto processes = cli_.scheduler->Processes(id_);
    if (processes.ok() && processes->empty()) break;
    if (cli_.interrupted() || cli_.clock->Now() - start >= kEndingTime) {
      progress_.Note("note: some processes of " + key_.name + " have not ended yet" +
                     (processes.ok() ? ": " + processes->front().what : ""));
      break;
    }
    cli_.sleep(kPollInterval);
  }
  progress_.Finish();
  for (const std::string& incomplete : state.incomplete()) {
    progress_.Note("incomplete: " + incomplete);
  }
  return Status::Ok();
}

}  // namespace

Status WaitForTopology(Cli& cli, const TopologyKey& key, const std::string& topology_id,
                       const WaitOptions& options, Progress& progress) {
  return Waiter(cli, key, topology_id, options, progress).Run();
}

Status WaitCommand(Cli& cli, const TopologyKey& key, const WaitOptions& options) {
  Result<std::string> id = CurrentId(*cli.store, cli.cluster, key);
  if (!id.ok()) return id.status();
  Status waited;
  {
    Progress progress(*cli.err, cli.terminal);
    waited = WaitForTopology(cli, key, *id, options, progress);
  }
  HERON_RETURN_IF_ERROR(waited);
  auto execution = ReadExecution(*cli.store, key);
  ExecutionState state;
  if (execution.ok() && *execution) state = (*execution)->value;
  if (cli.json) {
    *cli.out << StateJson(key, *id, state) << std::endl;
  } else {
    *cli.out << key.name << " " << ExecutionState::State_Name(state.state()) << std::endl;
  }
  return Status::Ok();
}

}  // namespace tools::cli
