#include "heron/settings/cluster_config.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "heron/settings/topology_settings.h"

namespace heron::settings {
namespace {

class ClusterConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = ::getenv("TEST_TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/configXXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::create_directories(folder_ + "/config/local");
    std::filesystem::create_directories(folder_ + "/config/other");
    Write("/config/local/cluster.yaml", "heron.state.url: file:${HERON_ROOT}/local/state\n");
    Write("/config/other/cluster.yaml", "{}\n");
    inputs_.config_folder = folder_ + "/config";
    inputs_.user_file = folder_ + "/config.yaml";
    inputs_.environment = [this](const std::string& name) -> std::optional<std::string> {
      auto it = environment_.find(name);
      if (it == environment_.end()) return std::nullopt;
      return it->second;
    };
    environment_["HOME"] = "/home/me";
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + name) << text;
  }
  ClusterConfig Load() {
    Result<ClusterConfig> config = ClusterConfig::Load(inputs_);
    CHECK(config.ok()) << config.status().ToString();
    return std::move(*config);
  }
  std::string Problem() {
    Result<ClusterConfig> config = ClusterConfig::Load(inputs_);
    EXPECT_FALSE(config.ok());
    return config.status().message();
  }

  std::string folder_;
  std::map<std::string, std::string> environment_;
  ClusterConfigInputs inputs_;
};

