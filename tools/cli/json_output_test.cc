// Holds the output to the schema in README.md: names, types and nothing more.
#include "tools/cli/json_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace tools::cli {
namespace {

using Json = nlohmann::json;

std::set<std::string> Keys(const Json& json) {
  std::set<std::string> keys;
  for (const auto& item : json.items()) keys.insert(item.key());
  return keys;
}

const heron::state::TopologyKey kKey{"ads", "prod", "t"};

TEST(JsonOutputTest, Done) {
  const Json json = Json::parse(DoneJson(kKey, "KILLED"));
  EXPECT_EQ(json, (Json{{"name", "t"}, {"role", "ads"}, {"env", "prod"}, {"state", "KILLED"}}));
}

TEST(JsonOutputTest, State) {
  heron::proto::ExecutionState state;
  Json json = Json::parse(StateJson(kKey, "t-1", state));
  EXPECT_EQ(json["state"], "STARTING") << "before the topology master has said anything";
  state.set_state(heron::proto::ExecutionState::FINISHED);
  state.add_incomplete("x");
  json = Json::parse(StateJson(kKey, "t-1", state));
  EXPECT_EQ(Keys(json),
            (std::set<std::string>{"name", "role", "env", "id", "state", "incomplete"}));
  EXPECT_EQ(json["incomplete"], Json::array({"x"}));
}

TEST(JsonOutputTest, Plan) {
  heron::proto::PackingPlan plan;
  auto* container = plan.add_containers();
  container->set_container(1);
  auto* task = container->add_tasks();
  task->set_task(7);
  task->set_component("split");
  task->set_component_index(2);
  const Json json = Json::parse(PlanJson(kKey, plan));
  EXPECT_EQ(json["containers"], Json::parse(R"([{"container": 1,
                             "tasks": [{"task": 7, "component": "split", "index": 2}]}])"));
}

TEST(JsonOutputTest, Topologies) {
  TopologyRow row;
  row.key = kKey;
  row.id = "t-1";
  row.state = "RUNNING";
  row.restarts = 2;
  row.failures.emplace_back();
  row.tasks.emplace_back();
  row.tasks.back().component = "lines";
  row.tasks.back().bounded = true;
  row.tasks.back().status.set_phase(heron::proto::TaskStatus::RUNNING);
  row.tasks.back().status.set_progress(0.5);
  row.tasks.emplace_back();
  row.tasks.back().status.set_progress(-1);
  const Json json = Json::parse(TopologiesJson("local", {row}));
  EXPECT_EQ(Keys(json), (std::set<std::string>{"cluster", "topologies"}));
  const Json& topology = json["topologies"][0];
  EXPECT_EQ(Keys(topology), (std::set<std::string>{"name", "role", "env", "id", "state", "reason",
                                                   "waiting_for", "since_unix_ms", "containers",
                                                   "restarts", "incomplete", "failures", "tasks"}));
  EXPECT_EQ(topology["restarts"], 2);
  EXPECT_EQ(
      Keys(topology["failures"][0]),
      (std::set<std::string>{"at_unix_ms", "process", "container", "component", "task", "exit_code",
                             "signal", "reason", "restarts", "failures_in_a_row"}));
  EXPECT_EQ(Keys(topology["tasks"][0]),
            (std::set<std::string>{"task", "component", "index", "container", "phase", "epoch",
                                   "emitted", "executed", "lost_batches", "dropped_tuples", "acked",
                                   "failed", "pending", "progress"}));
  EXPECT_EQ(topology["tasks"][0]["progress"], 0.5);
  EXPECT_TRUE(topology["tasks"][1]["progress"].is_null());
  EXPECT_EQ(topology["tasks"][1]["phase"], "UNKNOWN");
}

TEST(JsonOutputTest, BytesThatAreNoTextDoNotBreakIt) {
  TopologyRow row;
  row.reason = "bad \xFF byte";
  EXPECT_TRUE(Json::accept(TopologiesJson("local", {row})));
  EXPECT_TRUE(Json::accept(ErrorJson(heron::NotFound("\xC3("))));
}

TEST(JsonOutputTest, ErrorAndVersion) {
  const Json error = Json::parse(ErrorJson(heron::NotFound("no topology 't'")));
  EXPECT_EQ(error,
            Json::parse(R"({"error": {"code": "not found", "message": "no topology 't'"}})"));
  EXPECT_EQ(Json::parse(VersionJson("0.1.0", "")), (Json{{"version", "0.1.0"}, {"commit", ""}}));
}

}  // namespace
}  // namespace tools::cli
