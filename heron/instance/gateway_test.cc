// A whole instance over real sockets: its gateway and task thread against a stream manager and an executor that are
// played by the test.
#include "heron/instance/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "heron/api/errors.h"
#include "heron/api/internal/builder_access.h"
#include "heron/base/exit_codes.h"
#include "heron/model/described.h"
#include "heron/model/tuple_batch.h"
#include "heron/model/tuple_codec.h"

namespace heron::instance {
namespace {

using heron::internal::BuilderAccess;
using proto::TaskStatus;
using ::testing::HasSubstr;

link::TopologyCredentials Credentials() {
  return {.topology_name = "test", .topology_id = "test-1", .secret = std::string(32, 's')};
}

// One listener of the container (its executor or its stream manager), on a loop of its own.
class Listening : public link::SessionHandler {
 public:
  struct Received {
    proto::Lane lane;
    uint16_t type;
    std::string body;
  };

  Listening(proto::Role role, std::vector<proto::Lane> lanes, Epoch epoch = {1, 0},
            std::optional<link::Refusal> refusal = std::nullopt) {
    link::SessionListener::Options options;
    options.self = link::MakeIdentity(role, 1, 0, epoch);
    options.credentials = Credentials();
    options.lanes[proto::INSTANCE] = std::move(lanes);
    options.admit = [refusal](const proto::Identity&) { return refusal; };
    auto listener = link::SessionListener::Listen(loop_, std::move(options), this);
    EXPECT_TRUE(listener.ok()) << listener.status().ToString();
    listener_ = std::move(listener).value();
    port_ = listener_->port();
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~Listening() override {
    loop_.Post([this] { listener_.reset(); });
    loop_.Stop();
    thread_.join();
  }

  uint16_t port() const { return port_; }

  // Until `done` holds for what was received.
  void Await(const std::function<bool()>& done) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, done);
  }
  void AwaitSession() {
    Await([this] { return session_ != nullptr; });
  }
  template <typename Message>
  std::optional<Message> Last(uint16_t type) const {  // within Await
    for (auto it = received.rbegin(); it != received.rend(); ++it) {
      if (it->type != type) continue;
      Message message;
      EXPECT_TRUE(net::ParseBody(it->body, message).ok());
      return message;
    }
    return std::nullopt;
  }

  void Send(proto::Lane lane, proto::MessageType type, const google::protobuf::MessageLite& message) {
    SendFrame(lane, net::EncodeFrame(static_cast<uint16_t>(type), message));
  }
  void SendFrame(proto::Lane lane, BufferSlice frame) {
    loop_.Post([this, lane, frame] {
      if (session_ != nullptr) session_->SendFrame(lane, frame);
    });
  }
  void DropSession() {
    loop_.Post([this] {
      if (session_ == nullptr) return;
      session_->Close();
      std::lock_guard<std::mutex> lock(mutex_);
      session_ = nullptr;
    });
  }

  std::vector<Received> received;  // guarded by mutex_: look at it within Await
  int sessions = 0;                // likewise

 private:
  void OnSessionUp(link::Session& session) override {
    std::lock_guard<std::mutex> lock(mutex_);
    session_ = &session;
    ++sessions;
    changed_.notify_all();
  }
  void OnFrame(link::Session&, proto::Lane lane, net::Frame frame) override {
    std::lock_guard<std::mutex> lock(mutex_);
    received.push_back({lane, frame.type, std::string(frame.body())});
    changed_.notify_all();
  }
  void OnSessionDown(link::Session& session, const Status&) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (session_ == &session) session_ = nullptr;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  net::EventLoop loop_;
  std::unique_ptr<link::SessionListener> listener_;
  link::Session* session_ = nullptr;
  uint16_t port_ = 0;
  std::thread thread_;
};

class Numbers : public Spout {
 public:
  explicit Numbers(int64_t count) : count_(count) {}
  void Open(SpoutContext& context) override { output_ = context.Output<int64_t>("n"); }
  Next NextTuple() override {
    if (next_ == count_) return Next::Ended();
    output_.Emit(next_++);
    return Next::More();
  }

