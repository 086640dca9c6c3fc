// The whole server over loopback with a store in memory; executors and stream managers are sessions
// that the test plays.
#include "heron/topology_master/server.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "heron/base/exit_codes.h"
#include "heron/net/loop_driver.h"
#include "heron/state/memory_store.h"
#include "proto/container.pb.h"
#include "proto/frame.pb.h"
#include "proto/state.pb.h"

namespace heron::topology_master {
namespace {

using proto::ContainerPlan;
using proto::ExecutionState;
using proto::TaskStatus;

constexpr char kId[] = "words-1";

// A process that dials the master and keeps what it last said.
template <typename Message>
class Peer : public link::SessionHandler {
 public:
  Peer(net::EventLoop& loop, const link::TopologyCredentials& credentials, proto::Role role,
       ContainerId container, Epoch epoch) {
    link::SessionDialer::Options options;
    options.self = link::MakeIdentity(role, container, 0, epoch);
    options.callee = link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, {});
    options.credentials = credentials;
    options.lanes = {proto::CONTROL};
    dialer = link::SessionDialer::Make(loop, options, this);
  }
  void Dial(const proto::MasterLocation& at) {
    dialer->SetTarget(at.host(), static_cast<uint16_t>(at.port()),
                      link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, {at.mastership_epoch(), 0}));
  }
  void OnSessionUp(link::Session&) override { last.reset(); }
  void OnFrame(link::Session&, proto::Lane, net::Frame frame) override {
    Message message;
    ASSERT_TRUE(net::ParseBody(frame.body(), message).ok());
    last = std::move(message);
  }
  void OnSessionDown(link::Session&, const Status&) override { last.reset(); }

  std::optional<Message> last;
  std::unique_ptr<link::SessionDialer> dialer;
};

// The executor that started the master.
class ParentExecutor : public link::SessionHandler {
 public:
  ParentExecutor(net::EventLoop& loop, const link::TopologyCredentials& credentials) {
    link::SessionListener::Options options;
    options.self = link::MakeIdentity(proto::EXECUTOR, 0, 0, {});
    options.credentials = credentials;
    options.lanes[proto::TOPOLOGY_MASTER] = {proto::CONTROL};
    auto made = link::SessionListener::Listen(loop, options, this);
    CHECK(made.ok());
    listener = std::move(made).value();
  }
  void OnSessionUp(link::Session&) override { ++sessions; }
  void OnFrame(link::Session&, proto::Lane, net::Frame frame) override {
    proto::ChildReport report;
    if (net::ParseBody(frame.body(), report).ok()) reported_port = report.port();
  }
  void OnSessionDown(link::Session&, const Status&) override {}

  std::unique_ptr<link::SessionListener> listener;
  uint32_t reported_port = 0;
  int sessions = 0;
};

class ServerTest : public testing::Test {
 protected:
  ServerTest()
      : credentials_{"words", kId, std::string(32, 's')},
        parent_(loop_, credentials_),
        client_(state::MakeMemoryStore(tree_)),
        driver_(loop_) {
    Submit();
  }

