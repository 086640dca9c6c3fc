#include "tools/cli/definition.h"

#include <gtest/gtest.h>

namespace tools::cli {
namespace {

using heron::proto::Topology;
using heron::settings::ClusterConfig;

ClusterConfig Config(const std::vector<std::string>& command_line = {}) {
  heron::settings::ClusterConfigInputs inputs;
  inputs.command_line = command_line;
  inputs.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "HOME") return "/home/ada";
    return std::nullopt;
  };
  auto config = ClusterConfig::Load(inputs);
  CHECK(config.ok()) << config.status().ToString();
  return *config;
}

Topology WordCount() {
  Topology topology;
  topology.set_name("word-count");
  topology.set_api_version(1);
  auto* lines = topology.add_components();
  lines->set_name("lines");
  lines->set_kind(heron::proto::SPOUT);
  lines->set_parallelism(2);
  auto* output = lines->add_outputs();
  output->set_name("default");
  auto* field = output->add_fields();
  field->set_name("line");
  field->set_type(heron::proto::STRING);
  auto* count = topology.add_components();
  count->set_name("count");
  count->set_kind(heron::proto::BOLT);
  count->set_parallelism(3);
  auto* input = count->add_inputs();
  input->set_component("lines");
  input->set_stream("default");
  input->set_grouping(heron::proto::SHUFFLE);
  return topology;
}

TEST(DefinitionTest, AsDescribed) {
  auto definition = Define(WordCount(), "mine", {}, Config());
  ASSERT_TRUE(definition.ok()) << definition.status().ToString();
  EXPECT_EQ(definition->topology.name(), "mine");
  EXPECT_EQ(definition->plan.containers_size(), 1);
  EXPECT_EQ(definition->plan.containers(0).tasks_size(), 5);
  EXPECT_EQ(definition->key_groups,
            (std::map<std::string, uint32_t>{{"lines", 128}, {"count", 128}}));
}

TEST(DefinitionTest, SettingsAreInTheirNormalFormForTheProgram) {
  Topology described = WordCount();
  (*described.mutable_config())["topology.tuple.max.bytes"] = "1 MiB";
  (*described.mutable_config())["user.key"] = "1 MiB";
  auto definition = Define(described, "mine", {}, Config());
  ASSERT_TRUE(definition.ok()) << definition.status().ToString();
  EXPECT_EQ(definition->topology.config().at("topology.tuple.max.bytes"), "1048576");
  EXPECT_EQ(definition->topology.config().at("user.key"), "1 MiB");
}

TEST(DefinitionTest, AComponentsOwnKeysAreChecked) {
  Topology described = WordCount();
  (*described.mutable_components(1)->mutable_config())["topology.contaners"] = "2";
  auto definition = Define(described, "mine", {}, Config());
  ASSERT_FALSE(definition.ok());
  EXPECT_EQ(definition.status().message(),
            "component 'count': unknown key \"topology.contaners\"; did you mean "
            "\"topology.containers\"?");
}

TEST(DefinitionTest, SubmitterHasTheLastWord) {
  Topology described = WordCount();
  (*described.mutable_config())["topology.containers"] = "7";
  (*described.mutable_config())["user.key"] = "kept";
  Overrides overrides;
  overrides.parallelism_all = 4;
  overrides.parallelism = {{"count", 40}};
  overrides.containers = 2;
  auto definition = Define(described, "mine", overrides, Config({"topology.batch.max.bytes=4096"}));
  ASSERT_TRUE(definition.ok()) << definition.status().ToString();
  EXPECT_EQ(definition->topology.components(0).parallelism(), 4u);
  EXPECT_EQ(definition->topology.components(1).parallelism(), 40u);
  EXPECT_EQ(definition->plan.containers_size(), 2);
  EXPECT_EQ(definition->topology.config().at("topology.containers"), "2");
  EXPECT_EQ(definition->topology.config().at("topology.batch.max.bytes"), "4096");
  EXPECT_EQ(definition->topology.config().at("user.key"), "kept");
  EXPECT_EQ(definition->key_groups["count"], 512u);
}

TEST(DefinitionTest, UnknownComponentNamesTheNearest) {
  Overrides overrides;
  overrides.parallelism = {{"cuont", 2}, {"coun", 3}};
  auto definition = Define(WordCount(), "mine", overrides, Config());
  ASSERT_FALSE(definition.ok());
  const std::string& message = definition.status().message();
  EXPECT_NE(message.find("no component 'cuont'"), std::string::npos) << message;
  EXPECT_NE(message.find("did you mean 'count'"), std::string::npos) << message;
}

TEST(DefinitionTest, AllMistakesAtOnce) {
  Topology described = WordCount();
  described.mutable_components(1)->mutable_inputs(0)->set_component("nowhere");
  (*described.mutable_config())["topology.queue.high.bytes"] = "lots";
  Overrides overrides;
  overrides.parallelism = {{"elephant", 2}, {"lines", 2}, {"lines", 3}};
  auto definition = Define(described, "mine", overrides, Config());
  ASSERT_FALSE(definition.ok());
  const std::string& message = definition.status().message();
  for (const char* part :
       {"elephant", "given twice, as 2 and 3", "topology.queue.high.bytes", "nowhere"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
}

TEST(DefinitionTest, SettingsThatAreNoTextAreNamed) {
  Topology described = WordCount();
  (*described.mutable_config())["user.key"] = "a\xFF";
  const auto definition = Define(described, "t", {}, Config());
  ASSERT_FALSE(definition.ok());
  EXPECT_EQ(definition.status().message(), "the setting 'user.key' is no UTF-8 text");
}

TEST(DefinitionTest, ContainersWithoutTasksAreToldNotUsed) {
  Overrides overrides;
  overrides.containers = 9;
  auto definition = Define(WordCount(), "mine", overrides, Config());
  ASSERT_TRUE(definition.ok());
  ASSERT_EQ(definition->notices.size(), 1u);
  EXPECT_EQ(definition->notices[0], "only 5 of 9 containers are used: there are no more tasks");
}

TEST(DefinitionTest, PlanTable) {
  auto definition = Define(WordCount(), "mine", {}, Config());
  ASSERT_TRUE(definition.ok());
  EXPECT_EQ(PlanTable(*definition),
            "CONTAINER  TASKS\n        0  topology master\n"
            "        1  lines[0] lines[1] count[0] count[1] count[2]\n");
}

}  // namespace
}  // namespace tools::cli