 private:
  const int64_t count_;
  int64_t next_ = 0;
  Output<int64_t> output_;
};

class Sum : public Bolt {
 public:
  void Prepare(BoltContext& context) override { output_ = context.Output<int64_t>("n"); }
  void Execute(const Tuple& in) override {
    if (in.Int64(0) < 0) throw std::runtime_error("negative");
    sum_ += in.Int64(0);
  }
  void Finish() override { output_.Emit(sum_); }

 private:
  int64_t sum_ = 0;
  Output<int64_t> output_;
};

class Sink : public Bolt {
 public:
  void Execute(const Tuple&) override {}
};

// A spout that does not come back until it is let go.
class Stuck : public Spout {
 public:
  Stuck(std::atomic<bool>* entered, std::atomic<bool>* go) : entered_(entered), go_(go) {}
  Next NextTuple() override {
    *entered_ = true;
    while (!*go_) std::this_thread::yield();
    return Next::Waiting();
  }

 private:
  std::atomic<bool>* entered_;
  std::atomic<bool>* go_;
};

// Tasks: 1 "numbers" (spout), 2 "sum", 3 "sink".
class GatewayTest : public ::testing::Test {
 protected:
  GatewayTest() : builder_("test") {
    auto numbers = builder_.AddSpout("numbers", [this] { return Numbers(count_); });
    numbers.Declares<int64_t>("n");
    auto sum = builder_.AddBolt("sum", [] { return Sum(); });
    sum.Declares<int64_t>("n").Shuffle(numbers);
    builder_.AddBolt("sink", [] { return Sink(); }).Shuffle(sum);
    executor_ = std::make_unique<Listening>(proto::EXECUTOR, std::vector{proto::CONTROL});
    NewStreamManager({1, 0});
  }
  ~GatewayTest() override {
    if (!instance_.joinable()) return;
    Stop(0);
    instance_.join();
  }

  void NewStreamManager(Epoch epoch) {
    stream_manager_.reset();
    stream_manager_epoch_ = epoch;
    stream_manager_ = std::make_unique<Listening>(
        proto::STREAM_MANAGER, std::vector{proto::CONTROL, proto::DATA, proto::ACK}, epoch,
        refusal_);
  }
  void SayWhereTheStreamManagerIs() {
    proto::ChildUpdate update;
    update.set_stream_manager_port(stream_manager_->port());
    link::SetEpoch(stream_manager_epoch_, update.mutable_stream_manager_epoch());
    executor_->Send(proto::CONTROL, proto::CHILD_UPDATE, update);
  }

  void Start(const std::string& component, TaskId task, Epoch epoch = {1, 0}) {
    Gateway::Options options;
    options.credentials = Credentials();
    options.container = 1;
    options.component = component;
    options.task = task;
    options.epoch = epoch;
    options.executor_host = "127.0.0.1";
    options.executor_port = executor_->port();
    options.builder = &builder_;
    epoch_ = epoch;
    task_id_ = task;
    instance_ = std::thread([this, options] {
      net::EventLoop loop;
      Gateway gateway(loop, options);
      {
        std::lock_guard<std::mutex> lock(mutex_);
        loop_ = &loop;
        gateway_ = &gateway;
      }
      exit_code_ = gateway.Run();
      stuck_ = gateway.task_stuck();
      let_go_ = true;
      std::lock_guard<std::mutex> lock(mutex_);
      loop_ = nullptr;
    });
    executor_->AwaitSession();
    SayWhereTheStreamManagerIs();
  }
  void Stop(int code) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (loop_ != nullptr) loop_->Post([this, code] { gateway_->Stop(code); });
  }
  int ExitCode() {
    instance_.join();
    return exit_code_;
  }

