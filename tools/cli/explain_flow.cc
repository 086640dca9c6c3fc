#include "tools/cli/explain_flow.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tools/cli/explain_text.h"

namespace tools::cli {
namespace {

using heron::proto::TaskStatus;

// What takes less to be done needs no explanation.
constexpr double kShortSeconds = 2;

bool HasAllInputs(const LiveTask& task) { return !task.spout && task.status().open_inputs() == 0; }

bool HasWork(const LiveTask& task) {
  return task.status().waiting_tuples() > 0 || task.status().queued_bytes() > 0;
}

Cause OfTask(const std::string& code, const LiveTask& task, const std::string& text) {
  return {code, text, task.row->container, task.row->component, task.row->task};
}

// Tuples per second since it was opened; 0 when it has executed none.
double Rate(const LiveView& view, const LiveTask& task) {
  const double seconds =
      static_cast<double>(std::max<int64_t>(view.Since(task.facts.phase_since_unix_ms()), 1)) /
      1000;
  return static_cast<double>(task.status().executed()) / seconds;
}

std::string RateText(double rate) {
  char text[32];
  std::snprintf(text, sizeof(text), rate >= 100 ? "%.0f" : "%.1f", rate);
  return text;
}

void AddWork(const LiveView& view, const LiveTask& task, Cause* cause) {
  const TaskStatus& status = task.status();
  std::string line = "it has executed " + CountText(status.executed(), "tuple") + " (" +
                     RateText(Rate(view, task)) + "/s)";
  if (status.waiting_tuples() > 0) {
    line += "; " + CountText(status.waiting_tuples(), "tuple") + " in its process wait";
  }
  if (status.queued_bytes() > 0) {
    line += std::string(status.waiting_tuples() > 0 ? ", and " : "; ") +
            BytesText(status.queued_bytes()) + " in its stream manager";
  }
  cause->evidence.push_back(line);
}

// Who is held back by whom: held task -> holders that exist.
std::map<int, std::set<int>> Holders(LiveView& view) {
  std::map<int, std::set<int>> holders;
  for (auto& [id, task] : view.tasks()) {
    for (int holder : task.status().held_by()) {
      if (view.tasks().contains(holder)) holders[id].insert(holder);
    }
  }
  return holders;
}

std::vector<std::string> HeldBy(LiveView& view, int holder) {
  std::vector<std::string> held;
  for (const auto& [id, holders] : Holders(view)) {
    if (holders.contains(holder)) held.push_back(view.tasks()[id].name);
  }
  return held;
}

void AddStuckInExecute(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  const auto holders = Holders(view);
  for (auto& [id, task] : view.tasks()) {
    const int64_t age = view.Since(task.facts.counted_since_unix_ms());
    if (task.explained || task.spout || task.phase() != TaskStatus::RUNNING ||
        task.status().waiting_tuples() == 0 || age < kStuckMs || holders.contains(id)) {
      continue;
    }
    Cause cause = OfTask("stuck_in_execute", task,
                         task.label + " has not returned from Execute for " + AgeText(age));
    if (const auto held = HeldBy(view, id); !held.empty()) {
      cause.text += ", and holds back " + JoinText(held);
    } else if (HasAllInputs(task)) {
      cause.text += ", and holds the end";
    }
    if (IsStopped(task.process)) AddContinue(*task.process, "its process", &cause);
    AddWork(view, task, &cause);
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

void AddMoreTasks(const ExplainFacts& facts, const LiveTask& task, Cause* cause) {
  const std::string& component = task.row->component;
  int parallelism = 0;
  for (const TaskRow& row : facts.row.tasks) parallelism += row.component == component;
  cause->remedies.push_back({"give it more tasks, or make its Execute faster",
                             CommandFor(facts, "kill") + " && heron submit " + facts.place +
                                 "PROGRAM " + facts.key.name + " --parallelism " + component + "=" +
                                 std::to_string(2 * parallelism)});
}

// The holders that nobody holds: they are slow themselves. In a circle the fullest one.
void AddBackPressure(LiveView& view, std::vector<Cause>* causes) {
  const auto holders = Holders(view);
  std::set<int> all, roots;
  for (const auto& [id, of] : holders) all.insert(of.begin(), of.end());
  for (int id : all) {
    if (!holders.contains(id)) roots.insert(id);
  }
  if (roots.empty() && !all.empty()) {
    roots.insert(*std::max_element(all.begin(), all.end(), [&view](int a, int b) {
      return view.tasks()[a].status().queued_bytes() < view.tasks()[b].status().queued_bytes();
    }));
  }
  for (int id : roots) {
    LiveTask& task = view.tasks()[id];
    if (task.explained) continue;
    Cause cause = OfTask("holds_back", task,
                         task.label + " is slow and holds back " + JoinText(HeldBy(view, id)));
    AddWork(view, task, &cause);
    AddMoreTasks(view.facts(), task, &cause);
    task.explained = true;
    causes->push_back(std::move(cause));
  }
}

// All its inputs have ended and it still has work for a while.
void AddSlowEnds(LiveView& view, std::vector<Cause>* causes) {
  for (auto& [id, task] : view.tasks()) {
    if (task.explained || task.phase() != TaskStatus::RUNNING || !HasAllInputs(task) ||
        !HasWork(task)) {
      continue;
    }
    const double rate = Rate(view, task);
    const double left = static_cast<double>(task.status().waiting_tuples()) / std::max(rate, 1e-3);
    if (left < kShortSeconds && task.status().queued_bytes() == 0) continue;
    Cause cause = OfTask("holds_back", task, task.label + " is slow and holds the end");
    AddWork(view, task, &cause);
    cause.evidence.push_back("its inputs have ended; what waits takes it about " +
                             AgeText(static_cast<int64_t>(std::min(1000 * left, 1e15))) +
                             (task.status().queued_bytes() > 0 ? " and more" : ""));
    AddMoreTasks(view.facts(), task, &cause);
    task.explained = true;
    causes->push_back(std::move(cause));
  }
}

void AddStuckEnds(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  for (auto& [id, task] : view.tasks()) {
    const int64_t age = view.Since(task.facts.phase_since_unix_ms());
    const bool ending = task.phase() == TaskStatus::FINISHING;
    if (task.explained || !ending || age < kStuckMs) continue;
    Cause cause = OfTask("stuck_in_finish", task,
                         task.label + " has not ended its output for " + AgeText(age));
    cause.evidence.push_back(
        task.spout ? "its input has ended; its last tuples are not confirmed by their receivers"
                   : "its Finish has not returned, or its last tuples are not confirmed by their "
                     "receivers");
    AddLastLines(facts, task.name, &cause);
    cause.remedies.push_back(
        {"see what it says", CommandFor(facts, "logs", Quoted(task.name) + " --follow")});
    task.explained = true;
    causes->push_back(std::move(cause));
  }
}

// Of a reason for which tuples are dropped; nullptr for one that is not known here.
const char* MeaningOf(const std::string& reason) {
  static const std::map<std::string, const char*> kMeanings = {
      {"lost_batches", "batches that were on their way when a process died or a link broke"},
      {"destination_down", "their receiver was down for longer than topology.destination.grace.ms"},
      {"too_large", "they are larger than topology.tuple.max.bytes"},
      {"refused", "they were emitted with wrong values, to an unknown stream or to no task"},
      {"damaged", "they could not be read where they arrived"},
      {"task_finished", "they came after their receiver had finished"},
      {"too_old", "they came from an earlier life of their source"},
      {"stray", "they came to a task that does not read them"},
      {"queue_overflow", "their queue in the stream manager was full beyond all bounds"},
      {"unknown_destination", "the plan has no such task"},
  };
  auto it = kMeanings.find(reason);
  return it == kMeanings.end() ? nullptr : it->second;
}

bool Bounded(const LiveView& view) {
  bool any = false;
  for (const auto& component : view.facts().submitted.topology().components()) {
    if (component.kind() != heron::proto::SPOUT) continue;
    if (!component.bounded()) return false;
    any = true;
  }
  return any;
}

void AddInactive(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  if (facts.desired->desire() != heron::proto::DesiredState::INACTIVE) return;
  Cause cause{
      "inactive",
      "it is deactivated: its spouts are not asked for tuples" +
          std::string(Bounded(view) ? ", so it does not finish until it is activated" : "")};
  cause.evidence.push_back("deactivated by " + facts.desired->by() + " " +
                           AgeText(view.Since(facts.desired->since_unix_ms())) + " ago");
  cause.remedies.push_back({"let it go on", CommandFor(facts, "activate")});
  causes->push_back(std::move(cause));
}

std::string PercentText(double fraction) {
  return std::to_string(static_cast<int>(std::floor(100 * fraction))) + " %";
}

// Spouts that wait for acknowledgements, and bolts that hold on to tuples.
void AddHeldAcks(LiveView& view, std::vector<Cause>* causes) {
  std::vector<std::string> waiting;
  uint64_t pending = 0;
  for (auto& [id, task] : view.tasks()) {
    const int64_t age = view.Since(task.facts.counted_since_unix_ms());
    if (!task.spout || task.status().pending() == 0 || age < kStuckMs) continue;
    waiting.push_back(task.name);
    pending += task.status().pending();
  }
  if (waiting.empty()) return;
  bool found = false;
  for (auto& [id, task] : view.tasks()) {
    const int64_t age = view.Since(task.facts.counted_since_unix_ms());
    if (task.explained || task.spout || task.status().held() == 0 || age < kStuckMs) continue;
    Cause cause = OfTask("holds_acks", task,
                         task.label + " holds " + CountText(task.status().held(), "tuple") +
                             " that it has neither acknowledged nor failed");
    cause.evidence.push_back(JoinText(waiting) + " " + (waiting.size() == 1 ? "waits" : "wait") +
                             " for " + CountText(pending, "tuple") + ", and " +
                             (waiting.size() == 1 ? "does" : "do") + " not emit or end meanwhile");
    cause.evidence.push_back("it has executed nothing for " + AgeText(age));
    cause.remedies.push_back(
        {"settle what ctx.Hold gave with Ack or Fail, not in Finish; see what it says",
         CommandFor(view.facts(), "logs", task.name + " --follow")});
    task.explained = found = true;
    causes->push_back(std::move(cause));
  }
  if (!found) return;
  for (auto& [id, task] : view.tasks()) {
    if (task.spout && task.status().pending() > 0) task.explained = true;
  }
}

void AddIdleSpouts(LiveView& view, std::vector<Cause>* causes) {
  if (view.facts().row.state != "RUNNING") return;
  const ExplainFacts& facts = view.facts();
  for (auto& [id, task] : view.tasks()) {
    const int64_t age = view.Since(task.facts.counted_since_unix_ms());
    if (task.explained || !task.row->bounded || task.phase() != TaskStatus::RUNNING ||
        age < 2 * kStuckMs || task.status().held_by_size() > 0) {
      continue;
    }
    Cause cause =
        OfTask("spout_idle", task,
               task.label + " has emitted nothing for " + AgeText(age) + " and has not ended");
    if (IsStopped(task.process)) AddContinue(*task.process, "its process", &cause);
    const double progress = task.status().progress();
    if (progress >= 0 && progress <= 1) {
      cause.evidence.push_back("it has read " + PercentText(progress) + " of its input");
    }
    cause.evidence.push_back("NextTuple gives Idle or Waiting, or does not return");
    AddLastLines(facts, task.name, &cause);
    cause.remedies.push_back(
        {"see what it says", CommandFor(facts, "logs", Quoted(task.name) + " --follow")});
    task.explained = true;
    causes->push_back(std::move(cause));
  }
}

}  // namespace

void AddFlowCauses(LiveView& view, std::vector<Cause>* causes) {
  AddStuckInExecute(view, causes);
  AddBackPressure(view, causes);
  AddHeldAcks(view, causes);
  if (Bounded(view)) {
    AddSlowEnds(view, causes);
    AddStuckEnds(view, causes);
  }
  AddInactive(view, causes);
  AddIdleSpouts(view, causes);
}

void AddDropCauses(LiveView& view, std::vector<Cause>* causes) {
  const ExplainFacts& facts = view.facts();
  std::map<std::string, std::map<std::string, uint64_t>> drops;  // component, reason
  for (const auto& [id, task] : view.tasks()) {
    for (const auto& [reason, tuples] : task.status().drop_reasons()) {
      drops[task.row->component][reason] += tuples;
    }
    if (task.status().lost_batches() > 0) {
      drops[task.row->component]["lost_batches"] += task.status().lost_batches();
    }
  }
  for (const auto& [component, reasons] : drops) {
    std::vector<std::string> words;
    for (const auto& [reason, tuples] : reasons) {
      words.push_back(std::to_string(tuples) + " " + reason);
    }
    Cause cause{"tuples_dropped", component + " has dropped or lost tuples: " + JoinText(words)};
    cause.component = component;
    for (const auto& [reason, tuples] : reasons) {
      if (const char* meaning = MeaningOf(reason)) {
        cause.evidence.push_back(reason + ": " + meaning);
      }
    }
    cause.remedies.push_back(
        {"see why", CommandFor(facts, "logs", component + " --level warning")});
    causes->push_back(std::move(cause));
  }
}

Cause WellCause(LiveView& view) {
  const ExplainFacts& facts = view.facts();
  if (view.starting()) {
    Cause cause{
        "starting",
        "it starts since " + AgeText(view.Since(facts.row.since_unix_ms)) +
            (facts.row.waiting_for.empty() ? "" : "; waiting for " + facts.row.waiting_for)};
    cause.remedies.push_back({"wait until it runs", CommandFor(facts, "wait", "--for running")});
    return cause;
  }
  Cause cause{"healthy", "it runs as it should: " + CountText(facts.row.tasks.size(), "task") +
                             " in " +
                             CountText(static_cast<uint64_t>(facts.row.containers), "container")};
  std::map<std::string, std::pair<double, int>> progress;
  std::set<std::string> endless;
  int finished = 0;
  for (const auto& [id, task] : view.tasks()) {
    finished += task.phase() == TaskStatus::FINISHED;
    if (!task.spout) continue;
    if (!task.row->bounded) endless.insert(task.row->component);
    const double fraction = task.phase() == TaskStatus::FINISHED ? 1 : task.status().progress();
    if (!task.row->bounded || !(fraction >= 0 && fraction <= 1)) continue;
    progress[task.row->component].first += fraction;
    progress[task.row->component].second += 1;
  }
  for (const auto& [component, sum] : progress) {
    cause.evidence.push_back(component + " has read " + PercentText(sum.first / sum.second) +
                             " of its input");
  }
  if (!endless.empty()) {
    cause.evidence.push_back("it does not end by itself: " +
                             JoinText(std::vector<std::string>(endless.begin(), endless.end())) +
                             (endless.size() == 1 ? " is" : " are") + " not declared Bounded()");
  } else if (finished > 0) {
    cause.evidence.push_back(std::to_string(finished) + " of " +
                             CountText(view.tasks().size(), "task") + " have finished");
  }
  cause.remedies.push_back({"follow it", CommandFor(facts, "logs", "--follow")});
  return cause;
}

}  // namespace tools::cli
