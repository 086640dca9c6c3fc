// At-least-once by real processes: nothing is missing at the end, whatever dies on the way.
//
// HERON_TEST_ROUNDS sets how many disturbed runs are made, HERON_TEST_SEED the first one's seed.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

int64_t FromEnvironment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

class ReliableTest : public ::testing::Test {
 protected:
  CommandResult Submit(RealCluster& cluster, const std::string& wait, int64_t ids, int64_t pause_us,
                       const std::vector<std::string>& config = {}, const std::string& mode = "") {
    folder_ = cluster.folder() + "/out";
    std::filesystem::create_directory(folder_);
    std::vector<std::string> words = {"submit", "local", cluster.Program("tests/integration/reliable"), "t", wait,
                                      "--containers", "2"};
    for (const std::string& setting : config) words.insert(words.end(), {"--config", setting});
    words.insert(words.end(), {"--", std::to_string(ids), std::to_string(pause_us), folder_});
    if (!mode.empty()) words.push_back(mode);
    return cluster.Heron(words, seconds(120));
  }
  // How often each (id, part) arrived.
  std::map<std::pair<int64_t, int64_t>, int> Seen() const {
    std::map<std::pair<int64_t, int64_t>, int> seen;
    for (int index : {0, 1}) {
      std::ifstream in(folder_ + "/seen-" + std::to_string(index));
      for (int64_t id = 0, part = 0; in >> id >> part;) ++seen[{id, part}];
    }
    return seen;
  }
  // What the spouts counted.
  std::pair<int64_t, int64_t> AckedAndFailed() const {
    std::pair<int64_t, int64_t> sum;
    for (int index : {0, 1}) {
      std::ifstream in(folder_ + "/numbers-" + std::to_string(index));
      int64_t acked = 0, failed = 0;
      in >> acked >> failed;
      sum.first += acked;
      sum.second += failed;
    }
    return sum;
  }

  std::string folder_;
};

TEST_F(ReliableTest, UndisturbedEachArrivesOnceAndIsAcked) {
  RealCluster cluster;
  const CommandResult r = Submit(cluster, "--wait=finished", 50'000, 0);
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster.Logs("t");
  EXPECT_EQ((r.out + r.err).find("incomplete"), std::string::npos) << r.out << r.err;
  const auto seen = Seen();
  EXPECT_EQ(seen.size(), 100'000u);
  for (const auto& [tuple, times] : seen) ASSERT_EQ(times, 1) << tuple.first;
  EXPECT_EQ(AckedAndFailed(), std::make_pair(int64_t{50'000}, int64_t{0}));
}

TEST_F(ReliableTest, WhatBoltsFailAndHoldIsEmittedAgainAndEnds) {
  RealCluster cluster;
  const CommandResult r = Submit(cluster, "--wait=finished", 5'000, 0, {}, "fail");
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster.Logs("t");
  EXPECT_EQ(Seen().size(), 10'000u);
  const auto [acked, failed] = AckedAndFailed();
  EXPECT_EQ(acked, 5'000);
  EXPECT_GE(failed, 50) << "each hundredth, by split and by seen";
}

TEST_F(ReliableTest, ASmallFixedWindow) {
  RealCluster cluster;
  const CommandResult r = Submit(cluster, "--wait=finished", 2'000, 0, {"topology.max.spout.pending=3"});
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster.Logs("t");
  EXPECT_EQ(AckedAndFailed(), std::make_pair(int64_t{2'000}, int64_t{0}));
}

TEST_F(ReliableTest, WithRandomKillsEverythingArrives) {
  const int64_t rounds = FromEnvironment("HERON_TEST_ROUNDS", 3);
  const int64_t first_seed = FromEnvironment("HERON_TEST_SEED", 1);
  for (int64_t seed = first_seed; seed < first_seed + rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    RealCluster cluster;
    const int64_t ids = 4'000;
    const CommandResult r = Submit(cluster, "--wait=running", ids, 500);
    ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster.Logs("t");
    std::string killed;
    for (uint64_t kills = 1 + random() % 3; kills > 0; --kills) {
      // When the blow falls is what is random here; nothing is waited for.
      std::this_thread::sleep_for(milliseconds(random() % 500));
      std::vector<LiveProcess> victims;
      for (const char* kind : {"--heron-instance", "heron-stream-manager", "heron-topology-master"}) {
        for (const LiveProcess& process : cluster.Processes(kind)) victims.push_back(process);
      }
      if (victims.empty()) break;
      const LiveProcess& victim = victims[random() % victims.size()];
      kill(victim.pid, SIGKILL);
      killed += victim.command_line.substr(0, 200) + "\n";
    }
    // The timeout of messages is 30 s: a loss that is known does not wait for it.
    const auto start = std::chrono::steady_clock::now();
    const CommandResult end = cluster.Heron({"wait", "t", "--for", "finished", "--timeout", "60s"}, seconds(90));
    const auto took = std::chrono::steady_clock::now() - start;
    ASSERT_EQ(end.exit_code, 0) << killed << end.out << end.err << cluster.Logs("t");
    EXPECT_LT(took, seconds(25)) << killed << cluster.Logs("t");
    const auto seen = Seen();
    size_t missing = 0;
    for (int64_t id = 0; id < ids; ++id) missing += !seen.contains({id, 0}) || !seen.contains({id, 1});
    EXPECT_EQ(missing, 0u) << killed << cluster.Logs("t");
    EXPECT_TRUE(Eventually(seconds(5), [&] { return cluster.Processes().empty(); })) << killed;
  }
  std::cout << rounds << " runs\n";
}

}  // namespace
}  // namespace heron::testing