  proto::InstancePlan MakePlan(bool active = true) {
    proto::InstancePlan plan;
    const proto::Topology& topology = BuilderAccess::Definition(builder_);
    plan.mutable_topology()->set_topology_id("test-1");
    plan.mutable_topology()->set_name("test");
    *plan.mutable_topology()->mutable_topology() = topology;
    plan.mutable_topology()->set_described_sha256(model::DescribedSha256(topology));
    plan.mutable_plan()->set_version(3);
    auto* container = plan.mutable_plan()->add_containers();
    container->set_container(1);
    TaskId id = 0;
    for (const auto& component : topology.components()) {
      auto* planned = container->add_tasks();
      planned->set_task(++id);
      planned->set_component(component.name());
    }
    plan.set_active(active);
    return plan;
  }
  void SendPlan(const proto::InstancePlan& plan) {
    stream_manager_->Send(proto::CONTROL, proto::INSTANCE_PLAN, plan);
  }
  void Register() {
    stream_manager_->AwaitSession();
    SendPlan(MakePlan());
  }
  void SendGrant() {
    proto::InstancePlan plan;
    plan.set_active(true);
    plan.mutable_grant()->set_task(task_id_);
    plan.mutable_grant()->set_has_finish_grant(true);
    link::SetEpoch(epoch_, plan.mutable_grant()->mutable_finish_granted());
    SendPlan(plan);
  }
  void AwaitPhase(TaskStatus::Phase phase) {
    stream_manager_->Await([&] {
      auto report = stream_manager_->Last<proto::TaskReport>(proto::TASK_REPORT);
      if (report) status_ = report->status();
      return report && report->status().phase() == phase;
    });
  }
  proto::Ended AwaitEnded() {
    std::optional<proto::Ended> ended;
    stream_manager_->Await([&] {
      ended = stream_manager_->Last<proto::Ended>(proto::ENDED);
      return ended.has_value();
    });
    return *ended;
  }
  void Confirm(const proto::Ended& ended) {
    proto::EndedConfirmed confirmed;
    confirmed.set_source_task(ended.source_task());
    *confirmed.mutable_source_epoch() = ended.source_epoch();
    confirmed.set_destination_task(ended.destination_task());
    confirmed.mutable_destination_epoch()->set_incarnation(1);
    stream_manager_->Send(proto::ACK, proto::ENDED_CONFIRMED, confirmed);
  }
  void SendBatch(const std::vector<int64_t>& values, uint64_t number, TaskId destination = 2) {
    std::string payload;
    for (int64_t value : values) {
      const FieldView field = FieldView::Int64(value);
      std::string tuple(model::EncodedTupleBytes({&field, 1}), 0);
      model::EncodeTuple({&field, 1}, tuple.data());
      payload += tuple;
    }
    model::BatchHeader header;
    header.source_task = 1;
    header.source_epoch = {1, 0};
    header.destination_task = destination;
    header.tuple_count = static_cast<uint32_t>(values.size());
    header.number = number;
    std::string body(model::kMaxBatchHeaderBytes, 0);
    body.resize(model::EncodeBatchHeader(header, payload.size(), body.data()));
    body += payload;
    std::string frame(net::kFrameHeaderBytes, 0);
    net::EncodeFrameHeader({static_cast<uint32_t>(body.size()), proto::TUPLE_BATCH}, frame.data());
    stream_manager_->SendFrame(proto::DATA, BufferSlice::Take(frame + body));
  }
  void SendEnded(uint64_t last_number) {
    proto::Ended ended;
    ended.set_source_task(1);
    ended.mutable_source_epoch()->set_incarnation(1);
    ended.set_destination_task(2);
    ended.set_last_number(last_number);
    stream_manager_->Send(proto::DATA, proto::ENDED, ended);
  }
  std::vector<int64_t> AwaitValues(size_t count) {
    std::vector<int64_t> values;
    stream_manager_->Await([&] {
      values = Values();
      return values.size() >= count;
    });
    return values;
  }
  // Within Await.
  std::vector<int64_t> Values() {
    std::vector<int64_t> values;
    for (const Listening::Received& frame : stream_manager_->received) {
      if (frame.type != proto::TUPLE_BATCH) continue;
      auto batch = model::DecodeBatch(frame.body);
      EXPECT_TRUE(batch.ok());
      model::TupleWalk walk(batch->payload);
      std::vector<FieldView> fields;
      while (walk.Next(fields) == model::TupleWalk::Step::kTuple) {
        values.push_back(fields[0].int64_value());
      }
    }
    return values;
  }
  std::string AwaitError() {
    std::string error;
    executor_->Await([&] {
      auto report = executor_->Last<proto::ChildReport>(proto::CHILD_REPORT);
      if (report) error = report->error();
      return !error.empty();
    });
    return error;
  }

