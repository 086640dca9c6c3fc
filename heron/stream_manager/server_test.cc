// Real servers over loopback with a fake topology master, executors and instances, in one event loop.
#include "heron/stream_manager/server.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "heron/base/exit_codes.h"
#include "heron/state/state_store.h"
#include "heron/stream_manager/link_fakes.h"

namespace heron::stream_manager {
namespace {

constexpr size_t kHighBytes = 1u << 20;

// Task 1: a spout in container 1. Bolts: task 2 in container 2, task 3 in container 1.
proto::MasterUpdate Update() {
  proto::MasterUpdate update = MakeUpdate({{"s", 1}, {"b", 2}, {"b", 1}});
  (*update.mutable_topology()->mutable_topology()->mutable_config())["topology.queue.high.bytes"] =
      std::to_string(kHighBytes);
  return update;
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    auto store = state::OpenStateStore("memory:");
    CHECK(store.ok());
    store_ = std::move(store).value();
    master_ = std::make_unique<FakeMaster>(loop_, Update());
    lease_ = store_->Contend(state::MasterPath(key_), {master_->LeasePayload()}, {});
  }

  std::unique_ptr<Server> MakeServer(ContainerId container, Epoch epoch = {1, 0}) {
    auto& executor = executors_[container];
    if (executor == nullptr) executor = std::make_unique<FakeExecutor>(loop_, container);
    Options options;
    options.topology = key_;
    options.topology_id = kTestTopologyId;
    options.container = container;
    options.executor_host = "127.0.0.1";
    options.executor_port = executor->port();
    options.epoch = epoch;
    options.settings = settings_;
    auto server = std::make_unique<Server>(loop_, options, TestCredentials().secret, store_,
                                           [this](int code) { exit_code_ = code; });
    const Status started = server->Start();
    CHECK(started.ok()) << started.ToString();
    return server;
  }

  // Both containers, all instances, everything connected.
  void StartAll() {
    server1_ = MakeServer(1);
    server2_ = MakeServer(2);
    spout_.Dial(server1_->port());
    near_.Dial(server1_->port());
    far_.Dial(server2_->port());
    ASSERT_TRUE(RunUntil(loop_, [&] {
      return !spout_.plans.empty() && !near_.plans.empty() && !far_.plans.empty() &&
             UpTasks(spout_.states) == 3 && UpTasks(far_.states) == 3;
    }));
  }

  static int UpTasks(const proto::TaskStates& states) {
    int up = 0;
    for (const auto& task : states.tasks()) up += task.up() ? 1 : 0;
    return up;
  }
  static bool Contiguous(const std::vector<uint64_t>& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] != i + 1) return false;
    }
    return true;
  }

  net::EventLoop loop_;
  const state::TopologyKey key_{"me", "test", "test"};
  std::shared_ptr<state::StateStore> store_;
  std::unique_ptr<FakeMaster> master_;
  std::unique_ptr<state::Lease> lease_;
  std::map<ContainerId, std::unique_ptr<FakeExecutor>> executors_;
  FakeInstance spout_{loop_, 1, 1};
  FakeInstance far_{loop_, 2, 2};
  FakeInstance near_{loop_, 1, 3};
  settings::ProcessSettings settings_;
  int exit_code_ = -1;
  std::unique_ptr<Server> server1_;
  std::unique_ptr<Server> server2_;
};

