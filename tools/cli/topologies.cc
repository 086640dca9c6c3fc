#include "tools/cli/topologies.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

#include "heron/model/nearest_hint.h"
#include "tools/cli/ended_sweep.h"
#include "tools/cli/health.h"
#include "tools/cli/json_output.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

using heron::Result;
using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::proto::ProcessFailure;
using heron::state::TopologyKey;

constexpr size_t kShownFailures = 3;

void AddTasks(const MaybeStored<heron::proto::SubmittedTopology>& submitted,
              const MaybeStored<heron::proto::PackingPlan>& plan, const ExecutionState& state,
              TopologyRow* row) {
  std::map<std::string, bool> bounded;
  if (submitted) {
    for (const auto& component : submitted->value.topology().components()) {
      bounded[component.name()] = component.bounded();
    }
  }
  std::map<int, const heron::proto::TaskStatus*> statuses;
  for (const auto& status : state.tasks()) statuses[status.task()] = &status;
  if (!plan) return;
  row->containers = plan->value.containers_size();
  for (const auto& container : plan->value.containers()) {
    for (const auto& task : container.tasks()) {
      TaskRow task_row{task.task(),      container.container(),     task.component_index(),
                       task.component(), bounded[task.component()], {}};
      if (statuses.contains(task.task())) task_row.status = *statuses[task.task()];
      row->tasks.push_back(std::move(task_row));
    }
  }
  std::sort(row->tasks.begin(), row->tasks.end(),
            [](const TaskRow& a, const TaskRow& b) { return a.task < b.task; });
}

void TakeExecution(const ExecutionState& state, TopologyRow* row) {
  row->state = state.state() == ExecutionState::STATE_UNSPECIFIED
                   ? "STARTING"
                   : ExecutionState::State_Name(state.state());
  row->reason = state.reason();
  row->waiting_for = state.waiting_for();
  row->restarts = state.restarts();
  row->since_unix_ms = state.since_unix_ms();
  row->incomplete.assign(state.incomplete().begin(), state.incomplete().end());
  row->failures.assign(state.failures().begin(), state.failures().end());
}

Result<ExecutionState> ExecutionOf(Cli& cli, const TopologyKey& key, const std::string& id) {
  auto execution = ReadExecution(*cli.store, key);
  if (!execution.ok()) return execution.status();
  if (!*execution || (!id.empty() && (*execution)->value.topology_id() != id)) {
    return ExecutionState();
  }
  return (*execution)->value;
}

bool HasEnded(const ExecutionState& state) {
  return state.state() == ExecutionState::FINISHED || state.state() == ExecutionState::FAILED;
}

// A wanted topology: what the topology master says, unless nobody runs it.
Status TakeWanted(Cli& cli, const DesiredState& desired, TopologyRow* row, ExecutionState* state) {
  scheduler::Health health;
  if (!HasEnded(*state)) {
    auto examined = ExamineTopology(cli, row->key, row->id);
    if (!examined.ok()) return examined.status();
    health = *examined;
    if (health.lost) {
      // It may have ended just now.
      Result<ExecutionState> again = ExecutionOf(cli, row->key, row->id);
      if (!again.ok()) return again.status();
      *state = *again;
      TakeExecution(*state, row);
      if (!HasEnded(*state)) {
        row->state = "LOST";
        row->reason = LostText(cli, row->key, health);
        row->waiting_for.clear();
      }
      return Status::Ok();
    }
  }
  TakeExecution(*state, row);
  if (state->state() == ExecutionState::STATE_UNSPECIFIED) {
    row->waiting_for = "the topology master";
    row->since_unix_ms = desired.since_unix_ms();
  }
  if (!health.reason.empty()) {
    row->reason = health.reason + "; bring it back: " + CommandText(cli, "restart", row->key);
  }
  return Status::Ok();
}

