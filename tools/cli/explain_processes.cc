#include "tools/cli/explain_processes.h"

#include <algorithm>

#include "tools/cli/explain_text.h"

namespace tools::cli {
namespace {

using heron::proto::ProcessFailure;
using heron::proto::TaskStatus;

// A process that died so often so shortly ago does it again and again.
constexpr int kLoopDeaths = 3;
constexpr int64_t kLoopMs = 120'000;
constexpr int64_t kRecentMs = 60'000;

std::string PidText(const scheduler::ProcessInfo& process) {
  return "(pid " + std::to_string(process.pid) + ")";
}

// How often it died lately, by the stored failures.
int RecentDeaths(const LiveView& view, const std::string& process, int container, int task,
                 const ProcessFailure** last) {
  int deaths = 0;
  for (const ProcessFailure& failure : view.facts().execution.failures()) {
    if (failure.process() != process || failure.container() != container ||
        failure.task() != task) {
      continue;
    }
    *last = &failure;
    if (view.Since(failure.at_unix_ms()) < kLoopMs) ++deaths;
  }
  return deaths;
}

void AddMaster(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  if (view.master_alive()) {
    const ProcessFailure* last = nullptr;
    const int deaths = RecentDeaths(view, "topology-master", 0, 0, &last);
    if (deaths < kLoopDeaths) return;
    Cause loop{"crash_loop", "its topology master dies again and again: " + last->reason(), 0};
    loop.evidence.push_back("it died " + std::to_string(deaths) + " times in the last " +
                            AgeText(kLoopMs));
    AddLastLines(facts, "tm", &loop);
    loop.remedies.push_back({"see its log", CommandFor(facts, "logs", "tm --previous")});
    causes->push_back(std::move(loop));
    return;
  }
  if (view.young()) return;
  const bool never = facts.master == ExplainFacts::Master::kNever;
  Cause cause{"topology_master_missing", never ? "its topology master has not taken office"
                                               : "its topology master gives no sign of life"};
  cause.container = 0;
  const auto* process = FindProcess(facts, "topology master");
  const auto* executor = FindProcess(facts, "executor 0");
  if (IsStopped(process)) {
    AddContinue(*process, "the topology master", &cause);
  } else if (process != nullptr) {
    cause.evidence.push_back("its process " + PidText(*process) +
                             " is alive, but does not renew its lease");
  } else if (facts.processes) {
    cause.evidence.push_back(std::string("it has no process; its executor (container 0) is ") +
                             (executor != nullptr ? "alive and starts it again" : "not alive"));
  }
  if (IsStopped(executor)) AddContinue(*executor, "the executor of container 0", &cause);
  if (!never) {
    cause.evidence.push_back(
        "until it is back data flows, but nothing ends and no wish is followed; what is told here "
        "of tasks is " +
        AgeText(facts.now_unix_ms - facts.execution.updated_unix_ms()) + " old");
  }
  AddLastLines(facts, "tm", &cause);
  cause.remedies.push_back({"see its log", CommandFor(facts, "logs", "tm")});
  if (facts.processes && executor == nullptr) {
    cause.remedies.push_back({"start what is missing", CommandFor(facts, "restart")});
  }
  causes->push_back(std::move(cause));
}

bool HasExecutor(const LiveView& view, const heron::proto::ContainerStatus& status) {
  if (view.master_alive()) return status.executor_connected();
  // The record is old; the list of processes is not.
  const std::string what = "executor " + std::to_string(status.container());
  return !view.facts().processes || FindProcess(view.facts(), what) != nullptr;
}

void AddContainers(LiveView& view, std::vector<Cause>* causes) {
  if (view.young()) return;
  const ExplainFacts& facts = view.facts();
  const auto* supervisor = FindProcess(facts, "supervisor");
  const bool supervised = supervisor != nullptr && !IsStopped(supervisor);
  for (const auto& [container, status] : view.containers()) {
    if (HasExecutor(view, status)) continue;
    const std::string id = std::to_string(container);
    Cause cause{"containers_missing", "container " + id + " is missing", container};
    const auto* process = FindProcess(facts, "executor " + id);
    if (IsStopped(process)) {
      AddContinue(*process, "its executor", &cause);
    } else if (process != nullptr) {
      cause.evidence.push_back("its executor " + PidText(*process) +
                               " is alive, but not connected to the topology master");
      AddLastLines(facts, "executor:" + id, &cause);
      cause.remedies.push_back({"see its log", CommandFor(facts, "logs", "executor:" + id)});
    } else if (facts.processes) {
      cause.evidence.push_back("no process of its executor is alive");
      if (IsStopped(supervisor)) {
        AddContinue(*supervisor, "the supervisor, which would start it again,", &cause);
      } else {
        cause.evidence.push_back(supervised
                                     ? "the supervisor is alive and starts it again"
                                     : "the supervisor, which would start it again, is not alive");
      }
      AddLastLines(facts, "executor:" + id, &cause);
      if (supervisor == nullptr) {
        cause.remedies.push_back({"start what is missing", CommandFor(facts, "restart")});
      }
      cause.remedies.push_back({"see its last words", CommandFor(facts, "logs", "executor:" + id)});
    }
    int tasks = 0;
    for (const auto& [task_id, task] : view.tasks()) tasks += task.row->container == container;
    cause.evidence.push_back("without it " + CountText(static_cast<uint64_t>(tasks), "task") +
                             " cannot work");
    view.MarkContainer(container);
    causes->push_back(std::move(cause));
  }
}

void AddStreamManagers(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  for (const auto& [container, status] : view.containers()) {
    if (!HasExecutor(view, status) || view.young()) continue;
    const std::string id = std::to_string(container);
    const auto* process = FindProcess(facts, "stream manager " + id);
    const bool connected = view.master_alive() ? status.stream_manager_connected()
                                               : !facts.processes || process != nullptr;
    const ProcessFailure* last = nullptr;
    const int deaths = RecentDeaths(view, "stream-manager", container, 0, &last);
    const bool loop = deaths >= kLoopDeaths;
    if (connected && !loop) continue;
    Cause cause{loop ? "crash_loop" : "stream_managers_missing", "", container};
    cause.text =
        loop ? "the stream manager of container " + id + " dies again and again: " + last->reason()
             : "the stream manager of container " + id + " is not registered";
    if (loop) {
      cause.evidence.push_back("it died " + std::to_string(deaths) + " times in the last " +
                               AgeText(kLoopMs));
    } else if (last != nullptr) {
      cause.evidence.push_back("it died last " + AgeText(view.Since(last->at_unix_ms())) +
                               " ago: " + last->reason());
    }
    if (IsStopped(process)) {
      AddContinue(*process, "its process", &cause);
    } else if (process != nullptr && !loop) {
      cause.evidence.push_back("its process " + PidText(*process) +
                               " is alive, but not connected to the topology master");
    } else if (facts.processes && process == nullptr) {
      cause.evidence.push_back("no process of it is alive; its executor starts it again");
    }
    AddLastLines(facts, "sm:" + id, &cause);
    cause.remedies.push_back({"see its log", CommandFor(facts, "logs", "sm:" + id)});
    if (!connected) view.MarkContainer(container);
    causes->push_back(std::move(cause));
  }
}

Cause OfTask(const std::string& code, const LiveTask& task, const std::string& text) {
  return {code, text, task.row->container, task.row->component, task.row->task};
}

void AddCrashLoops(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  for (auto& [id, task] : view.tasks()) {
    const ProcessFailure& failure = task.facts.last_failure();
    const ProcessFailure* ignored = nullptr;
    const int deaths = RecentDeaths(view, "instance", task.row->container, id, &ignored);
    const bool open = task.phase() >= TaskStatus::RUNNING && task.phase() <= TaskStatus::FINISHED;
    const bool recent = view.Since(failure.at_unix_ms()) < kRecentMs;
    const bool in_a_row = task.facts.failures_in_a_row() >= 2 && (recent || !open);
    if (task.explained || (!in_a_row && deaths < kLoopDeaths)) continue;
    Cause cause =
        OfTask("crash_loop", task, task.label + " dies again and again: " + failure.reason());
    cause.evidence.push_back("it died " + CountText(task.facts.failures(), "time") + ", last " +
                             AgeText(view.Since(failure.at_unix_ms())) + " ago" +
                             (in_a_row ? "; " + std::to_string(task.facts.failures_in_a_row()) +
                                             " times in a row without progress"
                                       : ""));
    AddLastLines(facts, task.name, &cause);
    cause.remedies.push_back(
        {"see its log", CommandFor(facts, "logs", Quoted(task.name) + " --previous")});
    cause.remedies.push_back({"mend the program, then replace the topology",
                              CommandFor(facts, "kill") + " && heron submit " + facts.place +
                                  "PROGRAM " + facts.key.name});
    task.explained = true;
    causes->push_back(std::move(cause));
  }
}

// Not connected, whatever its process does.
void AddAbsentTasks(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  if (view.young() || !view.master_alive()) return;
  for (auto& [id, task] : view.tasks()) {
    const bool absent =
        task.phase() == TaskStatus::PHASE_UNSPECIFIED || task.phase() == TaskStatus::DOWN;
    if (task.explained || !absent) continue;
    const bool never = task.phase() == TaskStatus::PHASE_UNSPECIFIED;
    Cause cause = OfTask("waiting_for_task", task,
                         task.label + (never ? " has not registered" : " is not connected") +
                             " for " + AgeText(view.Since(task.facts.phase_since_unix_ms())));
    if (task.facts.failures() > 0) {
      cause.evidence.push_back("it died last " +
                               AgeText(view.Since(task.facts.last_failure().at_unix_ms())) +
                               " ago: " + task.facts.last_failure().reason());
    }
    if (IsStopped(task.process)) {
      AddContinue(*task.process, "its process", &cause);
    } else if (task.process != nullptr) {
      cause.evidence.push_back("its process " + PidText(*task.process) +
                               " is alive, but not connected to its stream manager; does main() "
                               "reach heron::Main?");
    } else if (facts.processes) {
      cause.evidence.push_back("no process of it is alive; its executor starts it again");
    }
    AddLastLines(facts, task.name, &cause);
    cause.remedies.push_back({"see its log", CommandFor(facts, "logs", Quoted(task.name))});
    task.explained = true;
    causes->push_back(std::move(cause));
  }
}

void AddStuckInOpen(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  for (auto& [id, task] : view.tasks()) {
    const int64_t age = view.Since(task.facts.phase_since_unix_ms());
    if (task.explained || task.phase() != TaskStatus::REGISTERED || age < kStuckMs) continue;
    Cause cause = OfTask(
        "stuck_in_open", task,
        task.label + " has not returned from " + task.open_method() + " for " + AgeText(age));
    if (IsStopped(task.process)) AddContinue(*task.process, "its process", &cause);
    cause.evidence.push_back(std::string("it is slow, or waits for something that does not come"));
    AddLastLines(facts, task.name, &cause);
    cause.remedies.push_back(
        {"see what it says", CommandFor(facts, "logs", Quoted(task.name) + " --follow")});
    if (task.process != nullptr) {
      cause.remedies.push_back({"see where it is", "gdb -p " + std::to_string(task.process->pid) +
                                                       " -batch -ex 'thread apply all bt'"});
    }
    task.explained = true;
    causes->push_back(std::move(cause));
  }
}

}  // namespace

void AddProcessCauses(LiveView& view, std::vector<Cause>* causes) {
  AddMaster(view, causes);
  AddContainers(view, causes);
  AddStreamManagers(view, causes);
  AddCrashLoops(view, causes);
  AddAbsentTasks(view, causes);
  AddStuckInOpen(view, causes);
}

void AddSupervisorCause(const LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  if (!facts.processes) return;
  const auto* supervisor = FindProcess(facts, "supervisor");
  if (supervisor != nullptr && !IsStopped(supervisor)) return;
  Cause cause{"supervisor_missing",
              supervisor != nullptr
                  ? "its supervisor is not at work: a container that dies is not started again"
                  : "its supervisor is not there; its executors have not replaced it yet"};
  if (supervisor != nullptr) {
    AddContinue(*supervisor, "its process", &cause);
    causes->push_back(std::move(cause));
    return;
  }
  AddLastLines(facts, "supervisor", &cause);
  cause.remedies.push_back({"start it again; what runs is adopted", "heron cluster start"});
  causes->push_back(std::move(cause));
}

}  // namespace tools::cli
