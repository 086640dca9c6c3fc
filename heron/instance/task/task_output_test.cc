#include "heron/instance/task/task_output.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "heron/model/task_layout.h"
#include "heron/model/tuple_batch.h"
#include "heron/model/tuple_codec.h"
#include "heron/net/frame.h"
#include "heron/routing/custom_grouping.h"
#include "proto/plan.pb.h"
#include "proto/topology.pb.h"

namespace heron::instance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// source: task 1; direct: 2 and 3; shuffle: 4; custom, of the stream "chosen": 5 and 6.
constexpr char kTopology[] = R"pb(
  components {
    name: "source"
    kind: SPOUT
    parallelism: 1
    outputs {
      name: "default"
      fields { name: "n" }
    }
    outputs {
      name: "chosen"
      fields { name: "n" }
    }
  }
  components {
    name: "direct"
    kind: BOLT
    parallelism: 2
    inputs { component: "source" stream: "default" grouping: DIRECT }
  }
  components {
    name: "shuffle"
    kind: BOLT
    parallelism: 1
    inputs { component: "source" stream: "default" grouping: SHUFFLE }
  }
  components {
    name: "custom"
    kind: BOLT
    parallelism: 2
    inputs { component: "source" stream: "chosen" grouping: CUSTOM }
  }
)pb";

// Takes the number in the tuple for the task; 0 is a mistake of the user.
class NumberIsTask : public CustomGrouping {
 public:
  void Choose(std::span<const FieldView> values, std::vector<int32_t>& tasks) override {
    const int32_t n = static_cast<int32_t>(values[0].int64_value());
    if (n == 0) throw std::runtime_error("no task");
    tasks.push_back(n);
    tasks.push_back(5);
  }
};

class TaskOutputTest : public ::testing::Test {
 protected:
  TaskOutputTest() {
    proto::Topology topology;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kTopology, &topology));
    proto::PackingPlan plan;
    auto* container = plan.add_containers();
    container->set_container(1);
    TaskId id = 0;
    for (const auto& component : topology.components()) {
      for (uint32_t i = 0; i < component.parallelism(); ++i) {
        auto* task = container->add_tasks();
        task->set_task(++id);
        task->set_component(component.name());
        task->set_component_index(static_cast<int32_t>(i));
      }
    }
    auto layout = model::TaskLayout::Make(topology, plan.containers());
    EXPECT_TRUE(layout.ok()) << layout.status().ToString();
    auto router = routing::StreamRouter::Make({*layout, 0, 1, 0}, {});
    EXPECT_TRUE(router.ok()) << router.status().ToString();
    TaskOutput::Options options;
    options.batches = {.task = 1, .epoch = {1, 0}, .batch_max_bytes = 32 << 10};
    options.component = "source";
    options.streams = {"default", "chosen"};
    output_ = std::make_unique<TaskOutput>(options, std::move(router).value(), &link_, &clock_);
    EXPECT_TRUE(output_
                    ->PrepareGroupings([](const std::string&, const std::string&) {
                      return std::make_unique<NumberIsTask>();
                    })
                    .ok());
  }

  EmitResult Emit(uint32_t stream, int64_t n) {
    const FieldView value = FieldView::Int64(n);
    return output_->Emit(stream, {&value, 1});
  }
  EmitResult EmitTo(TaskId task, int64_t n, uint32_t stream = 0) {
    const FieldView value = FieldView::Int64(n);
    return output_->EmitTo(stream, task, {&value, 1});
  }
  // What left so far, by task.
  std::map<TaskId, std::vector<int64_t>> Sent() {
    output_->Flush();
    std::map<TaskId, std::vector<int64_t>> sent;
    while (auto item = link_.data_out.TryPop()) {
      auto batch = model::DecodeBatch(item->frame.view().substr(net::kFrameHeaderBytes));
      EXPECT_TRUE(batch.ok());
      std::vector<FieldView> fields;
      model::TupleWalk walk(batch->payload);
      while (walk.Next(fields) == model::TupleWalk::Step::kTuple) {
        sent[batch->header.destination_task].push_back(fields[0].int64_value());
      }
    }
    return sent;
  }
  uint64_t Refused() {
    return output_->counters().dropped[static_cast<size_t>(DropReason::kRefused)];
  }

  SystemClock clock_;
  TaskLink link_;
  std::unique_ptr<TaskOutput> output_;
};

TEST_F(TaskOutputTest, EmitToReachesTheTaskItNamesAlone) {
  for (int64_t n = 0; n < 100; ++n) {
    ASSERT_EQ(EmitTo(n % 2 == 0 ? 3 : 2, n), EmitResult::kOk);
  }
  auto sent = Sent();
  ASSERT_EQ(sent.size(), 2u);
  for (int64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(sent[3][static_cast<size_t>(i)], 2 * i);
    EXPECT_EQ(sent[2][static_cast<size_t>(i)], 2 * i + 1);
  }
  EXPECT_EQ(output_->counters().emitted, 100u);
  EXPECT_EQ(Refused(), 0u);
}

TEST_F(TaskOutputTest, APlainEmitGoesToTheOtherReadersOnly) {
  EXPECT_EQ(Emit(0, 7), EmitResult::kOk);
  EXPECT_THAT(Sent(), ElementsAre(Pair(4, ElementsAre(7))));
}

TEST_F(TaskOutputTest, EmitToATaskThatDoesNotReadDirectlyIsRefusedAndCounted) {
  for (TaskId task : {4, 1, 5, 0, -1, 99}) {
    EXPECT_EQ(EmitTo(task, 1), EmitResult::kNotATask) << task;
  }
  EXPECT_EQ(EmitTo(2, 1, 1), EmitResult::kNotATask) << "it reads another stream";
  EXPECT_EQ(EmitTo(2, 1, 2), EmitResult::kUnknownStream);
  EXPECT_EQ(Refused(), 8u);
  EXPECT_EQ(output_->counters().emitted, 0u);
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(TaskOutputTest, WhatACustomGroupingNamesWronglyIsCountedAndTheRestIsSent) {
  EXPECT_EQ(Emit(1, 6), EmitResult::kOk);
  EXPECT_EQ(Refused(), 0u);
  EXPECT_EQ(Emit(1, 4), EmitResult::kOk) << "good for task 5";
  EXPECT_EQ(Refused(), 1u);
  EXPECT_EQ(output_->counters().emitted, 2u);
  EXPECT_THAT(Sent(), ElementsAre(Pair(5, ElementsAre(6, 4)), Pair(6, ElementsAre(6))));
}

TEST_F(TaskOutputTest, WhenACustomGroupingThrowsTheTupleGoesNowhere) {
  EXPECT_THROW(Emit(1, 0), std::runtime_error);
  EXPECT_EQ(Emit(1, 6), EmitResult::kOk);
  EXPECT_THAT(Sent(), ElementsAre(Pair(5, ElementsAre(6)), Pair(6, ElementsAre(6))));
  EXPECT_EQ(output_->counters().emitted, 1u);
}

TEST_F(TaskOutputTest, AfterAStopNothingLeaves) {
  link_.RequestStop();
  EXPECT_EQ(EmitTo(2, 1), EmitResult::kOk);
  EXPECT_EQ(EmitTo(4, 1), EmitResult::kOk) << "nobody is interested any more";
  EXPECT_EQ(Refused(), 0u);
}

}  // namespace
}  // namespace heron::instance