std::string TimeText(int64_t unix_ms) {
  if (unix_ms <= 0) return "-";
  const std::time_t seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm local = {};
  char text[32];
  localtime_r(&seconds, &local);
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

// Mean progress of each bounded spout whose tasks tell it.
std::vector<std::string> ProgressLines(const TopologyRow& row) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const TaskRow& task : row.tasks) {
    if (!task.bounded || task.status.phase() == heron::proto::TaskStatus::PHASE_UNSPECIFIED)
      continue;
    const bool finished = task.status.phase() == heron::proto::TaskStatus::FINISHED;
    const double progress = finished ? 1 : task.status.progress();
    if (!(progress >= 0 && progress <= 1)) continue;  // not known
    sums[task.component].first += progress;
    sums[task.component].second += 1;
  }
  std::vector<std::string> lines;
  for (const auto& [component, sum] : sums) {
    lines.push_back("progress: " + component + " " +
                    std::to_string(static_cast<int>(std::floor(100 * sum.first / sum.second))) +
                    " %");
  }
  return lines;
}

std::string FailureText(const ProcessFailure& failure) {
  std::string who = failure.component().empty()
                        ? failure.process()
                        : failure.component() + " (task " + std::to_string(failure.task()) + ")";
  return TimeText(failure.at_unix_ms()) + " " + who + ", container " +
         std::to_string(failure.container()) + ": " + failure.reason();
}

std::vector<std::string> DetailLines(const TopologyRow& row) {
  std::vector<std::string> lines;
  if (!row.reason.empty()) lines.push_back("reason: " + row.reason);
  if (!row.waiting_for.empty()) lines.push_back("waiting for: " + row.waiting_for);
  for (const std::string& incomplete : row.incomplete) lines.push_back("incomplete: " + incomplete);
  const size_t skipped = row.failures.size() - std::min(row.failures.size(), kShownFailures);
  if (skipped > 0) lines.push_back("failures: " + std::to_string(skipped) + " earlier ones");
  for (size_t i = skipped; i < row.failures.size(); ++i) {
    lines.push_back("failure: " + FailureText(row.failures[i]));
  }
  if (row.state != "FINISHED") {
    for (std::string& line : ProgressLines(row)) lines.push_back(std::move(line));
  }
  return lines;
}

void PrintTable(const std::vector<TopologyRow>& rows, std::ostream& out) {
  std::vector<std::vector<std::string>> cells = {
      {"NAME", "ROLE/ENV", "STATE", "TASKS", "CONTAINERS", "RESTARTS", "SINCE"}};
  for (const TopologyRow& row : rows) {
    cells.push_back({row.key.name, row.key.role + "/" + row.key.env, row.state,
                     std::to_string(row.tasks.size()), std::to_string(row.containers),
                     std::to_string(row.restarts), TimeText(row.since_unix_ms)});
  }
  std::vector<size_t> widths(cells[0].size());
  for (const auto& line : cells) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (size_t n = 0; n < cells.size(); ++n) {
    for (size_t i = 0; i < cells[n].size(); ++i) {
      const bool last = i + 1 == cells[n].size();
      out << cells[n][i] << (last ? "\n" : std::string(widths[i] - cells[n][i].size() + 2, ' '));
    }
    if (n == 0) continue;
    for (std::string line : DetailLines(rows[n - 1])) {
      // A reason of several lines stays under its topology.
      for (size_t at = 0; (at = line.find('\n', at)) != std::string::npos; at += 7) {
        line.replace(at, 1, "\n      ");
      }
      out << "    " << line << "\n";
    }
  }
  out.flush();
}

bool AnyNodeLeft(Cli& cli, const TopologyKey& key) {
  for (const std::string& path : NodesOf(key)) {
    if (cli.store->Get(path).status().code() != heron::StatusCode::kNotFound) return true;
  }
  return false;
}

bool IsOf(const Place& place, const TopologyKey& key) {
  return (!place.role_given || key.role == place.role) &&
         (!place.env_given || key.env == place.env);
}

// Rows of those that have processes but no record; `all` are those that have one.
Status AddUnrecorded(Cli& cli, const Place& place, const std::string& name,
                     const std::vector<TopologyKey>& all, std::vector<TopologyRow>* rows) {
  auto running = cli.scheduler->Running();
  if (!running.ok()) return running.status();
  for (const scheduler::RunningTopology& topology : *running) {
    const TopologyKey& key = topology.key;
    if ((!name.empty() && key.name != name) || !IsOf(place, key)) continue;
    const bool recorded = std::any_of(all.begin(), all.end(), [&](const TopologyKey& other) {
      return other.ToString() == key.ToString();
    });
    if (recorded) continue;
    TopologyRow row;
    row.key = key;
    row.id = topology.topology_id;
    row.state = "LOST";
    row.reason = "its records in the state store are gone; " + CommandText(cli, "kill", key) +
                 " ends its " + std::to_string(topology.processes) +
                 (topology.processes == 1 ? " process" : " processes");
    rows->push_back(std::move(row));
  }
  return Status::Ok();
}