TEST_F(ServerTest, DataEndAndConfirmationsReachTheirTasksWithOrWithoutAMaster) {
  StartAll();
  EXPECT_EQ(executors_[1]->reports.back().port(), server1_->port());
  EXPECT_EQ(master_->reports[2].port(), server2_->port());
  ASSERT_TRUE(RunUntil(loop_, [&] {
    return master_->reports[1].tasks_size() == 2 && master_->reports[1].peers_connected_size() == 1;
  }));
  EXPECT_EQ(spout_.plans[0].topology().topology_id(), kTestTopologyId);

  master_->update.set_active(true);
  master_->Publish();
  ASSERT_TRUE(RunUntil(loop_, [&] { return spout_.plans.back().active(); }));

  const auto send = [&](uint64_t from, uint64_t to) {
    for (uint64_t i = from; i <= to; ++i) {
      spout_.Send(BatchFrame(1, 2, i, 1'000));
      spout_.Send(BatchFrame(1, 3, i, 1'000));
    }
  };
  send(1, 500);
  ASSERT_TRUE(RunUntil(
      loop_, [&] { return far_.numbers.size() == 500 && near_.numbers.size() == 500; }));

  master_.reset();  // and the lease is not renewed by anybody who listens
  send(501, 1'000);
  spout_.Send(EndedFrame(1, 2, 1'000));
  spout_.Send(EndedFrame(1, 3, 1'000));
  ASSERT_TRUE(RunUntil(loop_, [&] { return far_.ended == 1 && near_.ended == 1; }));
  EXPECT_EQ(far_.numbers.size(), 1'000u);
  EXPECT_EQ(near_.numbers.size(), 1'000u);
  EXPECT_TRUE(Contiguous(far_.numbers));
  EXPECT_TRUE(Contiguous(near_.numbers));
  far_.Send(ConfirmedFrame(1, 2), proto::ACK);
  near_.Send(ConfirmedFrame(1, 3), proto::ACK);
  ASSERT_TRUE(RunUntil(loop_, [&] { return spout_.confirmed == 2; }));
}

TEST_F(ServerTest, AStoppedConsumerInAnotherContainerHoldsTheProducerBackAndLosesNothing) {
  StartAll();
  far_.session()->PauseReading(proto::DATA);
  uint64_t sent = 0;
  const net::TimerId producer = loop_.RunEvery(std::chrono::microseconds(200), [&] {
    while (spout_.session()->QueuedBytes(proto::DATA) < (256u << 10)) {
      spout_.Send(BatchFrame(1, 2, ++sent, 16'000));
    }
  });
  // The spout's own send queue stays full: its lane is not read.
  ASSERT_TRUE(RunUntil(loop_, [&] { return server1_->core().router().feeders().IsBlocked(1); }));
  ASSERT_TRUE(RunUntil(loop_, [&] { return server2_->core().router().IsStopped(2); }));
  EXPECT_LT(server2_->core().router().QueuedBytes(2), 2 * kHighBytes);
  const uint64_t when_stopped = sent;
  EXPECT_LT(when_stopped * 16'000, 4 * kHighBytes);
  loop_.CancelTimer(producer);

  far_.session()->ResumeReading(proto::DATA);
  ASSERT_TRUE(RunUntil(loop_, [&] { return far_.numbers.size() == sent; }));
  EXPECT_TRUE(Contiguous(far_.numbers));
  EXPECT_FALSE(server1_->core().router().feeders().IsBlocked(1));
  EXPECT_FALSE(server2_->core().router().IsStopped(2));
}

TEST_F(ServerTest, ARestartedStreamManagerIsFoundByPeersAndInstances) {
  StartAll();
  server2_.reset();
  ASSERT_TRUE(RunUntil(loop_, [&] { return UpTasks(spout_.states) == 2; }));
  spout_.Send(BatchFrame(1, 2, 1));  // held
  server2_ = MakeServer(2, {1, 1});
  far_.Dial(server2_->port());
  ASSERT_TRUE(RunUntil(loop_, [&] { return far_.numbers.size() == 1; }));
  ASSERT_TRUE(RunUntil(loop_, [&] {
    return UpTasks(far_.states) == 3 && UpTasks(spout_.states) == 3;
  }));
  EXPECT_EQ(near_.downs + spout_.downs, 0) << "the other container kept its sessions";
}

TEST_F(ServerTest, ATaskOfAnotherContainerIsRefused) {
  StartAll();
  FakeInstance stray(loop_, 1, 2);
  stray.Dial(server1_->port());
  ASSERT_TRUE(RunUntil(loop_, [&] { return stray.refusals > 0; }));
  EXPECT_EQ(stray.session(), nullptr);
}

TEST_F(ServerTest, TheTopologysHeartbeatTimeoutHolds) {
  // The executor shows a sign of life each 500 ms only.
  settings_ = {.heartbeat_interval_ms = 50, .heartbeat_timeout_ms = 150};
  server1_ = MakeServer(1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return executors_[1]->sessions >= 3; }));
}

TEST_F(ServerTest, ExitsAsFencedWhenTheMasterSaysSo) {
  master_->fence = true;
  server1_ = MakeServer(1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return exit_code_ != -1; }));
  EXPECT_EQ(exit_code_, kExitFenced);
}

TEST_F(ServerTest, AMasterOfAnotherTopologyUnderTheSameNameIsNotCalled) {
  lease_->SetPayload(master_->LeasePayload("test-other"));
  ASSERT_TRUE(RunUntil(loop_, [&] {
    auto lease = store_->ReadLease(state::MasterPath(key_));
    return lease.ok() && lease->payload == master_->LeasePayload("test-other");
  }));
  server1_ = MakeServer(1);
  ASSERT_TRUE(RunUntil(loop_, [&] { return !executors_[1]->reports.empty(); }));
  EXPECT_TRUE(master_->reports.empty());
  lease_->SetPayload(master_->LeasePayload());
  ASSERT_TRUE(RunUntil(loop_, [&] { return master_->reports.contains(1); }));
}

}  // namespace
}  // namespace heron::stream_manager
