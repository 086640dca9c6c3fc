// Every grouping against a model of it: many tuples, several parallelisms, several containers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "heron/routing/custom_grouping.h"
#include "heron/routing/key_groups.h"
#include "heron/routing/key_hash.h"
#include "heron/routing/partial_key.h"
#include "heron/routing/router.h"

namespace heron::routing {
namespace {

using model::FieldView;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kTuples = 100'000;

struct Reader {
  const char* name;
  proto::GroupingKind grouping;
};
constexpr Reader kReaders[] = {{"shuffle", proto::SHUFFLE},
                               {"none", proto::NONE},
                               {"local", proto::LOCAL_OR_SHUFFLE},
                               {"far", proto::LOCAL_OR_SHUFFLE},
                               {"fields", proto::FIELDS},
                               {"partial", proto::PARTIAL_KEY},
                               {"all", proto::ALL},
                               {"global", proto::GLOBAL},
                               {"direct", proto::DIRECT},
                               {"custom", proto::CUSTOM}};

// source (n, key) is read by the components above, each with `parallelism` tasks; its other streams
// by one component each.
proto::Topology Topology(uint32_t parallelism) {
  proto::Topology topology;
  proto::Component* source = topology.add_components();
  source->set_name("source");
  source->set_kind(proto::SPOUT);
  source->set_parallelism(2);
  for (const char* name : {"default", "second", "keys", "near"}) {
    proto::OutputStream* stream = source->add_outputs();
    stream->set_name(name);
    stream->add_fields()->set_name("n");
    stream->add_fields()->set_name("key");
  }
  auto add = [&](const char* name, const char* stream, proto::GroupingKind grouping) {
    proto::Component* component = topology.add_components();
    component->set_name(name);
    component->set_kind(proto::BOLT);
    component->set_parallelism(parallelism);
    proto::InputStream* input = component->add_inputs();
    input->set_component("source");
    input->set_stream(stream);
    input->set_grouping(grouping);
    if (grouping == proto::FIELDS || grouping == proto::PARTIAL_KEY) input->add_fields("key");
  };
  for (const Reader& reader : kReaders) add(reader.name, "default", reader.grouping);
  add("custom_too", "second", proto::CUSTOM);
  add("partial_alone", "keys", proto::PARTIAL_KEY);
  add("local_alone", "near", proto::LOCAL_OR_SHUFFLE);
  return topology;
}

// Tasks by turns in the containers 1 to 3, those of "far" in 2 and 3 only; ids run against the
// indices.
std::shared_ptr<const model::TaskLayout> Layout(uint32_t parallelism) {
  proto::Topology topology = Topology(parallelism);
  proto::PackingPlan plan;
  for (int c = 1; c <= 3; ++c) plan.add_containers()->set_container(c);
  int32_t id = 0;
  for (const proto::Component& component : topology.components()) {
    const int count = static_cast<int>(component.parallelism());
    for (int i = 0; i < count; ++i) {
      const int container = component.name() == "far" ? 1 + i % 2 : i % 3;
      proto::PlannedTask* task = plan.mutable_containers(container)->add_tasks();
      task->set_task(++id);
      task->set_component(component.name());
      task->set_component_index(count - 1 - i);
    }
  }
  auto layout = model::TaskLayout::Make(topology, plan.containers());
  EXPECT_TRUE(layout.ok()) << layout.status().ToString();
  return *layout;
}

// By the number in the tuple: one task; of every fifth tuple two; of every seventh none.
std::vector<size_t> CustomChoice(int64_t n, size_t tasks) {
  if (n % 7 == 0) return {};
  const size_t one = static_cast<size_t>(n) * 3 % tasks;
  if (n % 5 == 0) return {one, (one + 1) % tasks};
  return {one};
}

class ByNumber : public CustomGrouping {
 public:
  void Prepare(const CustomGroupingContext& context) override { context_ = context; }
  void Choose(std::span<const FieldView> values, std::vector<int32_t>& tasks) override {
    for (size_t index : CustomChoice(values[0].int64_value(), context_.tasks.size())) {
      tasks.push_back(context_.tasks[index]);
    }
  }