Status NothingNamed(const Cli& cli, const std::vector<TopologyKey>& all, const std::string& name) {
  std::vector<std::string> names;
  for (const TopologyKey& key : all) {
    if (std::find(names.begin(), names.end(), key.name) == names.end()) names.push_back(key.name);
  }
  return heron::NotFound("no topology '" + name + "' in cluster " + cli.cluster +
                         heron::model::NearestHint(name, names));
}

}  // namespace

Result<TopologyRow> ReadTopologyRow(Cli& cli, const TopologyKey& key) {
  TopologyRow row;
  row.key = key;
  auto desired = ReadDesired(*cli.store, key);
  if (!desired.ok()) return desired.status();
  auto submitted = ReadSubmitted(*cli.store, key);
  if (!submitted.ok()) return submitted.status();
  auto plan = ReadPlan(*cli.store, key);
  if (!plan.ok()) return plan.status();
  if (*desired) row.id = (*desired)->value.topology_id();
  if (row.id.empty() && *submitted) row.id = (*submitted)->value.topology_id();
  Result<ExecutionState> state = ExecutionOf(cli, key, row.id);
  if (!state.ok()) return state.status();

  if (!*desired) {
    TakeExecution(*state, &row);
    row.state = "LOST";
    row.reason = "left-overs without a record of what is wanted; " + CommandText(cli, "kill", key) +
                 " removes them";
  } else if ((*desired)->value.desire() == DesiredState::SUBMITTING ||
             (*desired)->value.desire() == DesiredState::KILLING) {
    const bool submitting = (*desired)->value.desire() == DesiredState::SUBMITTING;
    TakeExecution(*state, &row);
    row.state = submitting ? "SUBMITTING" : "KILLING";
    row.since_unix_ms = (*desired)->value.since_unix_ms();
    if (!MayBeAlive((*desired)->value.by())) {
      row.reason = std::string("its ") + (submitting ? "submit" : "kill") + " (" +
                   (*desired)->value.by() + ") broke off; " + CommandText(cli, "kill", key) +
                   (submitting ? " removes it" : " completes it");
    }
  } else {
    HERON_RETURN_IF_ERROR(TakeWanted(cli, (*desired)->value, &row, &*state));
  }
  AddTasks(*submitted, *plan, *state, &row);
  return row;
}

Status TopologiesCommand(Cli& cli, const Place& place, const std::string& name) {
  SweepEnded(cli);
  Result<std::vector<TopologyKey>> all = ListTopologies(*cli.store);
  if (!all.ok()) return all.status();
  std::vector<TopologyRow> rows;
  HERON_RETURN_IF_ERROR(AddUnrecorded(cli, place, name, *all, &rows));
  for (const TopologyKey& key : *all) {
    if (!name.empty() && key.name != name) continue;
    if (!IsOf(place, key)) continue;
    Result<TopologyRow> row = ReadTopologyRow(cli, key);
    if (!row.ok()) {
      // One bad record does not hide the others.
      TopologyRow damaged;
      damaged.key = key;
      damaged.state = "LOST";
      damaged.reason = row.status().message();
      row = damaged;
    }
    // Killed while it was read.
    if (!AnyNodeLeft(cli, key)) continue;
    rows.push_back(*std::move(row));
  }
  if (rows.empty() && !name.empty()) return NothingNamed(cli, *all, name);
  if (cli.json) {
    *cli.out << TopologiesJson(cli.cluster, rows) << std::endl;
  } else if (rows.empty()) {
    *cli.out << "no topologies in cluster " << cli.cluster
             << "; start one: heron submit PROGRAM NAME" << std::endl;
  } else {
    PrintTable(rows, *cli.out);
  }
  return Status::Ok();
}

}  // namespace tools::cli