  int64_t count_ = 100;
  TopologyBuilder builder_;
  std::atomic<bool> entered_{false};  // user code that does not come back was called
  std::atomic<bool> let_go_{false};
  std::optional<link::Refusal> refusal_;
  Epoch stream_manager_epoch_;
  std::unique_ptr<Listening> executor_;
  std::unique_ptr<Listening> stream_manager_;
  Epoch epoch_;
  TaskId task_id_ = 0;
  TaskStatus status_;
  std::mutex mutex_;
  net::EventLoop* loop_ = nullptr;  // guarded by mutex_
  Gateway* gateway_ = nullptr;      // likewise
  std::atomic<int> exit_code_{-1};
  std::atomic<bool> stuck_{false};
  std::thread instance_;
};

TEST_F(GatewayTest, ASpoutThatEndsDeliversItsTuplesItsEndAndIsFinishedWhenConfirmed) {
  Start("numbers", 1);
  Register();
  proto::Ended ended = AwaitEnded();
  EXPECT_EQ(ended.source_task(), 1);
  EXPECT_EQ(ended.destination_task(), 2);
  EXPECT_EQ(AwaitValues(100).size(), 100u);
  AwaitPhase(TaskStatus::FINISHING);
  Confirm(ended);
  AwaitPhase(TaskStatus::FINISHED);
  EXPECT_EQ(status_.emitted(), 100u);
  executor_->Await([&] {
    auto report = executor_->Last<proto::ChildReport>(proto::CHILD_REPORT);
    return report && report->made_progress() && report->pid() > 0;
  });
  Stop(0);
  EXPECT_EQ(ExitCode(), 0);
}

TEST_F(GatewayTest, RegistersBeforeThePlanIsThere) {
  Start("sum", 2);
  AwaitPhase(TaskStatus::REGISTERED);
  Register();
  AwaitPhase(TaskStatus::RUNNING);
}

TEST_F(GatewayTest, ABoltExecutesConfirmsFinishesOnceAndSendsItsResult) {
  Start("sum", 2);
  Register();
  SendBatch({1, 2, 3}, 1);
  SendBatch({99}, 1);             // had this number
  SendBatch({1000}, 1, /*destination=*/3);  // not for this task
  SendBatch({4}, 3);              // number 2 is missing
  SendEnded(3);
  stream_manager_->Await([&] {
    auto confirmed = stream_manager_->Last<proto::EndedConfirmed>(proto::ENDED_CONFIRMED);
    return confirmed && confirmed->source_task() == 1 && confirmed->destination_task() == 2 &&
           confirmed->destination_epoch().incarnation() == 1;
  });
  AwaitPhase(TaskStatus::FINISH_REQUESTED);
  EXPECT_EQ(status_.executed(), 4u);
  EXPECT_EQ(status_.lost_batches(), 1u);
  EXPECT_EQ(status_.drop_reasons().at("stray"), 1u);
  SendGrant();
  SendGrant();
  proto::Ended ended = AwaitEnded();
  EXPECT_EQ(ended.destination_task(), 3);
  EXPECT_EQ(ended.last_number(), 1u);
  EXPECT_THAT(AwaitValues(1), ::testing::ElementsAre(10));
  Confirm(ended);
  AwaitPhase(TaskStatus::FINISHED);
}

TEST_F(GatewayTest, ABatchThatOvertakesTheFirstPlanIsNotLost) {
  Start("sum", 2);
  stream_manager_->AwaitSession();
  SendBatch({5}, 1);
  AwaitPhase(TaskStatus::REGISTERED);
  SendPlan(MakePlan());
  SendEnded(1);
  AwaitPhase(TaskStatus::FINISH_REQUESTED);
  EXPECT_EQ(status_.executed(), 1u);
  EXPECT_EQ(status_.lost_batches(), 0u);
}

TEST_F(GatewayTest, KeepsItsQueuesAndGoesOnWithANewStreamManager) {
  Start("sum", 2);
  Register();
  SendBatch({1, 2}, 1);
  AwaitPhase(TaskStatus::RUNNING);
  NewStreamManager({1, 1});
  SayWhereTheStreamManagerIs();
  Register();
  SendBatch({3}, 2);
  SendEnded(2);
  AwaitPhase(TaskStatus::FINISH_REQUESTED);
  EXPECT_EQ(status_.executed(), 3u);
  EXPECT_EQ(status_.lost_batches(), 0u);
}

