#include "heron/settings/topology_settings.h"

#include <gtest/gtest.h>

#include "heron/settings/keys.h"

namespace heron::settings {
namespace {

using Config = std::map<std::string, std::string>;

std::string Problem(const Config& config) {
  Result<TopologySettings> settings = ParseTopologySettings(config);
  EXPECT_FALSE(settings.ok());
  EXPECT_EQ(settings.status().code(), StatusCode::kInvalidArgument);
  return settings.status().message();
}

TEST(TopologySettings, NothingSetGivesTheTablesDefaults) {
  TopologySettings plain = *ParseTopologySettings(Config{});
  Config all;
  for (const Key& key : Keys()) {
    if (key.scope == KeyScope::kTopology) all[std::string(key.name)] = key.default_value;
  }
  TopologySettings table = *ParseTopologySettings(all);
  EXPECT_EQ(plain.containers, table.containers);
  EXPECT_EQ(plain.tuple_max_bytes, table.tuple_max_bytes);
  EXPECT_EQ(plain.task_max_restarts, table.task_max_restarts);
  EXPECT_EQ(plain.batch_max_bytes, table.batch_max_bytes);
  EXPECT_EQ(plain.batch_max_age_us, table.batch_max_age_us);
  EXPECT_EQ(plain.queue_high_bytes, table.queue_high_bytes);
  EXPECT_EQ(plain.destination_grace_ms, table.destination_grace_ms);
  EXPECT_EQ(plain.reliability_mode, table.reliability_mode);
  EXPECT_EQ(plain.heartbeat_interval_ms, table.heartbeat_interval_ms);
  EXPECT_EQ(plain.heartbeat_timeout_ms, table.heartbeat_timeout_ms);
  EXPECT_EQ(plain.lease_ms, table.lease_ms);
  EXPECT_TRUE(plain.notices.empty());
}

TEST(TopologySettings, EveryKeyHasAnEffect) {
  TopologySettings s = *ParseTopologySettings(Config{{"topology.containers", "7"},
                                                     {"topology.tuple.max.bytes", "64 MiB"},
                                                     {"topology.task.max.restarts", "0"},
                                                     {"topology.batch.max.bytes", "1"},
                                                     {"topology.batch.max.age.us", "0"},
                                                     {"topology.queue.high.bytes", "1 MiB"},
                                                     {"topology.destination.grace.ms", "1 s"},
                                                     {"topology.reliability.mode", "atmost_once"},
                                                     {"topology.heartbeat.interval.ms", "100"},
                                                     {"topology.heartbeat.timeout.ms", "201"},
                                                     {"topology.master.lease.ms", "2 s"},
                                                     {"my.own", "free"},
                                                     {"", "free too"}});
  EXPECT_EQ(s.containers, 7);
  EXPECT_EQ(s.tuple_max_bytes, 64 << 20);
  EXPECT_EQ(s.task_max_restarts, 0);
  EXPECT_EQ(s.batch_max_bytes, 1);
  EXPECT_EQ(s.batch_max_age_us, 0);
  EXPECT_EQ(s.queue_high_bytes, 1 << 20);
  EXPECT_EQ(s.queue_low_bytes(), 1 << 18);
  EXPECT_EQ(s.destination_grace(), std::chrono::seconds(1));
  EXPECT_EQ(s.heartbeat_interval(), std::chrono::milliseconds(100));
  EXPECT_EQ(s.heartbeat_timeout(), std::chrono::milliseconds(201));
  EXPECT_EQ(s.lease(), std::chrono::seconds(2));
}

TEST(TopologySettings, AllProblemsAtOnce) {
  std::string message = Problem({{"topology.contaners", "2"},
                                 {"topology.queue.high.bytes", "x"},
                                 {"topology.tuple.max.bytes", "65 MiB"},
                                 {"heron.state.url", "file:/x"}});
  EXPECT_TRUE(message.starts_with("4 problems in the configuration:")) << message;
  EXPECT_NE(message.find("did you mean \"topology.containers\"?"), std::string::npos);
  EXPECT_NE(message.find("topology.queue.high.bytes is \"x\""), std::string::npos);
  EXPECT_NE(message.find("topology.tuple.max.bytes is \"65 MiB\""), std::string::npos);
  EXPECT_NE(message.find("heron.state.url belongs to the cluster"), std::string::npos);
}

TEST(TopologySettings, AComponentSetsKeysOfItsOwnOnly) {
  EXPECT_TRUE(ComponentConfigProblems({{"my.key", "1"}, {"cluster", "mine"}}).empty());
  const auto problems = ComponentConfigProblems({{"topology.containers", "2"},
                                                 {"topology.contaners", "2"},
                                                 {"topology.tick.tuple.freq.secs", "1"}});
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0],
            "topology.containers holds for the whole topology; set it on the TopologyBuilder or "
            "with --config");
  EXPECT_EQ(problems[1],
            "unknown key \"topology.contaners\"; did you mean \"topology.containers\"?");
  EXPECT_EQ(problems[2],
            "unknown key \"topology.tick.tuple.freq.secs\"; a bolt gets ticks with .Tick(1s) where "
            "it is added to the topology");
}

