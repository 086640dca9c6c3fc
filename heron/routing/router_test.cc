#include "heron/routing/router.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "heron/routing/key_groups.h"
#include "heron/routing/key_hash.h"

namespace heron::routing {
namespace {

using model::FieldView;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// source (tasks 1, 2) feeds: words (3..6), all (7, 8), global (10, 9: the task with index 0 is not
// the lowest), and by a stream of its own pairs (11..13).
constexpr char kTopology[] = R"pb(
  components {
    name: "source"
    kind: SPOUT
    parallelism: 2
    outputs {
      name: "default"
      fields { name: "n" }
      fields { name: "word" }
    }
    outputs {
      name: "pairs"
      fields { name: "a" }
      fields { name: "b" }
      fields { name: "c" }
    }
    outputs { name: "unread" }
  }
  components {
    name: "words"
    kind: BOLT
    parallelism: 4
    inputs { component: "source" stream: "default" grouping: FIELDS fields: "word" }
  }
  components {
    name: "all"
    kind: BOLT
    parallelism: 2
    inputs { component: "source" stream: "default" grouping: ALL }
  }
  components {
    name: "global"
    kind: BOLT
    parallelism: 2
    inputs { component: "source" stream: "default" grouping: GLOBAL }
  }
  components {
    name: "pairs"
    kind: BOLT
    parallelism: 3
    inputs { component: "source" stream: "pairs" grouping: FIELDS fields: "c" fields: "a" }
  }
  components {
    name: "turns"
    kind: BOLT
    parallelism: 3
    inputs { component: "source" stream: "pairs" grouping: SHUFFLE }
  }
)pb";

proto::Topology Topology() {
  proto::Topology topology;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kTopology, &topology));
  return topology;
}

std::shared_ptr<const model::TaskLayout> Layout(const proto::Topology& topology) {
  proto::PackingPlan plan;
  proto::PlannedContainer* container = plan.add_containers();
  container->set_container(1);
  int32_t id = 0;
  for (const proto::Component& component : topology.components()) {
    for (uint32_t i = 0; i < component.parallelism(); ++i) {
      proto::PlannedTask* task = container->add_tasks();
      task->set_task(++id);
      task->set_component(component.name());
      bool turned = component.name() == "global";
      task->set_component_index(static_cast<int32_t>(turned ? component.parallelism() - 1 - i : i));
    }
  }
  auto layout = model::TaskLayout::Make(topology, plan.containers());
  EXPECT_TRUE(layout.ok()) << layout.status().ToString();
  return *layout;
}

std::unique_ptr<StreamRouter> Router(uint64_t seed = 0,
                                     const StreamRouter::KeyGroups& key_groups = {}) {
  auto router = StreamRouter::Make({Layout(Topology()), 0, 1, seed}, key_groups);
  EXPECT_TRUE(router.ok()) << router.status().ToString();
  return std::move(*router);
}

std::vector<TaskId> Route(StreamRouter& router, uint32_t stream,
                          std::initializer_list<FieldView> values) {
  std::vector<TaskId> tasks;
  EXPECT_EQ(router.Route(stream, {values.begin(), values.size()}, tasks), RouteResult::kOk);
  return tasks;
}

TEST(RouterTest, EverySubscriberGetsTheTuple) {
  auto router = Router();
  std::vector<TaskId> tasks = Route(*router, 0, {FieldView::Int64(1), FieldView::String("the")});
  ASSERT_EQ(tasks.size(), 4u);
  EXPECT_GE(tasks[0], 3);
  EXPECT_LE(tasks[0], 6);
  EXPECT_EQ(tasks[1], 7);
  EXPECT_EQ(tasks[2], 8);
  EXPECT_EQ(tasks[3], 9) << "global: the lowest task id, whatever its index";
}

TEST(RouterTest, TheSameKeyGoesToTheSameTaskWhateverElseIsInTheTuple) {
  std::set<TaskId> used;
  auto one = Router(1), other = Router(2);
  for (int i = 0; i < 200; ++i) {
    std::string word = "word" + std::to_string(i);
    TaskId task = Route(*one, 0, {FieldView::Int64(i), FieldView::String(word)})[0];
    EXPECT_EQ(Route(*other, 0, {FieldView::Null(), FieldView::String(word)})[0], task);
    used.insert(task);
  }
  EXPECT_EQ(used.size(), 4u);
}