 private:
  CustomGroupingContext context_;
};

class GroupingsTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  GroupingsTest() {
    component_of_.resize(layout_->tasks().size() + 1);
    for (const model::TaskInfo& info : layout_->tasks()) {
      component_of_[static_cast<size_t>(info.task)] = static_cast<size_t>(info.component);
    }
  }

  std::unique_ptr<StreamRouter> Router(ContainerId container = 1, uint64_t seed = 0) {
    auto router = StreamRouter::Make({layout_, 0, container, seed}, {});
    EXPECT_TRUE(router.ok()) << router.status().ToString();
    EXPECT_TRUE((*router)
                    ->PrepareGroupings([](const std::string&, const std::string&) {
                      return std::make_unique<ByNumber>();
                    })
                    .ok());
    return std::move(*router);
  }
  // Routes one tuple; got_ has its tasks by component then.
  void Route(StreamRouter& router, int64_t n, const FieldView& key) {
    const FieldView values[] = {FieldView::Int64(n), key};
    routed_.clear();
    if (router.Route(0, values, routed_) != RouteResult::kOk) ADD_FAILURE() << n;
    for (auto& tasks : got_) tasks.clear();
    for (TaskId task : routed_) got_[component_of_[static_cast<size_t>(task)]].push_back(task);
  }
  // The one task that gets a tuple of a stream with one reader.
  TaskId RouteAlone(StreamRouter& router, uint32_t stream, const FieldView& key) {
    const FieldView values[] = {FieldView::Int64(0), key};
    routed_.clear();
    const bool routed = router.Route(stream, values, routed_) == RouteResult::kOk;
    if (!routed || routed_.size() != 1) ADD_FAILURE() << "to " << routed_.size() << " tasks";
    return routed_.empty() ? 0 : routed_[0];
  }
  TaskId Partial(StreamRouter& router, const FieldView& key) { return RouteAlone(router, 2, key); }
  size_t IndexOf(const std::string& component) const {
    return static_cast<size_t>(layout_->ComponentIndex(component));
  }
  std::string NameOf(TaskId task) const {
    return layout_->topology().components(layout_->Find(task)->component).name();
  }
  std::vector<TaskId> ByIndex(const std::string& component) const {
    return layout_->TasksByIndex(layout_->ComponentIndex(component));
  }
  const std::vector<TaskId>& ById(const std::string& component) const {
    return layout_->TasksOf(layout_->ComponentIndex(component));
  }
  // Within 1 % of the same for all of `tasks`, and nothing elsewhere.
  static void ExpectEven(const std::map<TaskId, int>& counts, size_t tasks) {
    ASSERT_EQ(counts.size(), tasks);
    const double even = static_cast<double>(kTuples) / static_cast<double>(tasks);
    for (const auto& [task, count] : counts) EXPECT_NEAR(count, even, even / 100) << task;
  }