TEST_F(ClusterConfigTest, TheDefaults) {
  ClusterConfig config = Load();
  EXPECT_EQ(config.cluster(), "local");
  EXPECT_EQ(config.heron_root(), "/home/me/.heron");
  EXPECT_EQ(config.state_url(), "file:/home/me/.heron/local/state");
  EXPECT_EQ(config.describe_timeout_ms(), 30'000);
  EXPECT_EQ(config.values().at("heron.submit.timeout.ms").where, "built-in default");
  EXPECT_EQ(config.values().at("heron.state.url").where, folder_ + "/config/local/cluster.yaml:1");
  EXPECT_TRUE(config.TopologyConfig({}).empty());
}

TEST_F(ClusterConfigTest, TheFileOfTheLocalClusterInTheTreeIsRight) {
  inputs_.config_folder = "config";
  inputs_.user_file = "";
  EXPECT_EQ(Load().state_url(), "file:/home/me/.heron/local/state");
}

TEST_F(ClusterConfigTest, HeronRootFromEnvironmentAndFile) {
  environment_["HERON_ROOT"] = "/data/heron";
  EXPECT_EQ(Load().state_url(), "file:/data/heron/local/state");
  Write("/config.yaml", "heron:\n  root: ${HOME}/mine\n");
  EXPECT_EQ(Load().state_url(), "file:/home/me/mine/local/state");
  Write("/config.yaml", "heron.root: not/absolute\n");
  EXPECT_NE(Problem().find("config.yaml:1: heron.root is \"not/absolute\"; it must be an absolute"),
            std::string::npos);
}

// The same key at each level: the next one wins, and each knows where it is from.
TEST_F(ClusterConfigTest, Precedence) {
  auto containers = [&](const std::map<std::string, std::string>& topology) {
    auto values = Load().TopologyValues(topology);
    auto it = values.find("topology.containers");
    return it == values.end() ? "-" : it->second.value + " " + it->second.where;
  };
  EXPECT_EQ(containers({}), "-");
  Write("/config/local/cluster.yaml", "\ntopology.containers: 2\n");
  EXPECT_EQ(containers({}), "2 " + folder_ + "/config/local/cluster.yaml:2");
  Write("/config.yaml", "topology.containers: 3\n");
  EXPECT_EQ(containers({}), "3 " + folder_ + "/config.yaml:1");
  EXPECT_EQ(containers({{"topology.containers", "4"}}), "4 the topology");
  inputs_.command_line = {"topology.containers=5"};
  EXPECT_EQ(containers({{"topology.containers", "4"}}), "5 the command line");
  EXPECT_EQ(Load().TopologyConfig({{"topology.stmgrs", "4"}}).count("topology.stmgrs"), 0u);
  inputs_.command_line = {};
  EXPECT_EQ(ParseTopologySettings(Load().TopologyConfig({{"topology.stmgrs", "4"}}))->containers, 4)
      << "an old name in the topology beats the files";
}

TEST_F(ClusterConfigTest, ClusterKeysStayOutOfTheTopology) {
  inputs_.command_line = {"heron.submit.timeout.ms=2 s", "my.key=a=b",
                          "topology.queue.high.bytes=1 MiB"};
  ClusterConfig config = Load();
  EXPECT_EQ(config.submit_timeout_ms(), 2000);
  EXPECT_EQ(config.TopologyConfig({{"other.key", "x"}, {"my.key", "y"}}),
            (std::map<std::string, std::string>{
                {"my.key", "a=b"}, {"other.key", "x"}, {"topology.queue.high.bytes", "1048576"}}));
}

TEST_F(ClusterConfigTest, WhichCluster) {
  Write("/config.yaml", "cluster: other\n");
  EXPECT_EQ(Load().cluster(), "other");
  inputs_.cluster = "local";
  EXPECT_EQ(Load().cluster(), "local");
  inputs_.cluster = "nowhere";
  EXPECT_EQ(ClusterConfig::Load(inputs_).status().code(), StatusCode::kNotFound);
  EXPECT_NE(Problem().find("has: local, other"), std::string::npos) << Problem();
  inputs_.cluster = "../../etc";
  EXPECT_NE(Problem().find("no name of a cluster"), std::string::npos);
  inputs_.cluster = "";
  inputs_.config_folder = "";
  inputs_.user_file = "";
  EXPECT_EQ(Load().cluster(), "local") << "works without any file";
}

TEST_F(ClusterConfigTest, AllProblemsWithFileAndLine) {
  Write("/config/local/cluster.yaml", "heron.state.uri: x\nheron.root: ${NOWHERE}\ncluster: x\n");
  Write("/config.yaml", "\ntopology.containers: many\nmine: 1\nheron.submit.timeout.ms: ${HOME\n");
  inputs_.command_line = {"novalue", "topology.contaners=2", "topology.tuple.max.bytes=1"};
  std::string message = Problem();
  EXPECT_TRUE(message.starts_with("9 problems in the configuration:")) << message;
  std::string cluster = folder_ + "/config/local/cluster.yaml:";
  std::string user = folder_ + "/config.yaml:";
  for (std::string part :
       {cluster + "1: unknown key \"heron.state.uri\"; did you mean \"heron.state.url\"?",
        cluster + "2: heron.root: ${NOWHERE} is not set in the environment",
        cluster + "3: \"cluster\" belongs into the user's file",
        user + "2: topology.containers is \"many\"",
        user + "3: unknown key \"mine\"; keys of your own belong into the topology or --config",
        std::string("the command line: topology.tuple.max.bytes is \"1\""),
        user + "4: heron.submit.timeout.ms: \"${\" has no \"}\"",
        std::string("--config: \"novalue\" is not of the form key=value"),
        std::string("--config: unknown key \"topology.contaners\"")}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " not in\n" << message;
  }
}

TEST_F(ClusterConfigTest, ABrokenFileIsNamed) {
  Write("/config.yaml", "a: 1\n: :");
  EXPECT_NE(Problem().find(folder_ + "/config.yaml:"), std::string::npos);
}

TEST_F(ClusterConfigTest, OldNamesInFilesGiveANotice) {
  Write("/config.yaml", "topology.stmgrs: 12\n");
  ClusterConfig config = Load();
  EXPECT_EQ(config.Get("topology.containers"), "12");
  ASSERT_EQ(config.notices().size(), 1u);
  EXPECT_NE(config.notices()[0].find("config.yaml:1"), std::string::npos);
}

}  // namespace
}  // namespace heron::settings
