#include "scheduler/packing/round_robin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scheduler {
namespace {

using heron::StatusCode;
using heron::proto::PackingPlan;
using heron::proto::Topology;

Topology MakeTopology(const std::vector<uint32_t>& parallelism) {
  Topology topology;
  for (size_t i = 0; i < parallelism.size(); ++i) {
    heron::proto::Component* component = topology.add_components();
    component->set_name("c" + std::to_string(i));
    component->set_parallelism(parallelism[i]);
  }
  return topology;
}

// Everything the header promises, for any plan.
void ExpectGoodPlan(const Topology& topology, int containers, const PackingPlan& plan) {
  int total = 0;
  for (const auto& component : topology.components()) total += component.parallelism();
  ASSERT_EQ(plan.containers_size(), std::min(containers, total));

  std::map<int32_t, std::pair<std::string, int32_t>> by_task;
  std::map<std::string, std::vector<int>> spread;  // tasks of a component per container
  int smallest = total, largest = 0;
  for (int c = 0; c < plan.containers_size(); ++c) {
    EXPECT_EQ(plan.containers(c).container(), c + 1);
    smallest = std::min(smallest, plan.containers(c).tasks_size());
    largest = std::max(largest, plan.containers(c).tasks_size());
    for (const auto& task : plan.containers(c).tasks()) {
      EXPECT_TRUE(
          by_task.emplace(task.task(), std::pair(task.component(), task.component_index())).second)
          << "task " << task.task() << " is planned twice";
      auto& counts = spread[task.component()];
      counts.resize(plan.containers_size());
      ++counts[c];
    }
  }
  EXPECT_GE(smallest, 1);
  EXPECT_LE(largest - smallest, 1);
  for (const auto& [component, counts] : spread) {
    auto [low, high] = std::minmax_element(counts.begin(), counts.end());
    EXPECT_LE(*high - *low, 1) << component << " is not spread evenly";
  }

  int32_t id = 0;
  for (const auto& component : topology.components()) {
    for (uint32_t index = 0; index < component.parallelism(); ++index) {
      ++id;
      ASSERT_EQ(by_task.count(id), 1u);
      EXPECT_EQ(by_task[id], std::pair(component.name(), static_cast<int32_t>(index)));
    }
  }
  EXPECT_EQ(by_task.size(), static_cast<size_t>(id));
}

TEST(RoundRobin, DealsTasksInComponentOrder) {
  auto plan = PackRoundRobin(MakeTopology({2, 3}), 2);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->version(), 1u);
  std::vector<std::string> first, second;
  for (const auto& t : plan->containers(0).tasks()) {
    first.push_back(t.component() + std::to_string(t.component_index()));
  }
  for (const auto& t : plan->containers(1).tasks()) {
    second.push_back(t.component() + std::to_string(t.component_index()));
  }
  EXPECT_EQ(first, (std::vector<std::string>{"c00", "c10", "c12"}));
  EXPECT_EQ(second, (std::vector<std::string>{"c01", "c11"}));
}

TEST(RoundRobin, UsesNoMoreContainersThanTasks) {
  Topology topology = MakeTopology({1, 2});
  auto plan = PackRoundRobin(topology, 100);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->containers_size(), 3);
  ExpectGoodPlan(topology, 100, *plan);
}

TEST(RoundRobin, KeepsItsPromisesForRandomTopologies) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<uint32_t> parallelism(1 + random() % 8);
    for (uint32_t& p : parallelism) p = 1 + random() % 20;
    Topology topology = MakeTopology(parallelism);
    int containers = 1 + static_cast<int>(random() % 40);
    auto plan = PackRoundRobin(topology, containers);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    ExpectGoodPlan(topology, containers, *plan);
    auto again = PackRoundRobin(topology, containers);
    EXPECT_EQ(plan->SerializeAsString(), again->SerializeAsString());
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(RoundRobin, PacksTenThousandTasksInATenthOfASecondOfCpu) {
  Topology topology = MakeTopology({2500, 2500, 5000});
  std::clock_t begin = std::clock();
  auto plan = PackRoundRobin(topology, 333);
  double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(plan.ok());
  EXPECT_LT(seconds, 0.1);
  ExpectGoodPlan(topology, 333, *plan);
}

void ExpectRefused(const Topology& topology, int containers, const std::string& text) {
  auto plan = PackRoundRobin(topology, containers);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(plan.status().message().find(text), std::string::npos) << plan.status().message();
}

TEST(RoundRobin, SaysWhichNumberIsWrong) {
  ExpectRefused(MakeTopology({1}), 0, "0 containers");
  ExpectRefused(MakeTopology({1}), -3, "-3 containers");
  ExpectRefused(Topology(), 1, "0 components");
  ExpectRefused(MakeTopology({3, 0}), 1, "\"c1\" has parallelism 0");
  ExpectRefused(MakeTopology({4'000'000'000u, 4'000'000'000u}), 1, "8000000000 tasks");
  ExpectRefused(MakeTopology({100'000, 1}), 1, "the limit is 100000");
}

}  // namespace
}  // namespace scheduler