  const size_t parallelism_ = GetParam();
  const std::shared_ptr<const model::TaskLayout> layout_ = Layout(GetParam());
  const size_t partial_ = IndexOf("partial");
  std::vector<size_t> component_of_;  // by task
  std::vector<TaskId> routed_;
  std::vector<std::vector<TaskId>> got_{IndexOf("local_alone") + 1};
};

TEST_P(GroupingsTest, EveryTupleIsAtExactlyTheRightTasks) {
  auto router = Router();
  const auto fields = ByIndex("fields"), partial = ByIndex("partial"), custom = ByIndex("custom");
  const uint32_t groups = DefaultKeyGroups(GetParam());
  std::vector<int> partial_sent(parallelism_);
  std::map<std::string, std::map<TaskId, int>> turns;
  std::vector<std::vector<TaskId>> want(got_.size());
  want[IndexOf("all")] = ByIndex("all");
  want[IndexOf("global")] = {ById("global").front()};
  const size_t fields_at = IndexOf("fields"), custom_at = IndexOf("custom");
  for (int n = 0; n < kTuples; ++n) {
    const FieldView key = FieldView::Int64(int64_t{n} * n % 997);
    const uint64_t hash = HashValue(key);
    Route(*router, n, key);
    for (const char* one : {"shuffle", "none", "local", "far"}) {
      const size_t at = IndexOf(one);
      ASSERT_EQ(got_[at].size(), 1u) << one;
      ++turns[one][got_[at][0]];
      want[at] = got_[at];  // which it is, is seen below
    }
    want[fields_at] = {fields[OwnerOf(KeyGroupOf(hash, groups), groups, GetParam())]};
    const TwoTasks two = TasksOfKey(hash, GetParam());
    const uint32_t less =
        partial_sent[two.second] < partial_sent[two.first] ? two.second : two.first;
    ++partial_sent[less];
    want[partial_] = {partial[less]};
    want[custom_at].clear();
    for (size_t i : CustomChoice(n, parallelism_)) want[custom_at].push_back(custom[i]);
    // What is not set above gets nothing: the direct reader and the reader of another stream.
    ASSERT_TRUE(got_ == want) << n;
  }
  ExpectEven(turns["shuffle"], parallelism_);
  ExpectEven(turns["none"], parallelism_);
  ExpectEven(turns["far"], parallelism_);  // no task in the emitter's container: a shuffle
}

TEST_P(GroupingsTest, LocalOrShuffleStaysInTheContainer) {
  for (ContainerId container : layout_->Containers()) {
    std::set<TaskId> here;
    for (TaskId task : ById("local_alone")) {
      if (layout_->Find(task)->container == container) here.insert(task);
    }
    ASSERT_FALSE(here.empty());
    auto router = Router(container, 7);
    std::map<TaskId, int> counts;
    for (int n = 0; n < kTuples; ++n) ++counts[RouteAlone(*router, 3, FieldView::Int64(n))];
    for (const auto& [task, count] : counts) EXPECT_TRUE(here.contains(task)) << task;
    ExpectEven(counts, here.size());
  }
}

TEST_P(GroupingsTest, AHotKeySpreadsOverExactlyTwoTasks) {
  auto router = Router();
  std::map<TaskId, int> counts;
  for (int n = 0; n < kTuples; ++n) ++counts[Partial(*router, FieldView::String("hot"))];
  ExpectEven(counts, 2);
}

TEST_P(GroupingsTest, AllEmittersSendAKeyToTheSameTwoTasks) {
  auto one = Router(1, 1), other = Router(3, 99);
  std::map<int64_t, std::set<TaskId>> tasks_of_key;
  for (int n = 0; n < kTuples / 2; ++n) {
    const int64_t key = n % 1000;
    tasks_of_key[key].insert(Partial(*one, FieldView::Int64(key)));
    Partial(*other, FieldView::Int64(-n));  // so that its counts differ
    tasks_of_key[key].insert(Partial(*other, FieldView::Int64(key)));
  }
  const auto tasks = ByIndex("partial_alone");
  int both = 0;
  for (const auto& [key, used] : tasks_of_key) {
    const TwoTasks two = TasksOfKey(HashValue(FieldView::Int64(key)), GetParam());
    for (TaskId task : used) {
      EXPECT_TRUE(task == tasks[two.first] || task == tasks[two.second]) << key;
    }
    if (used.size() == 2) ++both;
  }
  EXPECT_GT(both, 900) << "of 1000 keys";
}

TEST_P(GroupingsTest, PartialKeyIsEvenOverManyKeys) {
  auto router = Router();
  std::map<TaskId, int> counts;
  for (int n = 0; n < kTuples; ++n) ++counts[Partial(*router, FieldView::Int64(n))];
  ExpectEven(counts, parallelism_);
}

TEST_P(GroupingsTest, TheTwoTasksOfAKeyAreDifferentAndDoNotDependOnEachOther) {
  std::map<std::pair<uint32_t, uint32_t>, int> pairs;
  for (int n = 0; n < kTuples; ++n) {
    const TwoTasks two = TasksOfKey(HashValue(FieldView::Int64(n)), GetParam());
    ASSERT_LT(two.first, GetParam());
    ASSERT_LT(two.second, GetParam());
    ASSERT_NE(two.first, two.second);
    ++pairs[{two.first, two.second}];
  }
  const size_t possible = parallelism_ * (parallelism_ - 1);
  ASSERT_EQ(pairs.size(), possible) << "every pair, in both orders";
  const double even = static_cast<double>(kTuples) / static_cast<double>(possible);
  // Five standard deviations of a fair draw.
  for (const auto& [pair, count] : pairs) EXPECT_NEAR(count, even, 5 * std::sqrt(even));
}

TEST_P(GroupingsTest, ADirectTupleGoesToTheTaskItNamesAndNowhereElse) {
  auto router = Router();
  const std::vector<TaskId> direct = ById("direct");
  for (size_t n = 0; n < kTuples; ++n) {
    const TaskId task = direct[n % parallelism_];
    routed_.clear();
    ASSERT_EQ(router->RouteTo(0, task, routed_), RouteResult::kOk);
    ASSERT_TRUE(routed_.size() == 1 && routed_[0] == task) << task;
  }
  routed_.clear();
  for (const model::TaskInfo& info : layout_->tasks()) {
    if (NameOf(info.task) == "direct") {
      EXPECT_EQ(router->RouteTo(1, info.task, routed_), RouteResult::kNotATask) << "other stream";
    } else {
      EXPECT_EQ(router->RouteTo(0, info.task, routed_), RouteResult::kNotATask) << info.task;
    }
  }
  EXPECT_EQ(router->RouteTo(0, 0, routed_), RouteResult::kNotATask);
  EXPECT_EQ(router->RouteTo(0, -1, routed_), RouteResult::kNotATask);
  EXPECT_EQ(router->RouteTo(0, 1 << 30, routed_), RouteResult::kNotATask);
  EXPECT_EQ(router->RouteTo(4, ById("direct")[0], routed_), RouteResult::kUnknownStream);
  EXPECT_THAT(routed_, IsEmpty());
}

TEST_P(GroupingsTest, TheEndGoesToAllTasksOfEverySubscriber) {
  std::vector<TaskId> all;
  for (const model::TaskInfo& info : layout_->tasks()) {
    if (info.component != 0) all.push_back(info.task);
  }
  EXPECT_EQ(Router()->Destinations(), all);
}

INSTANTIATE_TEST_SUITE_P(Parallelism, GroupingsTest, ::testing::Values(5u, 3u, 7u));

TEST(PartialKeyTest, OneTaskGetsEverything) {
  const auto layout = Layout(1);
  auto router = StreamRouter::Make({layout, 0, 1, 0}, {});
  ASSERT_TRUE(router.ok());
  const TaskId only = layout->TasksOf(layout->ComponentIndex("partial"))[0];
  for (int n = 0; n < 1000; ++n) {
    const FieldView values[] = {FieldView::Int64(n), FieldView::Int64(n)};
    std::vector<TaskId> tasks;
    ASSERT_EQ((*router)->Route(0, values, tasks), RouteResult::kOk);
    ASSERT_EQ(std::count(tasks.begin(), tasks.end(), only), 1);
  }
  const FieldView one[] = {FieldView::Int64(1)};
  std::vector<TaskId> tasks;
  EXPECT_EQ((*router)->Route(0, one, tasks), RouteResult::kShortTuple) << "the key is missing";
}

// Says what the test wants.
class Scripted : public CustomGrouping {
 public:
  using Choice = std::function<void(const CustomGroupingContext&, std::vector<int32_t>&)>;
  explicit Scripted(Choice choice) : choice_(std::move(choice)) {}
  void Prepare(const CustomGroupingContext& context) override { context_ = context; }
  void Choose(std::span<const FieldView>, std::vector<int32_t>& tasks) override {
    EXPECT_THAT(tasks, IsEmpty());
    choice_(context_, tasks);
  }

