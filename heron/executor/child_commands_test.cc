#include "heron/executor/child_commands.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace heron::executor {
namespace {

const Environment kEnvironment = {{"HOME", "/home/u"}, {"HERON_TOPOLOGY_ID", "other"}};

ChildContext Context() {
  ChildContext context;
  context.options.key = {"ads", "prod", "words"};
  context.options.topology_id = "words-1f";
  context.options.state_url = "file:/state";
  context.options.container = 2;
  context.options.secret_file = "/t/secret";
  context.options.engine_folder = "/engine";
  context.options.program = "/program/words";
  context.options.container_folder = testing::TempDir();
  context.port = 4711;
  context.topology.add_arguments("--input=a b");
  context.topology.set_working_folder("/");
  return context;
}

Child Instance() {
  Child child;
  child.key = {proto::INSTANCE, 7};
  child.task.set_task(7);
  child.task.set_component("split");
  child.task.set_component_index(3);
  child.epoch = {2, 5};
  return child;
}

TEST(ChildCommandsTest, InstanceRunsTheProgramInTheSubmittersFolder) {
  const SpawnOptions spawn = ChildCommand(Instance(), Context(), kEnvironment);
  EXPECT_EQ(spawn.argv,
            (std::vector<std::string>{
                "/program/words", "--heron-instance", "--heron-topology=words",
                "--heron-topology-id=words-1f", "--heron-container=2", "--heron-component=split",
                "--heron-task=7", "--heron-index=3", "--heron-epoch=2.5",
                "--heron-executor=127.0.0.1:4711", "--heron-secret-file=/t/secret",
                "--heron-container-folder=" + testing::TempDir(), "--", "--input=a b"}));
  EXPECT_EQ(spawn.working_folder, "/");
  EXPECT_EQ(spawn.log_file, testing::TempDir() + "/split-7.log");
  EXPECT_EQ(spawn.environment.at("HERON_TOPOLOGY_ID"), "words-1f");
  EXPECT_EQ(spawn.environment.at("HOME"), "/home/u");
  EXPECT_EQ("HERON_PROCESS=" + spawn.environment.at("HERON_PROCESS"),
            ProcessMarker(Instance().key));
  EXPECT_TRUE(spawn.die_with_parent);
  EXPECT_NE(spawn.log_headline.find("instance 7 (split[3]) epoch 2.5 pid "), std::string::npos);
}

TEST(ChildCommandsTest, MissingWorkingFolderFallsBackToTheContainers) {
  ChildContext context = Context();
  context.topology.set_working_folder("/no/such/folder");
  EXPECT_EQ(ChildCommand(Instance(), context, kEnvironment).working_folder, testing::TempDir());
}

TEST(ChildCommandsTest, ComponentNameDoesNotLeadOutOfTheLogFolder) {
  Child child = Instance();
  child.task.set_component("../../etc/x");
  EXPECT_EQ(ChildCommand(child, Context(), kEnvironment).log_file, testing::TempDir() + "/.._.._etc_x-7.log");
}

TEST(ChildCommandsTest, EngineProcesses) {
  Child child;
  child.key = {proto::STREAM_MANAGER, 0};
  child.epoch = {3, 1};
  const SpawnOptions sm = ChildCommand(child, Context(), kEnvironment);
  EXPECT_EQ(sm.argv[0], "/engine/heron-stream-manager");
  EXPECT_EQ(std::count(sm.argv.begin(), sm.argv.end(), "--epoch=3.1"), 1);
  EXPECT_EQ(std::count(sm.argv.begin(), sm.argv.end(), "--executor=127.0.0.1:4711"), 1);
  EXPECT_EQ(sm.log_file, testing::TempDir() + "/sm.log");
  child.key = {proto::TOPOLOGY_MASTER, 0};
  const SpawnOptions tm = ChildCommand(child, Context(), kEnvironment);
  EXPECT_EQ(tm.argv[0], "/engine/heron-topology-master");
  EXPECT_EQ(tm.log_file, testing::TempDir() + "/tm.log");
}

}  // namespace
}  // namespace heron::executor