TEST(TopologySettings, EffectivelyOnceIsRefusedForNow) {
  for (std::string mode : {"EFFECTIVELY_ONCE", "effectively_once"}) {
    std::string message = Problem({{"topology.reliability.mode", mode}});
    EXPECT_NE(message.find("this version does not have it"), std::string::npos) << message;
  }
}

TEST(TopologySettings, AtLeastOnceWithItsSettings) {
  EXPECT_FALSE(TopologySettings().acking());
  TopologySettings s = *ParseTopologySettings(Config{{"topology.reliability.mode", "atleast_once"}});
  EXPECT_TRUE(s.acking());
  EXPECT_EQ(s.max_spout_pending, 0);
  EXPECT_EQ(s.message_timeout(), std::chrono::seconds(30));
  s = *ParseTopologySettings(Config{{"topology.max.spout.pending", "auto"}, {"topology.message.timeout.ms", "5 s"}});
  EXPECT_EQ(s.max_spout_pending, 0);
  EXPECT_EQ(s.message_timeout(), std::chrono::seconds(5));
  s = *ParseTopologySettings(Config{{"topology.max.spout.pending", "17"}, {"topology.message.timeout.secs", "7"}});
  EXPECT_EQ(s.max_spout_pending, 17);
  EXPECT_EQ(s.message_timeout(), std::chrono::seconds(7));
  const std::string message = Problem({{"topology.max.spout.pending", "0"}});
  EXPECT_NE(message.find("it must be auto or a whole number from 1"), std::string::npos) << message;
}

TEST(TopologySettings, AContradictionNamesBothKeys) {
  std::string message = Problem({{"topology.heartbeat.interval.ms", "2000"}});
  EXPECT_NE(message.find("topology.heartbeat.timeout.ms (3000)"), std::string::npos) << message;
  EXPECT_NE(message.find("topology.heartbeat.interval.ms (2000)"), std::string::npos) << message;
  EXPECT_FALSE(ParseTopologySettings(Config{{"topology.heartbeat.timeout.ms", "1000"}}).ok());
  EXPECT_TRUE(ParseTopologySettings(Config{{"topology.heartbeat.timeout.ms", "1001"}}).ok());
}

TEST(TopologySettings, OldNamesAreReadWithANotice) {
  TopologySettings s = *ParseTopologySettings(Config{{"topology.stmgrs", "3"}});
  EXPECT_EQ(s.containers, 3);
  ASSERT_EQ(s.notices.size(), 1u);
  EXPECT_NE(s.notices[0].find("topology.stmgrs is read as topology.containers=3"),
            std::string::npos);
  EXPECT_EQ(ParseTopologySettings(Config{{"topology.stmgrs", "3"}, {"topology.containers", "4"}})
                ->containers,
            4);
  EXPECT_NE(Problem({{"topology.stmgrs", "10 s"}}).find("whole number"), std::string::npos);
  EXPECT_NE(Problem({{"topology.stmgrs", "99999999999999999"}}).find("10000"), std::string::npos);
}

}  // namespace
}  // namespace heron::settings