  template <typename Message>
  void Put(const std::string& path, const Message& message) {
    auto old = client_->Get(path);
    const std::string bytes = message.SerializeAsString();
    if (old.ok()) {
      ASSERT_TRUE(client_->Set(path, bytes, old->version).ok());
    } else {
      ASSERT_TRUE(client_->Create(path, bytes).ok());
    }
  }
  void Desire(proto::DesiredState::Desire desire) {
    proto::DesiredState desired;
    desired.set_topology_id(kId);
    desired.set_desire(desire);
    Put(state::DesiredPath(key_), desired);
  }
  void Submit() {
    proto::SubmittedTopology submitted;
    submitted.set_topology_id(kId);
    submitted.set_name("words");
    auto* spout = submitted.mutable_topology()->add_components();
    spout->set_name("words");
    spout->set_kind(proto::SPOUT);
    spout->set_parallelism(1);
    spout->set_bounded(true);
    spout->add_outputs()->set_name("default");
    proto::PackingPlan packing;
    packing.set_version(1);
    auto* container = packing.add_containers();
    container->set_container(1);
    auto* task = container->add_tasks();
    task->set_task(1);
    task->set_component("words");
    Put(state::TopologyPath(key_), submitted);
    Put(state::PackingPlanPath(key_), packing);
    Desire(proto::DesiredState::ACTIVE);
  }
  void StartServer(settings::ProcessSettings settings = {}) {
    Options options;
    options.settings = settings;
    options.key = key_;
    options.topology_id = kId;
    options.executor_host = "127.0.0.1";
    options.executor_port = parent_.listener->port();
    server_ = std::make_unique<Server>(loop_, options, credentials_.secret,
                                       state::MakeMemoryStore(tree_),
                                       [this](int code) { exit_code_ = code; });
    const Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
    ASSERT_TRUE(Until([this] {
      auto lease = client_->ReadLease(state::MasterPath(key_));
      return lease.ok() && location_.ParseFromString(lease->payload) &&
             location_.mastership_epoch() == lease->epoch && location_.port() == server_->port();
    })) << "the location was not published";
  }
  ExecutionState State() {
    ExecutionState state;
    auto stored = client_->Get(state::ExecutionStatePath(key_));
    if (stored.ok()) state.ParseFromString(stored->value);
    return state;
  }
  bool Until(const std::function<bool()>& done) { return driver_.RunUntil(done); }

