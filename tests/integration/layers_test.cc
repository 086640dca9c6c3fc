// Every grouping against a model: two sources, three layers, parallelism 5-3-7, three containers; undisturbed, and with random kills.
//
// HERON_TEST_ROUNDS sets how many disturbed runs are made, HERON_TEST_SEED the first one's seed.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/layers_model.h"
#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::vector<std::string> kGroupings = {"shuffle", "fields", "all",    "global", "local-or-shuffle",
                                             "partial-key", "none", "direct", "custom"};

int64_t FromEnvironment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

struct LayersRun {
  RealCluster& cluster;
  std::string name;
  std::string grouping;
  int64_t fast = 0, slow = 0;
  int64_t pause_us = 0;
  std::string folder;

  LayersRun(RealCluster& c, std::string n, std::string g, int64_t f, int64_t s, int64_t pause)
      : cluster(c), name(std::move(n)), grouping(std::move(g)), fast(f), slow(s), pause_us(pause) {
    folder = cluster.folder() + "/" + name;
    std::filesystem::create_directory(folder);
  }

  CommandResult Submit(const std::string& wait) {
    return cluster.Heron({"submit", "local", cluster.Program("tests/integration/layers"), name, wait,
                          "--containers", "3", "--", grouping, std::to_string(fast),
                          std::to_string(slow), std::to_string(pause_us), folder},
                         seconds(120));
  }

  std::vector<int64_t> IdsOf(int64_t first, int64_t count, int64_t index, int64_t of) const {
    std::vector<int64_t> ids;
    for (int64_t i = count * index / of; i < count * (index + 1) / of; ++i) ids.push_back(first + i);
    return ids;
  }

  // Empty if all that the grouping promises holds: of everything when `complete`, else of what is there.
  std::string Check(bool complete) const {
    std::vector<Emitted> sources, middle_emits;
    std::string missing;
    auto emitter = [&](const std::string& component, int64_t index, std::vector<int64_t> ids) {
      auto rows = Read(folder, component, index);
      if (!rows) {
        missing += "no file of " + component + "[" + std::to_string(index) + "]\n";
        return;
      }
      sources.push_back({rows->task, rows->container, std::move(ids)});
    };
    for (int64_t i = 0; i < 5; ++i) emitter("fast", i, IdsOf(0, fast, i, 5));
    emitter("slow", 0, IdsOf(fast, slow, 0, 1));
    auto readers = [&](const std::string& component, int64_t count) {
      std::vector<TaskRows> all;
      for (int64_t i = 0; i < count; ++i) {
        auto rows = Read(folder, component, i);
        if (!rows) missing += "no file of " + component + "[" + std::to_string(i) + "]\n";
        all.push_back(rows.value_or(TaskRows()));
      }
      return all;
    };
    const std::vector<TaskRows> middle = readers("middle", 3), last = readers("last", 7);
    // Without its file (its Finish was lost) a task's container is not known.
    if (!missing.empty()) return complete ? missing : "";
    for (const TaskRows& rows : middle) {
      Emitted emits{rows.task, rows.container, {}};
      for (const Row& row : rows.rows) emits.ids.push_back(row.id);
      middle_emits.push_back(std::move(emits));
    }
    std::string problems =
        WrongPlaces(grouping, sources, middle) + WrongPlaces(grouping, middle_emits, last);
    if (complete) {
      problems += WrongCounts(grouping, sources, middle) + WrongCounts(grouping, middle_emits, last);
    }
    return problems;
  }
};

class LayersTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LayersTest, UndisturbedItIsExact) {
  RealCluster cluster;
  LayersRun run(cluster, "t", GetParam(), FromEnvironment("HERON_TEST_TUPLES", 100'000), 30, 2'000);
  const CommandResult r = run.Submit("--wait=finished");
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster.Logs("t");
  EXPECT_EQ((r.out + r.err).find("incomplete"), std::string::npos) << r.out << r.err;
  EXPECT_EQ(run.Check(true), "");
}

INSTANTIATE_TEST_SUITE_P(Groupings, LayersTest, ::testing::ValuesIn(kGroupings), [](const auto& param) {
  std::string name = param.param;
  std::erase(name, '-');
  return name;
});

TEST(LayersUnderKillsTest, WithRandomKillsTheAnswerIsRightOrTheLossNamed) {
  const int64_t rounds = FromEnvironment("HERON_TEST_ROUNDS", 2);
  const int64_t first_seed = FromEnvironment("HERON_TEST_SEED", 1);
  int64_t right = 0, named = 0;
  for (int64_t seed = first_seed; seed < first_seed + rounds; ++seed) {
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    RealCluster cluster;
    const std::string& grouping = kGroupings[static_cast<size_t>(seed) % kGroupings.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + grouping);
    LayersRun run(cluster, "t", grouping, 2'000, 200, 5'000);
    const CommandResult r = run.Submit("--wait=running");
    ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster.Logs("t");
    std::string killed;
    for (uint64_t kills = 1 + random() % 3; kills > 0; --kills) {
      // When the blow falls is what is random here; nothing is waited for.
      std::this_thread::sleep_for(milliseconds(random() % 700));
      std::vector<LiveProcess> victims;
      for (const char* kind : {"--heron-instance", "heron-stream-manager", "heron-topology-master"}) {
        for (const LiveProcess& process : cluster.Processes(kind)) victims.push_back(process);
      }
      if (victims.empty()) break;
      const LiveProcess& victim = victims[random() % victims.size()];
      kill(victim.pid, SIGKILL);
      killed += victim.command_line.substr(0, 200) + "\n";
    }
    const CommandResult end = cluster.Heron({"wait", "t", "--for", "finished", "--timeout", "60s"}, seconds(90));
    ASSERT_EQ(end.exit_code, 0) << killed << end.out << end.err << cluster.Logs("t");
    const bool complete = (end.out + end.err).find("incomplete") == std::string::npos;
    ++(complete ? right : named);
    const std::string problems = run.Check(complete);
    if (!problems.empty()) {
      ADD_FAILURE() << (complete ? "called complete, but\n" : "") << problems << killed << end.out << end.err
                    << cluster.Logs("t");
    }
    EXPECT_TRUE(Eventually(seconds(5), [&] { return cluster.Processes().empty(); })) << killed;
  }
  std::cout << rounds << " runs, " << right << " right, " << named << " with the loss named\n";
}

}  // namespace
}  // namespace heron::testing
