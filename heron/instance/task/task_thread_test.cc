#include "heron/instance/task/task_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

#include "heron/api/errors.h"
#include "heron/api/internal/builder_access.h"
#include "heron/api/internal/task_facts.h"
#include "heron/api/topology_builder.h"
#include "heron/model/tuple_batch.h"
#include "heron/model/tuple_codec.h"
#include "heron/net/frame.h"

namespace heron::instance {
namespace {

using heron::internal::BuilderAccess;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What the components of a test do; written down by both.
struct Script {
  std::function<void(SpoutContext&)> open;
  std::function<Next(Output<int64_t>&)> next;
  std::function<void(BoltContext&)> prepare;
  std::function<void(const Tuple&, Output<int64_t>&)> execute;
  std::function<void(TickInfo, Output<int64_t>&)> tick;
  std::function<void(Output<int64_t>&)> finish;
  std::mutex mutex;
  std::vector<std::string> calls;

  void Called(const std::string& what) {
    std::lock_guard<std::mutex> lock(mutex);
    calls.push_back(what);
  }
  std::vector<std::string> Calls() {
    std::lock_guard<std::mutex> lock(mutex);
    return calls;
  }
};

class ScriptedSpout : public Spout {
 public:
  explicit ScriptedSpout(Script* script) : script_(script) {}
  void Open(SpoutContext& context) override {
    script_->Called("open");
    if (script_->open) script_->open(context);
    output_ = context.Output<int64_t>("n");
  }
  Next NextTuple() override { return script_->next(output_); }
  void Activate() override { script_->Called("activate"); }
  void Deactivate() override { script_->Called("deactivate"); }
  void Close() override { script_->Called("close"); }

 private:
  Script* script_;
  Output<int64_t> output_;
};

class ScriptedBolt : public Bolt {
 public:
  explicit ScriptedBolt(Script* script) : script_(script) {}
  void Prepare(BoltContext& context) override {
    script_->Called("prepare");
    if (script_->prepare) script_->prepare(context);
    output_ = context.Output<int64_t>("n");
  }
  void Execute(const Tuple& in) override {
    if (script_->execute) script_->execute(in, output_);
  }
  void Tick(TickInfo info) override { script_->tick(info, output_); }
  void Finish() override {
    script_->Called("finish");
    if (script_->finish) script_->finish(output_);
  }
  void Cleanup() override { script_->Called("cleanup"); }

 private:
  Script* script_;
  Output<int64_t> output_;
};

// Writes down what it is asked, chooses no task.
class ScriptedGrouping : public CustomGrouping {
 public:
  ScriptedGrouping(Script* script, std::function<void()> choose)
      : script_(script), choose_(std::move(choose)) {}
  ~ScriptedGrouping() override { script_->Called("grouping destroyed"); }
  void Prepare(const CustomGroupingContext& context) override {
    script_->Called("grouping of " + context.source_component + " for task " +
                    std::to_string(context.tasks.at(0)));
  }
  void Choose(std::span<const FieldView>, std::vector<int32_t>&) override { choose_(); }

 private:
  Script* script_;
  std::function<void()> choose_;
};

// Task 1: spout "source"; task 2: bolt "middle"; task 3: bolt "sink". The test plays the gateway.
class TaskThreadTest : public ::testing::Test {
 protected:
  TaskThreadTest() : builder_("test") {
    auto source = builder_.AddSpout("source", [this] { return ScriptedSpout(&script_); });
    source.Declares<int64_t>("n");
    middle_ = builder_.AddBolt("middle", [this] { return ScriptedBolt(&script_); });
    middle_->Declares<int64_t>("n").Shuffle(source);
    builder_.AddBolt("sink", [this] { return ScriptedBolt(&script_); }).Shuffle(*middle_);
  }
  ~TaskThreadTest() override {
    link_.RequestStop();
    task_.reset();
  }

