#include "tools/cli/config_show.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heron/settings/keys.h"
#include "tools/cli/fake_cluster.h"

namespace tools::cli {
namespace {

using heron::settings::ClusterConfig;

class ConfigShowTest : public testing::Test {
 protected:
  ClusterConfig Load() {
    std::filesystem::create_directories(cluster_.folder + "/clusters/local");
    std::ofstream(cluster_.folder + "/clusters/local/cluster.yaml")
        << "# a cluster\ntopology.queue.high.bytes: 8 MiB\ntopology.containers: 2\n";
    std::ofstream(cluster_.folder + "/config.yaml") << "topology.containers: 3\n";
    heron::settings::ClusterConfigInputs inputs;
    inputs.config_folder = cluster_.folder + "/clusters";
    inputs.user_file = cluster_.folder + "/config.yaml";
    inputs.environment = [](const std::string& name) -> std::optional<std::string> {
      if (name == "HERON_ROOT") return "/r";
      if (name == "HOME") return "/h";
      return std::nullopt;
    };
    auto config = ClusterConfig::Load(inputs);
    EXPECT_TRUE(config.ok()) << config.status().ToString();
    return *std::move(config);
  }
  std::string Show(const std::string& key = "") {
    cluster_.out.str("");
    const heron::Status status = ConfigShowCommand(cluster_.cli, Load(), key);
    return status.ok() ? cluster_.out.str() : status.message();
  }
  FakeCluster cluster_;
};

// Of a line, without the padding.
std::string LineOf(const std::string& text, const std::string& key) {
  const size_t begin = text.find("\n" + key + " ");
  if (begin == std::string::npos) return "";
  std::string line;
  for (char c : text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1)) {
    if (c != ' ' || (!line.empty() && line.back() != ' ')) line += c;
  }
  return line;
}

TEST_F(ConfigShowTest, EveryKeyWithValueUnitAndPlace) {
  const std::string text = Show();
  EXPECT_TRUE(text.starts_with("KEY ")) << text;
  for (const auto& key : heron::settings::Keys()) {
    EXPECT_NE(LineOf(text, std::string(key.name)), "") << key.name;
  }
  EXPECT_EQ(LineOf(text, "topology.queue.high.bytes"), "topology.queue.high.bytes 8388608 bytes " +
                                                           cluster_.folder +
                                                           "/clusters/local/cluster.yaml:2");
  EXPECT_EQ(LineOf(text, "topology.containers"),
            "topology.containers 3 " + cluster_.folder + "/config.yaml:1");
  EXPECT_EQ(LineOf(text, "topology.destination.grace.ms"),
            "topology.destination.grace.ms 10000 ms built-in default");
  EXPECT_EQ(LineOf(text, "heron.root"), "heron.root /r the environment variable HERON_ROOT");
}

TEST_F(ConfigShowTest, OneKey) {
  const std::string text = Show("topology.containers");
  EXPECT_NE(LineOf(text, "topology.containers"), "");
  EXPECT_EQ(LineOf(text, "heron.root"), "");
  EXPECT_NE(Show("topology.contaners").find("did you mean \"topology.containers\"?"),
            std::string::npos);
  EXPECT_NE(Show("topology.stmgrs").find("read as topology.containers"), std::string::npos);
}

TEST_F(ConfigShowTest, Json) {
  cluster_.cli.json = true;
  const auto json = nlohmann::json::parse(Show("topology.containers"));
  EXPECT_EQ(json["cluster"], "local");
  ASSERT_EQ(json["keys"].size(), 1u);
  EXPECT_EQ(json["keys"][0], (nlohmann::json{{"key", "topology.containers"},
                                             {"value", "3"},
                                             {"unit", ""},
                                             {"type", "int"},
                                             {"scope", "topology"},
                                             {"source", "user file"},
                                             {"where", cluster_.folder + "/config.yaml:1"}}));
  EXPECT_EQ(nlohmann::json::parse(Show())["keys"].size(), heron::settings::Keys().size());
}

}  // namespace
}  // namespace tools::cli