  const state::TopologyKey key_{"me", "test", "words"};
  const link::TopologyCredentials credentials_;
  net::EventLoop loop_;
  ParentExecutor parent_;
  std::shared_ptr<state::MemoryTree> tree_ = state::MakeMemoryTree();
  std::unique_ptr<state::StateStore> client_;
  net::LoopDriver driver_;
  proto::MasterLocation location_;
  std::optional<int> exit_code_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, TheTopologysHeartbeatTimeoutAndLeaseHold) {
  // The executor shows a sign of life each 500 ms only.
  StartServer({.heartbeat_interval_ms = 50, .heartbeat_timeout_ms = 150, .lease_ms = 60'000});
  EXPECT_TRUE(Until([&] { return parent_.sessions >= 3; }));
  // Renewed every third of the lease's time: not once in that of the default.
  auto lease = client_->ReadLease(state::MasterPath(key_));
  ASSERT_TRUE(lease.ok());
  const int sessions = parent_.sessions;
  EXPECT_TRUE(Until([&] { return parent_.sessions >= sessions + 3; }));
  EXPECT_EQ(client_->ReadLease(state::MasterPath(key_))->counter, lease->counter);
}

TEST_F(ServerTest, ATopologyRunsOutlivesItsMasterAndFinishes) {
  StartServer();
  EXPECT_TRUE(Until([&] { return parent_.reported_port == server_->port(); }));

  Peer<ContainerPlan> executor(loop_, credentials_, proto::EXECUTOR, 1, {});
  executor.Dial(location_);
  ASSERT_TRUE(Until([&] { return executor.dialer->session() != nullptr; }));
  proto::ExecutorReport report;
  report.set_container(1);
  report.set_nonce("0123456789abcdef");
  executor.dialer->session()->Send(proto::CONTROL, proto::EXECUTOR_REPORT, report);
  ASSERT_TRUE(Until(
      [&] { return executor.last && executor.last->command() == ContainerPlan::RUN; }));
  EXPECT_EQ(executor.last->incarnation(), 1u);
  EXPECT_EQ(executor.last->tasks_size(), 1);

  Peer<proto::MasterUpdate> manager(loop_, credentials_, proto::STREAM_MANAGER, 1, {1, 0});
  manager.Dial(location_);
  ASSERT_TRUE(Until([&] { return manager.dialer->session() != nullptr; }));
  proto::StreamManagerReport tasks;
  tasks.set_container(1);
  tasks.mutable_epoch()->set_incarnation(1);
  tasks.set_host("127.0.0.1");
  tasks.set_port(4711);
  auto* status = tasks.add_tasks();
  status->set_task(1);
  status->mutable_epoch()->set_incarnation(1);
  status->set_phase(TaskStatus::RUNNING);
  manager.dialer->session()->Send(proto::CONTROL, proto::STREAM_MANAGER_REPORT, tasks);
  ASSERT_TRUE(Until([&] { return manager.last && manager.last->active(); }));
  ASSERT_TRUE(Until([&] { return State().state() == ExecutionState::RUNNING; }));

  const uint64_t first_epoch = location_.mastership_epoch();
  server_.reset();
  StartServer();
  EXPECT_GT(location_.mastership_epoch(), first_epoch);
  executor.Dial(location_);
  manager.Dial(location_);
  ASSERT_TRUE(Until([&] {
    return executor.dialer->session() != nullptr && manager.dialer->session() != nullptr;
  }));
  report.set_incarnation(1);
  executor.dialer->session()->Send(proto::CONTROL, proto::EXECUTOR_REPORT, report);
  manager.dialer->session()->Send(proto::CONTROL, proto::STREAM_MANAGER_REPORT, tasks);
  ASSERT_TRUE(Until([&] { return manager.last && executor.last; }));
  EXPECT_TRUE(manager.last->active()) << "a new master does not stop the spouts";
  EXPECT_EQ(executor.last->incarnation(), 1u);

  status->set_phase(TaskStatus::FINISHED);
  manager.dialer->session()->Send(proto::CONTROL, proto::STREAM_MANAGER_REPORT, tasks);
  ASSERT_TRUE(Until([&] { return State().state() == ExecutionState::FINISHED; }));
  ASSERT_TRUE(Until(
      [&] { return executor.last && executor.last->command() == ContainerPlan::STOP; }));
  EXPECT_FALSE(exit_code_.has_value());
}

TEST_F(ServerTest, KillingEndsTheProcessAsNotWanted) {
  StartServer();
  Desire(proto::DesiredState::KILLING);
  ASSERT_TRUE(Until([&] { return exit_code_.has_value(); }));
  EXPECT_EQ(*exit_code_, kExitNotWanted);
}

TEST_F(ServerTest, TheSecondMasterWaitsUntilTheFirstIsGone) {
  StartServer();
  ASSERT_TRUE(Until([&] { return State().mastership_epoch() == location_.mastership_epoch(); }));
  std::unique_ptr<Server> first = std::move(server_);
  const proto::MasterLocation before = location_;

  Options options;
  options.key = key_;
  options.topology_id = kId;
  options.executor_host = "127.0.0.1";
  options.executor_port = parent_.listener->port();
  server_ = std::make_unique<Server>(loop_, options, credentials_.secret,
                                     state::MakeMemoryStore(tree_), [](int) {});
  ASSERT_TRUE(server_->Start().ok());
  ASSERT_TRUE(Until([&] { return parent_.reported_port == server_->port(); }));
  auto lease = client_->ReadLease(state::MasterPath(key_));
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(lease->epoch, before.mastership_epoch());

  // Whoever wants a master of that epoch is refused by the one that waits.
  proto::MasterLocation wrong = before;
  wrong.set_port(server_->port());
  std::optional<proto::RefusalReason> refused;
  Peer<ContainerPlan> executor(loop_, credentials_, proto::EXECUTOR, 1, {});
  link::SessionDialer::Options dial;
  dial.self = link::MakeIdentity(proto::EXECUTOR, 1, 0, {});
  dial.callee = link::MakeIdentity(proto::TOPOLOGY_MASTER, 0, 0, {});
  dial.credentials = credentials_;
  dial.lanes = {proto::CONTROL};
  dial.on_refused = [&](const proto::Refused& why) { refused = why.reason(); };
  executor.dialer = link::SessionDialer::Make(loop_, dial, &executor);
  executor.Dial(wrong);
  ASSERT_TRUE(Until([&] { return refused.has_value(); }));
  EXPECT_EQ(*refused, proto::WRONG_CALLEE);

  first.reset();
  ASSERT_TRUE(Until([&] { return State().mastership_epoch() > before.mastership_epoch(); }));
}

}  // namespace
}  // namespace heron::topology_master
