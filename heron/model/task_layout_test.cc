#include "heron/model/task_layout.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace heron::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

proto::Topology Chain() {
  proto::Topology topology;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        components {
          name: "a"
          kind: SPOUT
          parallelism: 2
          outputs { name: "default" }
          outputs { name: "errors" }
        }
        components {
          name: "b"
          kind: BOLT
          parallelism: 1
          inputs { component: "a" stream: "default" grouping: SHUFFLE }
          inputs { component: "a" stream: "errors" grouping: SHUFFLE }
          outputs { name: "default" }
        }
        components {
          name: "c"
          kind: BOLT
          parallelism: 2
          inputs { component: "b" stream: "default" grouping: ALL }
          inputs { component: "a" stream: "default" grouping: ALL }
        }
      )pb",
      &topology));
  return topology;
}

proto::PackingPlan Plan() {
  proto::PackingPlan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        containers {
          container: 7
          tasks { task: 5 component: "c" component_index: 1 }
          tasks { task: 1 component: "a" component_index: 0 }
        }
        containers {
          container: 2
          tasks { task: 4 component: "c" component_index: 0 }
          tasks { task: 2 component: "a" component_index: 1 }
          tasks { task: 3 component: "b" component_index: 0 }
        }
      )pb",
      &plan));
  return plan;
}

TEST(TaskLayoutTest, TellsWhoIsWhere) {
  auto made = TaskLayout::Make(Chain(), Plan().containers());
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  const TaskLayout& layout = **made;
  ASSERT_EQ(layout.tasks().size(), 5u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(layout.tasks()[i].task, i + 1);
  EXPECT_EQ(layout.Find(5)->container, 7);
  EXPECT_EQ(layout.Find(5)->component, 2);
  EXPECT_EQ(layout.Find(5)->component_index, 1);
  EXPECT_EQ(layout.Find(6), nullptr);
  EXPECT_EQ(layout.Find(0), nullptr);
  EXPECT_THAT(layout.TasksOf(0), ElementsAre(1, 2));
  EXPECT_THAT(layout.TasksOf(2), ElementsAre(4, 5));
  EXPECT_THAT(layout.TasksByIndex(2), ElementsAre(4, 5));
  EXPECT_THAT(layout.TasksIn(2), ElementsAre(2, 3, 4));
  EXPECT_THAT(layout.TasksIn(3), IsEmpty());
  EXPECT_THAT(layout.Containers(), ElementsAre(2, 7));
  EXPECT_EQ(layout.ComponentIndex("b"), 1);
  EXPECT_EQ(layout.ComponentIndex("d"), -1);
}

TEST(TaskLayoutTest, TellsWhoFeedsWhomEachOnce) {
  auto layout = *TaskLayout::Make(Chain(), Plan().containers());
  EXPECT_THAT(layout->Downstream(0), ElementsAre(1, 2));
  EXPECT_THAT(layout->Downstream(2), IsEmpty());
  EXPECT_THAT(layout->Upstream(2), ElementsAre(1, 0));
  EXPECT_THAT(layout->Upstream(0), IsEmpty());
}

template <typename Change>
std::string ErrorAfter(Change change) {
  proto::Topology topology = Chain();
  proto::PackingPlan plan = Plan();
  change(topology, plan);
  auto layout = TaskLayout::Make(topology, plan.containers());
  if (layout.ok()) return "none";
  EXPECT_EQ(layout.status().code(), StatusCode::kInvalidArgument);
  return layout.status().message();
}

TEST(TaskLayoutTest, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(ErrorAfter([](auto&, auto&) {}), "none");
  EXPECT_THAT(
      ErrorAfter([](auto&, auto& p) { p.mutable_containers(0)->mutable_tasks(0)->set_task(1); }),
      HasSubstr("task 1 twice"));
  EXPECT_THAT(
      ErrorAfter([](auto&, auto& p) { p.mutable_containers(0)->mutable_tasks(0)->set_task(0); }),
      HasSubstr("count from 1"));
  EXPECT_THAT(ErrorAfter([](auto&, auto& p) {
                p.mutable_containers(0)->mutable_tasks(0)->set_component("d");
              }),
              HasSubstr("'d'"));
  EXPECT_THAT(ErrorAfter([](auto&, auto& p) {
                p.mutable_containers(0)->mutable_tasks(0)->set_component_index(2);
              }),
              HasSubstr("indices 0 to 1"));
  EXPECT_THAT(ErrorAfter([](auto&, auto& p) { p.mutable_containers(1)->set_container(7); }),
              HasSubstr("container 7 twice"));
  EXPECT_THAT(ErrorAfter([](auto&, auto& p) { p.mutable_containers(1)->set_container(0); }),
              HasSubstr("container 0"));
  EXPECT_THAT(ErrorAfter([](auto& t, auto&) { t.mutable_components(1)->set_parallelism(2); }),
              HasSubstr("parallelism is 2"));
  EXPECT_THAT(ErrorAfter([](auto& t, auto&) { t.mutable_components(1)->set_name("a"); }),
              HasSubstr("'a' twice"));
  EXPECT_THAT(ErrorAfter([](auto& t, auto&) {
                t.mutable_components(2)->mutable_inputs(0)->set_component("x");
              }),
              HasSubstr("'x'"));
}

}  // namespace
}  // namespace heron::model