  void Start(const std::string& component) {
    proto::Topology topology = BuilderAccess::Definition(builder_);
    proto::PhysicalPlan plan;
    auto* container = plan.add_containers();
    container->set_container(1);
    TaskId id = 0;
    for (const auto& c : topology.components()) {
      auto* task = container->add_tasks();
      task->set_task(++id);
      task->set_component(c.name());
    }
    auto layout = model::TaskLayout::Make(topology, plan.containers());
    ASSERT_TRUE(layout.ok()) << layout.status().ToString();
    const int index = (*layout)->ComponentIndex(component);
    options_.builder = &builder_;
    options_.facts = heron::internal::FactsOf(topology, topology.components(index));
    options_.facts.task = index + 1;
    options_.layout = *layout;
    options_.epoch = {1, 0};
    options_.spout = component == "source";
    auto task = TaskThread::Make(options_, &link_, &clock_);
    ASSERT_TRUE(task.ok()) << task.status().ToString();
    task_ = std::move(task).value();
    task_->Start();
  }
  void StartSpout() {
    link_.SetActive(true);
    Start("source");
  }

  // Plays the gateway until `done`.
  void Until(const std::function<bool()>& done, bool take_output = true) {
    while (true) {
      link_.gateway_wake.Arm();
      if (take_output) TakeOutput();
      TakeEvents();
      if (done()) break;
      if (link_.metrics_out.Empty() && (!take_output || link_.data_out.Empty())) {
        // Conditions outside the queues are looked at now and then.
        link_.gateway_wake.Wait(std::chrono::milliseconds(1));
      }
      link_.gateway_wake.Disarm();
    }
    link_.gateway_wake.Disarm();
  }
  void TakeOutput() {
    while (auto item = link_.data_out.TryPop()) {
      if (item->end != nullptr) {
        end_ = std::move(item->end);
        calls_at_end_ = script_.Calls();
        continue;
      }
      auto batch = model::DecodeBatch(item->frame.view().substr(net::kFrameHeaderBytes));
      ASSERT_TRUE(batch.ok());
      EXPECT_EQ(batch->header.number, ++last_number_);
      EXPECT_EQ(end_, nullptr) << "a batch behind the end";
      std::vector<FieldView> fields;
      model::TupleWalk walk(batch->payload);
      while (walk.Next(fields) == model::TupleWalk::Step::kTuple) {
        values_.push_back(fields[0].int64_value());
      }
    }
  }
  void TakeEvents() {
    while (auto event = link_.metrics_out.TryPop()) {
      counters_ = event->counters;
      opened_ = opened_ || event->kind == TaskEvent::Kind::kOpened;
      if (event->kind == TaskEvent::Kind::kDrained) {
        drained_.push_back(event->ticket);
        executed_at_drain_ = event->counters.executed;
      }
    }
  }
  void Command(TaskInput::Kind kind, uint64_t ticket = 0) {
    TaskInput input;
    input.kind = kind;
    input.ticket = ticket;
    ASSERT_TRUE(link_.data_in.TryPush(input, 0));
  }
  // A batch from the source to the middle.
  void Batch(const std::vector<int64_t>& values, size_t cut_bytes = 0, uint32_t stream = 0) {
    std::string payload;
    for (int64_t value : values) {
      const FieldView field = FieldView::Int64(value);
      std::string tuple(model::EncodedTupleBytes({&field, 1}), 0);
      model::EncodeTuple({&field, 1}, tuple.data());
      payload += tuple;
    }
    payload.resize(payload.size() - cut_bytes);
    TaskInput input;
    input.kind = TaskInput::Kind::kBatch;
    input.bytes = BufferSlice::Copy(payload);
    input.batch.payload = input.bytes.view();
    input.batch.header.source_task = 1;
    input.batch.header.stream = stream;
    input.batch.header.tuple_count = static_cast<uint32_t>(values.size());
    ASSERT_TRUE(link_.data_in.TryPush(input, payload.size()));
  }
  uint64_t Dropped(DropReason reason) const {
    return counters_.dropped[static_cast<size_t>(reason)];
  }

  SystemClock clock_;
  Script script_;
  TopologyBuilder builder_;
  std::optional<BoltHandle> middle_;
  TaskThread::Options options_;
  TaskLink link_;
  std::unique_ptr<TaskThread> task_;