TEST(RouterTest, OwnersFollowTheKeyGroupsOfTheSubmit) {
  StreamRouter::KeyGroups key_groups;
  key_groups["words"] = 4096;
  auto router = Router(0, key_groups);
  auto by_default = Router();
  bool differ = false;
  for (int i = 0; i < 2000; ++i) {
    FieldView word = FieldView::Int64(i);
    uint64_t hash = HashValue(word);
    TaskId task = Route(*router, 0, {FieldView::Null(), word})[0];
    EXPECT_EQ(task, 3 + static_cast<TaskId>(OwnerOf(KeyGroupOf(hash, 4096), 4096, 4)));
    TaskId task_by_default = Route(*by_default, 0, {FieldView::Null(), word})[0];
    EXPECT_EQ(task_by_default, 3 + static_cast<TaskId>(OwnerOf(KeyGroupOf(hash, 128), 128, 4)));
    differ = differ || task != task_by_default;
  }
  EXPECT_FALSE(differ) << "four tasks divide both numbers evenly: the same boundaries";
}

TEST(RouterTest, KeysOfSeveralFieldsCountInTheOrderOfTheGrouping) {
  auto router = Router();
  for (int i = 0; i < 50; ++i) {
    FieldView a = FieldView::Int64(i), c = FieldView::Int64(i * 3);
    FieldView key[] = {c, a};
    uint64_t hash = HashKey(key, std::vector<uint32_t>{0, 1});
    TaskId want = 11 + static_cast<TaskId>(OwnerOf(KeyGroupOf(hash, 128), 128, 3));
    EXPECT_EQ(Route(*router, 1, {a, FieldView::Null(), c})[0], want);
  }
}

TEST(RouterTest, ShuffleIsEvenAndStartsAnywhere) {
  std::set<TaskId> starts;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    auto router = Router(seed);
    std::map<TaskId, int> counts;
    for (int i = 0; i < 300; ++i) {
      TaskId task = Route(*router, 1, {FieldView(), FieldView(), FieldView()})[1];
      if (i == 0) starts.insert(task);
      ++counts[task];
    }
    EXPECT_THAT(counts, ElementsAre(std::pair(14, 100), std::pair(15, 100), std::pair(16, 100)));
  }
  EXPECT_EQ(starts.size(), 3u);
}

TEST(RouterTest, AShortTupleIsRefusedAndGoesNowhere) {
  auto router = Router();
  std::vector<TaskId> tasks;
  FieldView values[] = {FieldView::Int64(1), FieldView::Int64(2)};
  EXPECT_EQ(router->Route(0, std::span(values).first(1), tasks), RouteResult::kShortTuple);
  EXPECT_EQ(router->Route(1, values, tasks), RouteResult::kShortTuple);
  EXPECT_THAT(tasks, IsEmpty());
}

TEST(RouterTest, StreamsNobodyReadsAndStreamsThatDoNotExist) {
  auto router = Router();
  std::vector<TaskId> tasks;
  EXPECT_EQ(router->Route(2, {}, tasks), RouteResult::kOk);
  EXPECT_EQ(router->Route(3, {}, tasks), RouteResult::kUnknownStream);
  EXPECT_THAT(tasks, IsEmpty());
  EXPECT_EQ(router->stream_count(), 3u);
}

TEST(RouterTest, DestinationsAreAllTasksOfAllSubscribers) {
  EXPECT_THAT(Router()->Destinations(),
              ElementsAre(3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
  auto sink = StreamRouter::Make({Layout(Topology()), 1, 1, 0}, {});
  ASSERT_TRUE(sink.ok());
  EXPECT_THAT((*sink)->Destinations(), IsEmpty());
}

TEST(RouterTest, WhatCannotBeRoutedIsRefusedByName) {
  auto error_after = [](auto change) {
    proto::Topology topology = Topology();
    change(*topology.mutable_components(1)->mutable_inputs(0));
    auto router = StreamRouter::Make({Layout(topology), 0, 1, 0}, {});
    return router.ok() ? "none" : router.status().message();
  };
  EXPECT_THAT(
      error_after([](auto& input) { input.set_grouping(static_cast<proto::GroupingKind>(57)); }),
      ::testing::AllOf(HasSubstr("'words'"), HasSubstr("'source'"), HasSubstr("unknown (57)")));
  EXPECT_THAT(error_after([](auto& input) { input.set_fields(0, "wrd"); }), HasSubstr("'wrd'"));
  EXPECT_THAT(error_after([](auto& input) { input.clear_fields(); }), HasSubstr("at least one"));
  EXPECT_THAT(error_after([](auto& input) { input.set_stream("x"); }), HasSubstr("no such stream"));
  StreamRouter::KeyGroups none;
  none["words"] = 0;
  EXPECT_FALSE(StreamRouter::Make({Layout(Topology()), 0, 1, 0}, none).ok());
  EXPECT_FALSE(StreamRouter::Make({Layout(Topology()), 6, 1, 0}, {}).ok());
}

}  // namespace
}  // namespace heron::routing
