#include "heron/settings/process_settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "heron/settings/keys.h"
#include "heron/settings/topology_settings.h"

namespace heron::settings {
namespace {

TEST(ProcessSettings, WhatIsFormattedIsParsed) {
  auto text = FormatProcessSettings({{"topology.heartbeat.interval.ms", "1 s"},
                                     {"topology.heartbeat.timeout.ms", "1 min"},
                                     {"topology.master.lease.ms", "7000"},
                                     {"heron.log.max.bytes", "1 MiB"},
                                     {"heron.log.max.files", "3"},
                                     {"topology.containers", "3"},
                                     {"my.own", "x"}});
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  auto settings = ParseProcessSettings(*text);
  ASSERT_TRUE(settings.ok()) << settings.status().ToString();
  EXPECT_EQ(settings->heartbeat_interval(), std::chrono::seconds(1));
  EXPECT_EQ(settings->heartbeat_timeout(), std::chrono::minutes(1));
  EXPECT_EQ(settings->lease(), std::chrono::seconds(7));
  EXPECT_EQ(settings->log_max_bytes, 1 << 20);
  EXPECT_EQ(settings->log_max_files, 3);
}

TEST(ProcessSettings, DefaultsAreThoseOfTheTable) {
  const TopologySettings topology;
  for (const std::string& text : {std::string(), *FormatProcessSettings({})}) {
    auto settings = ParseProcessSettings(text);
    ASSERT_TRUE(settings.ok());
    EXPECT_EQ(settings->heartbeat_interval_ms, topology.heartbeat_interval_ms);
    EXPECT_EQ(settings->heartbeat_timeout_ms, topology.heartbeat_timeout_ms);
    EXPECT_EQ(settings->lease_ms, topology.lease_ms);
    EXPECT_EQ(std::to_string(settings->log_max_bytes),
              FindKey("heron.log.max.bytes")->default_value);
    EXPECT_EQ(std::to_string(settings->log_max_files),
              FindKey("heron.log.max.files")->default_value);
  }
}

TEST(ProcessSettings, AnotherVersionsKeysAreSkippedBadOnesNamed) {
  EXPECT_EQ(ParseProcessSettings("topology.new.key=1,topology.master.lease.ms=200")->lease_ms, 200);
  EXPECT_NE(ParseProcessSettings("topology.master.lease.ms=x").status().message().find("lease.ms"),
            std::string::npos);
  EXPECT_FALSE(ParseProcessSettings("nonsense").ok());
  EXPECT_FALSE(FormatProcessSettings({{"topology.master.lease.ms", "1"}}).ok());
}

TEST(ProcessSettings, OfTheEnvironment) {
  setenv(kProcessSettingsVariable, "topology.master.lease.ms=300", 1);
  EXPECT_EQ(OwnProcessSettings()->lease_ms, 300);
  unsetenv(kProcessSettingsVariable);
  EXPECT_EQ(OwnProcessSettings()->lease_ms, 1000);
}

}  // namespace
}  // namespace heron::settings