 private:
  Choice choice_;
  CustomGroupingContext context_;
};

class CustomTest : public ::testing::Test {
 protected:
  void Prepare(Scripted::Choice choice) {
    auto router = StreamRouter::Make({layout_, 0, 1, 0}, {});
    ASSERT_TRUE(router.ok());
    router_ = std::move(*router);
    Status prepared =
        router_->PrepareGroupings([&](const std::string& reader, const std::string& stream) {
          made_.push_back(reader + "/" + stream);
          return std::make_unique<Scripted>(choice);
        });
    EXPECT_TRUE(prepared.ok()) << prepared.ToString();
  }
  RouteResult Route() {
    const FieldView values[] = {FieldView::Int64(1), FieldView::Int64(1)};
    tasks_.clear();
    return router_->Route(1, values, tasks_);
  }

  const std::shared_ptr<const model::TaskLayout> layout_ = Layout(3);
  const std::vector<TaskId> own_ = layout_->TasksByIndex(layout_->ComponentIndex("custom_too"));
  std::unique_ptr<StreamRouter> router_;
  std::vector<std::string> made_;
  std::vector<TaskId> tasks_;
};

TEST_F(CustomTest, KnowsWhatItChoosesFor) {
  CustomGroupingContext seen;
  Prepare([&](const CustomGroupingContext& context, std::vector<int32_t>&) { seen = context; });
  EXPECT_THAT(made_, ElementsAre("custom/default", "custom_too/second"));
  EXPECT_EQ(Route(), RouteResult::kOk);
  EXPECT_EQ(seen.stream, "second");
  EXPECT_EQ(seen.source_component, "source");
  EXPECT_EQ(seen.tasks, own_) << "by index";
  EXPECT_THAT(tasks_, IsEmpty()) << "it chose none";
}

TEST_F(CustomTest, TasksOfOthersAreRefusedAndTheRestGetsTheTuple) {
  Prepare([](const CustomGroupingContext& context, std::vector<int32_t>& tasks) {
    tasks = {1, context.tasks[2], 0, -5, context.tasks[0], 1 << 30, context.tasks[0]};
  });
  EXPECT_EQ(Route(), RouteResult::kPartlyRefused);
  EXPECT_EQ(router_->refused(), 4u);
  EXPECT_THAT(tasks_, ElementsAre(own_[2], own_[0], own_[0])) << "twice if named twice";
  EXPECT_EQ(Route(), RouteResult::kPartlyRefused);
  EXPECT_EQ(router_->refused(), 4u) << "of the tuple at hand";
}

TEST_F(CustomTest, WhatItThrowsComesOutAndTheNextTupleIsRouted) {
  bool angry = true;
  Prepare([&](const CustomGroupingContext& context, std::vector<int32_t>& tasks) {
    tasks.push_back(context.tasks[1]);
    if (std::exchange(angry, false)) throw std::runtime_error("no idea");
  });
  EXPECT_THROW(Route(), std::runtime_error);
  EXPECT_EQ(Route(), RouteResult::kOk);
  EXPECT_THAT(tasks_, ElementsAre(own_[1]));
}

TEST_F(CustomTest, AFactoryThatGivesNothingIsToldByName) {
  auto router = StreamRouter::Make({layout_, 0, 1, 0}, {});
  ASSERT_TRUE(router.ok());
  Status prepared =
      (*router)->PrepareGroupings([](const std::string&, const std::string&) { return nullptr; });
  EXPECT_THAT(prepared.message(), AllOf(HasSubstr("'custom'"), HasSubstr("'source'"),
                                        HasSubstr("'default'"), HasSubstr("custom grouping")));
}

TEST_F(CustomTest, DroppedGroupingsChooseNothing) {
  Prepare([](const CustomGroupingContext& context, std::vector<int32_t>& tasks) {
    tasks = context.tasks;
  });
  EXPECT_EQ(Route(), RouteResult::kOk);
  EXPECT_THAT(tasks_, SizeIs(3));
  router_->DropGroupings();
  EXPECT_EQ(Route(), RouteResult::kOk);
  EXPECT_THAT(tasks_, IsEmpty());
}

}  // namespace
}  // namespace heron::routing
