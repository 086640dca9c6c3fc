// examples/groupings by real processes: every grouping end to end, over two containers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

struct Rows {
  std::vector<int64_t> tuples;  // by task
  std::vector<int64_t> near;
  int64_t Sum() const { return std::accumulate(tuples.begin(), tuples.end(), int64_t{0}); }
};

// "bolt NAME task N tuples N of-own-container N".
std::map<std::string, Rows> Parse(const std::string& log) {
  std::map<std::string, Rows> bolts;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("bolt ");
    if (at == std::string::npos) continue;
    std::istringstream row(line.substr(at));
    std::string word, name;
    int64_t task = 0, tuples = 0, near = 0;
    if (!(row >> word >> name >> word >> task >> word >> tuples >> word >> near)) continue;
    bolts[name].tuples.push_back(tuples);
    bolts[name].near.push_back(near);
  }
  return bolts;
}

TEST(GroupingsTest, EveryGroupingDeliversWhatItPromises) {
  RealCluster cluster;
  constexpr int64_t kEach = 20'000, kAll = 2 * kEach;
  auto r = cluster.Heron({"submit", "local", cluster.Program("examples/groupings/groupings"), "g",
                          "--wait=finished", "--containers", "2", "--", std::to_string(kEach)},
                         std::chrono::seconds(150));
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster.Logs("g");
  EXPECT_EQ(r.out.find("incomplete"), std::string::npos) << r.out;
  auto logs = cluster.Heron({"logs", "g", "report"});
  std::map<std::string, Rows> bolts = Parse(logs.out);
  ASSERT_EQ(bolts.size(), 7u) << logs.out << logs.err;
  for (const auto& [name, rows] : bolts) EXPECT_EQ(rows.Sum(), kAll) << name;

  for (const char* even : {"shuffle", "none"}) {
    for (int64_t tuples : bolts[even].tuples) EXPECT_NEAR(tuples, kAll / 2, kAll / 100) << even;
  }
  EXPECT_EQ(bolts["local"].tuples, bolts["local"].near) << "nothing leaves its container";
  EXPECT_EQ(bolts["direct"].tuples, (std::vector<int64_t>{kAll / 4 * 3, kAll / 4}));
  EXPECT_EQ(bolts["custom"].tuples, (std::vector<int64_t>{kAll / 2, kAll / 4, kAll / 4}));
  // Half of the tuples have the hot key: one task has all of them by fields, two share them by
  // partial key, so that the three are even.
  const std::vector<int64_t>& fields = bolts["fields"].tuples;
  EXPECT_GE(*std::max_element(fields.begin(), fields.end()), kAll / 2);
  for (int64_t tuples : bolts["partial"].tuples) EXPECT_NEAR(tuples, kAll / 3, kAll / 10);
}

// Queues are kept so short that the loop would stand still if its last edge held anybody back.
TEST(GroupingsTest, ALoopUnderBackPressureGoesOnAndLosesNothing) {
  RealCluster cluster;
  constexpr int64_t kTuples = 100'000, kHops = 10;
  auto r =
      cluster.Heron({"submit", "local", cluster.Program("tests/integration/probe"), "loop",
                     "--containers", "2", "--config", "topology.queue.high.bytes=65536", "--",
                     "loop", "tuples=" + std::to_string(kTuples), "hops=" + std::to_string(kHops)});
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_TRUE(Eventually(std::chrono::seconds(45),
                         [&] { return cluster.ExecutedTuples("loop") == 2 * kHops * kTuples; }))
      << cluster.ExecutedTuples("loop") << " executed\n"
      << cluster.Heron({"topologies", "loop"}).out;
}

}  // namespace
}  // namespace heron::testing
