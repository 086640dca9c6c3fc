#include "tools/cli/json_output.h"

#include <nlohmann/json.hpp>

namespace tools::cli {
namespace {

// Keys in the order in which they are written here, which is that of the README.
using Json = nlohmann::ordered_json;

// Names and messages come from users' programs and may be any bytes.
std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json KeyJson(const heron::state::TopologyKey& key) {
  return Json{{"name", key.name}, {"role", key.role}, {"env", key.env}};
}

Json FailureJson(const heron::proto::ProcessFailure& failure) {
  return Json{{"at_unix_ms", failure.at_unix_ms()},
              {"process", failure.process()},
              {"container", failure.container()},
              {"component", failure.component()},
              {"task", failure.task()},
              {"exit_code", failure.exit_code()},
              {"signal", failure.signal()},
              {"reason", failure.reason()},
              {"restarts", failure.restarts()},
              {"failures_in_a_row", failure.failures_in_a_row()}};
}

Json TaskJson(const TaskRow& row) {
  const heron::proto::TaskStatus& status = row.status;
  Json json = {{"task", row.task},
               {"component", row.component},
               {"index", row.component_index},
               {"container", row.container}};
  json["phase"] = status.phase() == heron::proto::TaskStatus::PHASE_UNSPECIFIED
                      ? "UNKNOWN"
                      : heron::proto::TaskStatus::Phase_Name(status.phase());
  json["epoch"] =
      std::to_string(status.epoch().incarnation()) + "." + std::to_string(status.epoch().restart());
  json["emitted"] = status.emitted();
  json["executed"] = status.executed();
  json["lost_batches"] = status.lost_batches();
  json["dropped_tuples"] = status.dropped_tuples();
  json["acked"] = status.acked();
  json["failed"] = status.failed();
  json["pending"] = status.pending();
  const bool known = row.bounded && status.progress() >= 0 && status.progress() <= 1 &&
                     status.phase() != heron::proto::TaskStatus::PHASE_UNSPECIFIED;
  json["progress"] = known ? Json(status.progress()) : Json(nullptr);
  return json;
}

Json RowJson(const TopologyRow& row) {
  Json json = KeyJson(row.key);
  json["id"] = row.id;
  json["state"] = row.state;
  json["reason"] = row.reason;
  json["waiting_for"] = row.waiting_for;
  json["since_unix_ms"] = row.since_unix_ms;
  json["containers"] = row.containers;
  json["restarts"] = row.restarts;
  json["incomplete"] = row.incomplete;
  json["failures"] = Json::array();
  for (const auto& failure : row.failures) json["failures"].push_back(FailureJson(failure));
  json["tasks"] = Json::array();
  for (const TaskRow& task : row.tasks) json["tasks"].push_back(TaskJson(task));
  return json;
}

}  // namespace

std::string DoneJson(const heron::state::TopologyKey& key, const std::string& state) {
  Json json = KeyJson(key);
  json["state"] = state;
  return Dump(json);
}

std::string StateJson(const heron::state::TopologyKey& key, const std::string& topology_id,
                      const heron::proto::ExecutionState& state) {
  Json json = KeyJson(key);
  json["id"] = topology_id;
  json["state"] = state.state() == heron::proto::ExecutionState::STATE_UNSPECIFIED
                      ? "STARTING"
                      : heron::proto::ExecutionState::State_Name(state.state());
  json["incomplete"] = Json::array();
  for (const std::string& incomplete : state.incomplete()) json["incomplete"].push_back(incomplete);
  return Dump(json);
}

std::string PlanJson(const heron::state::TopologyKey& key, const heron::proto::PackingPlan& plan) {
  Json json = KeyJson(key);
  json["containers"] = Json::array();
  for (const auto& container : plan.containers()) {
    Json tasks = Json::array();
    for (const auto& task : container.tasks()) {
      tasks.push_back({{"task", task.task()},
                       {"component", task.component()},
                       {"index", task.component_index()}});
    }
    json["containers"].push_back({{"container", container.container()}, {"tasks", tasks}});
  }
  return Dump(json);
}

std::string TopologiesJson(const std::string& cluster, const std::vector<TopologyRow>& rows) {
  Json json = {{"cluster", cluster}, {"topologies", Json::array()}};
  for (const TopologyRow& row : rows) json["topologies"].push_back(RowJson(row));
  return Dump(json);
}

std::string ClusterStepsJson(const std::string& cluster, const std::vector<ClusterStep>& steps) {
  Json json = {{"cluster", cluster}, {"topologies", Json::array()}};
  for (const ClusterStep& step : steps) {
    Json one = KeyJson(step.key);
    one["did"] = step.did;
    one["detail"] = step.detail;
    json["topologies"].push_back(one);
  }
  return Dump(json);
}

std::string ClusterFactsJson(const std::string& cluster, const ClusterFacts& facts) {
  Json json = {{"cluster", cluster},
               {"folder", facts.folder},
               {"state_store", facts.state_store},
               {"state_error", facts.state_error}};
  json["topologies"] = Json::object();
  for (const auto& [state, number] : facts.topologies) json["topologies"][state] = number;
  json["processes"] = facts.processes;
  json["disk_free_bytes"] = facts.disk_free_bytes;
  return Dump(json);
}

std::string ConfigJson(const std::string& cluster, const std::vector<ConfigRow>& rows) {
  Json json = {{"cluster", cluster}, {"keys", Json::array()}};
  for (const ConfigRow& row : rows) {
    json["keys"].push_back({{"key", row.key},
                            {"value", row.value},
                            {"unit", row.unit},
                            {"type", row.type},
                            {"scope", row.scope},
                            {"source", row.source},
                            {"where", row.where}});
  }
  return Dump(json);
}

std::string DoctorJson(const std::vector<Check>& checks) {
  const char* const verdicts[] = {"ok", "warning", "problem"};
  int counts[] = {0, 0, 0};
  Json rows = Json::array();
  for (const Check& check : checks) {
    const int verdict = static_cast<int>(check.verdict);
    ++counts[verdict];
    rows.push_back({{"name", check.name},
                    {"verdict", verdicts[verdict]},
                    {"seen", check.seen},
                    {"remedy", check.remedy}});
  }
  return Dump(Json{{"problems", counts[2]}, {"warnings", counts[1]}, {"checks", rows}});
}

std::string VersionJson(const std::string& version, const std::string& commit) {
  return Dump(Json{{"version", version}, {"commit", commit}});
}

std::string ErrorJson(const heron::Status& status) {
  return Dump(Json{{"error",
                    {{"code", std::string(heron::StatusCodeName(status.code()))},
                     {"message", status.message()}}}});
}

}  // namespace tools::cli