  std::vector<int64_t> values_;
  uint64_t last_number_ = 0;
  std::unique_ptr<TaskOutputEnd> end_;
  std::vector<std::string> calls_at_end_;
  TaskCounters counters_;
  bool opened_ = false;
  std::vector<uint64_t> drained_;
  uint64_t executed_at_drain_ = 0;
};

TEST_F(TaskThreadTest, ABoundedSpoutSendsEverythingInOrderAndThenItsEnd) {
  int64_t n = 0;
  script_.next = [&](Output<int64_t>& output) {
    if (n == 100000) return Next::Ended();
    output.Emit(n++);
    return Next::More();
  };
  StartSpout();
  Until([&] { return end_ != nullptr; });
  ASSERT_EQ(values_.size(), 100000u);
  for (size_t i = 0; i < values_.size(); ++i) ASSERT_EQ(values_[i], static_cast<int64_t>(i));
  EXPECT_EQ(end_->last_numbers.at(2), last_number_);
  EXPECT_EQ(end_->counters.emitted, 100000u);
  EXPECT_TRUE(opened_);
  EXPECT_THAT(calls_at_end_, ElementsAre("open", "activate", "close"));
  link_.RequestStop();
  Until([&] { return link_.task_ended(); });
  EXPECT_FALSE(link_.failure());
  EXPECT_THAT(script_.Calls(), ElementsAre("open", "activate", "close")) << "closed once";
}

TEST_F(TaskThreadTest, AnInactiveSpoutIsOpenedButNotAsked) {
  std::atomic<int> asked{0};
  script_.next = [&](Output<int64_t>&) {
    ++asked;
    return Next::Idle(std::chrono::milliseconds(1));
  };
  Start("source");
  Until([&] { return opened_; });
  EXPECT_EQ(asked, 0);
  link_.SetActive(true);
  Until([&] { return asked > 0; });
  link_.SetActive(false);
  Until([&] { return script_.Calls().back() == "deactivate"; });
  const int before = asked;
  link_.SetActive(true);
  Until([&] { return asked > before; });
}

TEST_F(TaskThreadTest, ALoneTupleLeavesAlthoughNothingFollows) {
  bool emitted = false;
  script_.next = [&](Output<int64_t>& output) {
    if (!std::exchange(emitted, true)) output.Emit(42);
    return Next::Waiting();
  };
  StartSpout();
  Until([&] { return !values_.empty(); });
  EXPECT_THAT(values_, ElementsAre(42));
  Until([&] { return counters_.emitted == 1; });
}

TEST_F(TaskThreadTest, AWakerWakesAWaitingSpoutAndMayOutliveIt) {
  std::optional<Waker> waker;
  std::atomic<int> asked{0};
  script_.open = [&](SpoutContext& context) { waker = context.Waker(); };
  script_.next = [&](Output<int64_t>&) {
    ++asked;
    return Next::Waiting();
  };
  StartSpout();
  Until([&] { return asked == 1; });
  waker->Wake();
  Until([&] { return asked == 2; });
  link_.RequestStop();
  task_.reset();
  waker->Wake();
}

TEST_F(TaskThreadTest, ABoltExecutesAndFinishesWithItsEndBehindTheLastBatch) {
  script_.execute = [](const Tuple& in, Output<int64_t>& out) { out.Emit(in.Int64(0) * 10); };
  script_.finish = [](Output<int64_t>& out) { out.Emit(-1); };
  Start("middle");
  Batch({1, 2, 3});
  Batch({4});
  Command(TaskInput::Kind::kDrain, 7);
  Until([&] { return !drained_.empty(); });
  EXPECT_THAT(drained_, ElementsAre(7));
  EXPECT_EQ(executed_at_drain_, 4u) << "drained means executed";
  EXPECT_THAT(script_.Calls(), ElementsAre("prepare"));
  Command(TaskInput::Kind::kFinish);
  Until([&] { return end_ != nullptr; });
  EXPECT_THAT(values_, ElementsAre(10, 20, 30, 40, -1));
  EXPECT_THAT(calls_at_end_, ElementsAre("prepare", "finish", "cleanup"));
  EXPECT_EQ(end_->last_numbers.at(3), last_number_);
}

TEST_F(TaskThreadTest, ABoltTicksAlsoWhileItIsIdleAndNeverOnceFinishHasBegun) {
  middle_->Tick(std::chrono::milliseconds(1));
  std::vector<std::string> calls_at_first_tick;
  script_.tick = [&](TickInfo info, Output<int64_t>& out) {
    if (info.number == 1) calls_at_first_tick = script_.Calls();
    EXPECT_GT(info.since_previous, Duration::zero());
    out.Emit(info.number);
  };
  script_.finish = [](Output<int64_t>& out) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    out.Emit(-1);
  };
  Start("middle");
  Until([&] { return values_.size() >= 3; });
  EXPECT_THAT(calls_at_first_tick, ElementsAre("prepare"));
  Command(TaskInput::Kind::kFinish);
  Until([&] { return end_ != nullptr; });
  EXPECT_EQ(values_.back(), -1);
  for (size_t i = 0; i + 1 < values_.size(); ++i)
    EXPECT_EQ(values_[i], static_cast<int64_t>(i + 1));
}

TEST_F(TaskThreadTest, ATickThatIsDueComesBetweenTwoTuplesOfABatch) {
  middle_->Tick(std::chrono::milliseconds(1));
  script_.tick = [](TickInfo, Output<int64_t>& out) { out.Emit(1000); };
  script_.execute = [](const Tuple& in, Output<int64_t>& out) {
    out.Emit(in.Int64(0));
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  };
  Start("middle");
  Batch({1, 2, 3, 4, 5, 6});
  Command(TaskInput::Kind::kFinish);
  Until([&] { return end_ != nullptr; });
  const auto first = std::find(values_.begin(), values_.end(), 1);
  const auto last = std::find(values_.begin(), values_.end(), 6);
  ASSERT_LT(first, last);
  const auto ticks = std::count(first, last, 1000);
  EXPECT_GE(ticks, 2);
  EXPECT_LE(ticks, 5) << "one between two tuples, though three were due";
}

TEST_F(TaskThreadTest, FunctionsOfOtherThreadsRunOnAnIdleTasksThread) {
  std::optional<TaskRunner> runner;
  Output<int64_t> output;
  std::thread::id prepared_on, ran_on;
  script_.prepare = [&](BoltContext& context) {
    prepared_on = std::this_thread::get_id();
    runner = context.TaskRunner();
    output = context.Output<int64_t>("n");
    EXPECT_TRUE(context.RunInTask([&] { output.Emit(0); })) << "runs when Prepare has returned";
  };
  Start("middle");
  Until([&] { return values_.size() == 1; });
  for (int64_t n = 1; n <= 5000; ++n) {
    ASSERT_TRUE(runner->Run([&, n] {
      ran_on = std::this_thread::get_id();
      output.Emit(n);
    }));
  }
  Until([&] { return values_.size() == 5001; });
  for (size_t i = 0; i < values_.size(); ++i) ASSERT_EQ(values_[i], static_cast<int64_t>(i));
  EXPECT_EQ(ran_on, prepared_on);
  link_.RequestStop();
  task_.reset();
  EXPECT_FALSE(runner->Run([] {}));
}

TEST_F(TaskThreadTest, EmitsOfOtherThreadsAreRefusedAndCounted) {
  Output<int64_t> output;
  FieldsOutput fields;
  script_.prepare = [&](BoltContext& context) {
    output = context.Output<int64_t>("n");
    fields = context.OutputFields();
  };
  Start("middle");
  Until([&] { return opened_; });
  EXPECT_EQ(output.Emit(1), EmitResult::kWrongThread);
  fields.Emit(Values{"wrong"});
  Until([&] { return Dropped(DropReason::kRefused) == 2; });
  EXPECT_TRUE(values_.empty());
}

TEST_F(TaskThreadTest, FunctionsRunBeforeFinishAndThoseItWaitsForBehindIt) {
  std::optional<TaskRunner> runner;
  Output<int64_t> output;
  std::atomic<bool> go{false};
  script_.prepare = [&](BoltContext& context) {
    runner = context.TaskRunner();
    output = context.Output<int64_t>("n");
  };
  script_.execute = [&](const Tuple&, Output<int64_t>&) {
    while (!go) std::this_thread::yield();
  };
  script_.finish = [&](Output<int64_t>& out) {
    out.Emit(2);
    std::thread([&] { EXPECT_TRUE(runner->Run([&] { output.Emit(3); })); }).join();
  };
  Start("middle");
  Until([&] { return opened_; });
  Batch({0});
  Command(TaskInput::Kind::kFinish);
  EXPECT_TRUE(runner->Run([&] { output.Emit(1); }));
  go = true;
  Until([&] { return end_ != nullptr; });
  EXPECT_THAT(values_, ElementsAre(1, 2, 3));
  EXPECT_THAT(calls_at_end_, ElementsAre("prepare", "finish", "cleanup"));
  EXPECT_FALSE(runner->Run([] {}));
}

TEST_F(TaskThreadTest, AFunctionWakesAWaitingSpoutAndRunsInAnInactiveOne) {
  std::optional<TaskRunner> runner;
  std::atomic<int> ready{0}, ran{0};
  int64_t emitted = 0;
  script_.open = [&](SpoutContext& context) { runner = context.TaskRunner(); };
  script_.next = [&](Output<int64_t>& out) {
    while (emitted < ready) out.Emit(emitted++);
    return emitted == 3 ? Next::Ended() : Next::Waiting();
  };
  Start("source");
  Until([&] { return opened_; });
  auto add = [&] {
    ++ready;
    ++ran;
  };
  EXPECT_TRUE(runner->Run(add));
  Until([&] { return ran == 1; });
  EXPECT_TRUE(values_.empty());
  link_.SetActive(true);
  Until([&] { return values_.size() == 1; });
  EXPECT_TRUE(runner->Run(add));
  Until([&] { return values_.size() == 2; });
  EXPECT_TRUE(runner->Run(add));
  Until([&] { return end_ != nullptr; });
  EXPECT_THAT(values_, ElementsAre(0, 1, 2));
  EXPECT_FALSE(runner->Run(add));
}

TEST_F(TaskThreadTest, EndingTheOutputDoesNotRunFinish) {
  Start("middle");
  Command(TaskInput::Kind::kEndOutput);
  Until([&] { return end_ != nullptr; });
  EXPECT_THAT(calls_at_end_, ElementsAre("prepare", "cleanup"));
}

TEST_F(TaskThreadTest, AStopCleansUpAndDoesNotFinish) {
  Start("middle");
  Until([&] { return opened_; });
  link_.RequestStop();
  Until([&] { return link_.task_ended(); });
  EXPECT_THAT(script_.Calls(), ElementsAre("prepare", "cleanup"));
  EXPECT_EQ(end_, nullptr);
}

TEST_F(TaskThreadTest, AnEmitThatWaitsForRoomIsLetGoByAStop) {
  std::atomic<uint64_t> emitted{0};
  script_.next = [&](Output<int64_t>& output) {
    output.Emit(1);
    ++emitted;
    return Next::More();
  };
  StartSpout();
  // Nobody takes the output: the queue fills up to its bound and the spout stands.
  uint64_t last = 0;
  int still = 0;
  Until(
      [&] {
        still = link_.data_out.QueuedBytes() > 0 && emitted == last ? still + 1 : 0;
        last = emitted;
        return still > 50;
      },
      false);
  EXPECT_LT(link_.data_out.QueuedBytes(), 8u << 20);
  link_.RequestStop();
  Until([&] { return link_.task_ended(); }, false);
  EXPECT_EQ(script_.Calls().back(), "close");
}

TEST_F(TaskThreadTest, ABlockedEmitGoesOnWhenThereIsRoomAndLosesNothing) {
  int64_t n = 0;
  script_.next = [&](Output<int64_t>& output) {
    if (n == 2000000) return Next::Ended();
    output.Emit(n++);
    return Next::More();
  };
  StartSpout();
  Until([&] { return link_.data_out.QueuedBytes() >= 200u << 10; }, false);
  Until([&] { return end_ != nullptr; });
  EXPECT_EQ(values_.size(), 2000000u);
}

TEST_F(TaskThreadTest, ATooLargeTupleIsRefusedAndItsNeighboursFlow) {
  options_.settings.tuple_max_bytes = 4;
  std::vector<EmitResult> results;
  script_.next = [&](Output<int64_t>& output) {
    results.push_back(output.Emit(1));
    results.push_back(output.Emit(int64_t{1} << 60));
    results.push_back(output.Emit(2));
    return Next::Ended();
  };
  StartSpout();
  Until([&] { return end_ != nullptr; });
  EXPECT_THAT(results, ElementsAre(EmitResult::kOk, EmitResult::kTooLarge, EmitResult::kOk));
  EXPECT_THAT(values_, ElementsAre(1, 2));
  EXPECT_EQ(end_->counters.dropped[static_cast<size_t>(DropReason::kTooLarge)], 1u);
  EXPECT_EQ(end_->counters.emitted, 2u);
}

TEST_F(TaskThreadTest, ADamagedBatchCostsItsRestOnly) {
  std::vector<int64_t> seen;
  script_.execute = [&](const Tuple& in, Output<int64_t>&) { seen.push_back(in.Int64(0)); };
  Start("middle");
  Batch({1, 2, 3}, /*cut_bytes=*/1);
  Batch({4});
  Batch({5, 6}, 0, /*stream=*/9);
  Command(TaskInput::Kind::kDrain, 1);
  Until([&] { return !drained_.empty(); });
  EXPECT_THAT(seen, ElementsAre(1, 2, 4));
  EXPECT_EQ(Dropped(DropReason::kDamaged), 1u);
  EXPECT_EQ(Dropped(DropReason::kStray), 2u);
}

TEST_F(TaskThreadTest, CustomGroupingsLiveLongerThanTheComponentThatEmits) {
  std::thread::id chose_on, executed_on;
  builder_.AddBolt("chosen", [this] { return ScriptedBolt(&script_); }).Custom("middle", [&] {
    return std::make_unique<ScriptedGrouping>(&script_,
                                              [&] { chose_on = std::this_thread::get_id(); });
  });
  script_.execute = [&](const Tuple& in, Output<int64_t>& out) {
    executed_on = std::this_thread::get_id();
    out.Emit(in.Int64(0));
  };
  Start("middle");
  Batch({1, 2});
  Command(TaskInput::Kind::kFinish);
  Until([&] { return end_ != nullptr; });
  EXPECT_THAT(values_, ElementsAre(1, 2)) << "the other reader's";
  link_.RequestStop();
  Until([&] { return link_.task_ended(); });
  EXPECT_FALSE(link_.failure());
  EXPECT_EQ(chose_on, executed_on);
  EXPECT_THAT(script_.Calls(), ElementsAre("grouping of middle for task 4", "prepare", "finish",
                                           "cleanup", "grouping destroyed"));
}

TEST_F(TaskThreadTest, TasksOfAComponentAreThoseOfThePlan) {
  std::vector<int32_t> sink;
  script_.open = [&](SpoutContext& context) { sink = context.TasksOf("sink"); };
  script_.next = [](Output<int64_t>&) { return Next::Ended(); };
  StartSpout();
  Until([&] { return end_ != nullptr; });
  EXPECT_THAT(sink, ElementsAre(3));
}

TEST_F(TaskThreadTest, ACustomGroupingWhoseFactoryGivesNoneIsUnrecoverable) {
  builder_.AddBolt("chosen", [this] { return ScriptedBolt(&script_); }).Custom("middle", [] {
    return std::unique_ptr<CustomGrouping>();
  });
  Start("middle");
  Until([&] { return link_.task_ended(); });
  ASSERT_TRUE(link_.failure());
  EXPECT_TRUE(link_.failure()->unrecoverable);
  EXPECT_THAT(link_.failure()->text, HasSubstr("component 'chosen' reading stream 'default' of "
                                               "component 'middle'"));
}

class UserErrorTest : public TaskThreadTest {
 protected:
  std::string FailureText() {
    Until([&] { return link_.task_ended(); });
    auto failure = link_.failure();
    EXPECT_TRUE(failure);
    EXPECT_FALSE(failure->unrecoverable);
    return failure ? failure->text : "";
  }
};

TEST_F(UserErrorTest, NamesComponentTaskMethodTypeAndText) {
  script_.open = [](SpoutContext&) { throw std::runtime_error("no such file"); };
  StartSpout();
  EXPECT_EQ(FailureText(), "component 'source', task 1, Open: std::runtime_error: no such file");
}

TEST_F(UserErrorTest, InNextTuple) {
  script_.next = [](Output<int64_t>&) -> Next { throw std::out_of_range("boom"); };
  StartSpout();
  EXPECT_THAT(FailureText(), HasSubstr("NextTuple: std::out_of_range: boom"));
}

TEST_F(UserErrorTest, InPrepare) {
  script_.prepare = [](BoltContext&) { throw 7; };
  Start("middle");
  EXPECT_THAT(FailureText(), HasSubstr("component 'middle', task 2, Prepare: threw something"));
}

TEST_F(UserErrorTest, InExecute) {
  script_.execute = [](const Tuple& in, Output<int64_t>&) { in.String(0); };
  Start("middle");
  Batch({1});
  EXPECT_THAT(FailureText(), HasSubstr("Execute: heron::TypeError"));
}

TEST_F(UserErrorTest, InTick) {
  middle_->Tick(std::chrono::milliseconds(1));
  script_.tick = [](TickInfo, Output<int64_t>&) { throw std::runtime_error("late"); };
  Start("middle");
  EXPECT_THAT(FailureText(), HasSubstr("task 2, Tick: std::runtime_error: late"));
}

TEST_F(UserErrorTest, InAFunctionOfAnotherThread) {
  std::optional<TaskRunner> runner;
  script_.prepare = [&](BoltContext& context) {
    runner = context.TaskRunner();
    context.RunInTask([] { throw std::runtime_error("no answer"); });
  };
  Start("middle");
  EXPECT_THAT(FailureText(),
              HasSubstr("task 2, a function of RunInTask: std::runtime_error: no answer"));
  EXPECT_FALSE(runner->Run([] {}));
}

TEST_F(UserErrorTest, InAGroupingsFactory) {
  builder_.AddBolt("chosen", [this] { return ScriptedBolt(&script_); })
      .Custom("middle",
              []() -> std::unique_ptr<CustomGrouping> { throw std::runtime_error("no table"); });
  Start("middle");
  EXPECT_THAT(FailureText(), HasSubstr("task 2, factory or Prepare of a custom grouping: "
                                       "std::runtime_error: no table"));
}

TEST_F(UserErrorTest, InChoose) {
  builder_.AddBolt("chosen", [this] { return ScriptedBolt(&script_); }).Custom("middle", [this] {
    return std::make_unique<ScriptedGrouping>(&script_,
                                              [] { throw std::runtime_error("no idea"); });
  });
  script_.execute = [](const Tuple& in, Output<int64_t>& out) { out.Emit(in.Int64(0)); };
  Start("middle");
  Batch({1});
  EXPECT_THAT(FailureText(), HasSubstr("task 2, Execute: std::runtime_error: no idea"));
}

TEST_F(UserErrorTest, InFinish) {
  script_.finish = [](Output<int64_t>&) { throw std::runtime_error("disk full"); };
  Start("middle");
  Command(TaskInput::Kind::kFinish);
  EXPECT_THAT(FailureText(), HasSubstr("Finish: std::runtime_error: disk full"));
  EXPECT_EQ(end_, nullptr) << "a Finish that threw has not ended its output";
}

TEST_F(TaskThreadTest, UnrecoverableIsToldApart) {
  script_.open = [](SpoutContext&) { throw Unrecoverable("wrong format"); };
  StartSpout();
  Until([&] { return link_.task_ended(); });
  ASSERT_TRUE(link_.failure());
  EXPECT_TRUE(link_.failure()->unrecoverable);
  EXPECT_THAT(link_.failure()->text, HasSubstr("Open: wrong format"));
}

}  // namespace
}  // namespace heron::instance