TEST_F(GatewayTest, ASpoutWaitsWithoutAStreamManagerAndEndsWithTheNextOne) {
  count_ = 3'000'000;  // more than the queues hold
  Start("numbers", 1);
  Register();
  AwaitValues(1);
  NewStreamManager({1, 1});
  SayWhereTheStreamManagerIs();
  Register();
  proto::Ended ended = AwaitEnded();
  // The Ended was received in the lane of the batches, behind them.
  std::vector<int64_t> values;
  stream_manager_->Await([&] {
    values = Values();
    return true;
  });
  ASSERT_FALSE(values.empty());
  EXPECT_EQ(values.back(), count_ - 1);
  for (size_t i = 1; i < values.size(); ++i) ASSERT_EQ(values[i], values[i - 1] + 1);
  EXPECT_GT(ended.last_number(), 0u);
}

TEST_F(GatewayTest, ADroppedSessionIsDialledAgain) {
  Start("sum", 2);
  Register();
  AwaitPhase(TaskStatus::RUNNING);
  stream_manager_->DropSession();
  stream_manager_->Await([&] { return stream_manager_->sessions == 2; });
}

TEST_F(GatewayTest, AFinishedTaskRunsNoUserCode) {
  Start("sum", 2, {1, 1});
  stream_manager_->AwaitSession();
  proto::InstancePlan plan = MakePlan();
  plan.mutable_grant()->set_task(2);
  plan.mutable_grant()->set_finished(true);
  SendPlan(plan);
  proto::Ended ended = AwaitEnded();
  EXPECT_EQ(ended.last_number(), 0u);
  EXPECT_EQ(ended.source_epoch().restart(), 1u);
  Confirm(ended);
  AwaitPhase(TaskStatus::FINISHED);
}

TEST_F(GatewayTest, AnExceptionIsToldToTheExecutorBeforeTheExit) {
  Start("sum", 2);
  Register();
  SendBatch({-1}, 1);
  EXPECT_EQ(AwaitError(), "component 'sum', task 2, Execute: std::runtime_error: negative");
  EXPECT_EQ(ExitCode(), kExitUserError);
}

TEST_F(GatewayTest, ADefinitionThatDiffersEndsTheProcess) {
  Start("sum", 2);
  stream_manager_->AwaitSession();
  proto::InstancePlan plan = MakePlan();
  plan.mutable_topology()->set_described_sha256(std::string(32, 'x'));
  SendPlan(plan);
  EXPECT_THAT(AwaitError(), HasSubstr("builds another topology"));
  EXPECT_EQ(ExitCode(), kExitDefinitionDiffers);
}

TEST_F(GatewayTest, ANewerLifeOfTheTaskEndsTheProcess) {
  refusal_ = link::Refusal{proto::FENCED, "epoch 1.5 is known"};
  NewStreamManager({1, 0});
  Start("sum", 2);
  EXPECT_EQ(ExitCode(), kExitFenced);
}

TEST_F(GatewayTest, ATaskThatThePlanDoesNotHaveIsAnError) {
  Start("sum", 77);
  Register();
  EXPECT_THAT(AwaitError(), HasSubstr("no task 77"));
  EXPECT_EQ(ExitCode(), kExitError);
}

TEST_F(GatewayTest, UserCodeThatDoesNotComeBackIsLeftBehind) {
  TopologyBuilder& builder = builder_;
  builder.AddSpout("stuck", [this] { return Stuck(&entered_, &let_go_); }).Declares<int64_t>("n");
  Start("stuck", 4);
  Register();
  AwaitPhase(TaskStatus::RUNNING);
  stream_manager_->Await([&] { return entered_.load(); });
  Stop(kExitError);
  EXPECT_EQ(ExitCode(), kExitError);
  EXPECT_TRUE(stuck_);
}

TEST_F(GatewayTest, DamagedFramesDoNoHarm) {
  Start("sum", 2);
  Register();
  AwaitPhase(TaskStatus::RUNNING);
  for (uint16_t type : {20, 21, 25, 30, 31, 999}) {
    std::string frame(net::kFrameHeaderBytes, 0);
    net::EncodeFrameHeader({3, type}, frame.data());
    stream_manager_->SendFrame(proto::DATA, BufferSlice::Take(frame + "\xff\xff\xff"));
  }
  SendBatch({7}, 1);
  SendEnded(1);
  AwaitPhase(TaskStatus::FINISH_REQUESTED);
  EXPECT_EQ(status_.executed(), 1u);
}

}  // namespace
}  // namespace heron::instance
