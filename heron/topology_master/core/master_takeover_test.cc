// Leases lost and gained, writes whose answer was lost, two masters at once, and size.
#include <gtest/gtest.h>

#include <ctime>

#include "heron/topology_master/core/master_fixture.h"

namespace heron::topology_master {
namespace {

using proto::ContainerPlan;
using proto::DesiredState;
using proto::ExecutionState;
using proto::TaskStatus;

// Sanitizers take their share.
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
constexpr double kCpuLimit = 20;
#else
constexpr double kCpuLimit = 2;
#endif

TEST_F(MasterFixture, ANewMasterUsesTheStoredPlanAndDoesNotStopTheSpouts) {
  StartAll();
  const std::string plan = store.plan().SerializeAsString();
  NewMaster(2);
  EXPECT_EQ(store.plan().SerializeAsString(), plan);
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  // Only one stream manager is back.
  ConnectManager(2);
  master->Run();
  EXPECT_TRUE(UpdateOf(2).active());
  EXPECT_EQ(UpdateOf(2).mastership_epoch(), 2u);
  EXPECT_EQ(UpdateOf(2).addresses_size(), 1);
  ReconnectAll();
  for (ContainerId container : kContainers) {
    EXPECT_EQ(PlanOf(container).command(), ContainerPlan::RUN);
    EXPECT_EQ(PlanOf(container).incarnation(), 1u);
    EXPECT_EQ(UpdateOf(container).addresses_size(), 3);
  }
}

TEST_F(MasterFixture, WithoutTheLeaseItRepeatsAndChangesNothing) {
  StartAll();
  master->core().OnLeaseLost(master->Now());
  const int writes = master->writes_started;
  int updates = 0;
  master->on_update = [&](SessionId, const proto::MasterUpdate& update) {
    ++updates;
    EXPECT_TRUE(update.active());
    EXPECT_EQ(update.mastership_epoch(), 1u);
  };
  store.Desire(DesiredState::INACTIVE);
  Say(3, TaskStatus::FINISH_REQUESTED);
  ConnectExecutor(5, "another");
  master->Run(std::chrono::seconds(3));
  EXPECT_EQ(master->writes_started, writes);
  EXPECT_EQ(PlanOf(5).command(), ContainerPlan::WAIT);
  EXPECT_GE(updates, 9);

  master->on_update = nullptr;
  master->Gain(2);
  EXPECT_EQ(PlanOf(5).command(), ContainerPlan::RUN);
  EXPECT_EQ(PlanOf(5).incarnation(), 2u);
  EXPECT_EQ(PlanOf(5).mastership_epoch(), 2u);
  EXPECT_FALSE(UpdateOf(2).active());
  EXPECT_EQ(store.state().state(), ExecutionState::INACTIVE);
  EXPECT_EQ(store.grant(3), nullptr) << "deactivated";
  store.Desire(DesiredState::ACTIVE);
  master->core().OnDesiredChanged(master->Now());
  master->Run();
  EXPECT_NE(store.grant(3), nullptr);
}

TEST_F(MasterFixture, AWriteWhoseAnswerWasLostIsReadBackAndNotRepeated) {
  StartAll();
  int trouble = 1;
  master->fate = [&](Node node) {
    return node == Node::kExecutionState && trouble-- > 0 ? Fate::kStoredButAnswerLost
                                                          : Fate::kStored;
  };
  AddFailure(4, {1, 0}, "boom", 10, true);
  ReportExecutor(2);
  master->Run(std::chrono::seconds(1));
  EXPECT_EQ(store.state().failures_size(), 1);
  EXPECT_EQ(store.state().restarts(), 1u);
  EXPECT_EQ(store.state().incomplete_size(), 1);
  EXPECT_EQ(PlanOf(2).acknowledged_failure(), 1u);
}

TEST_F(MasterFixture, AnIncarnationWhoseAnswerWasLostStaysTheSame) {
  NewMaster(1);
  int trouble = 1;
  master->fate = [&](Node node) {
    return node == Node::kPhysicalPlan && trouble-- > 0 ? Fate::kStoredButAnswerLost
                                                        : Fate::kStored;
  };
  ConnectExecutor(5, "a");
  master->Run(std::chrono::seconds(1));
  EXPECT_EQ(PlanOf(5).command(), ContainerPlan::RUN);
  EXPECT_EQ(PlanOf(5).incarnation(), 1u);
}

TEST_F(MasterFixture, AGrantIsNotSaidWhileTheStoreRefusesIt) {
  StartAll();
  master->fate = [](Node) { return Fate::kNotStored; };
  Say(3, TaskStatus::FINISH_REQUESTED);
  master->Run(std::chrono::seconds(5));
  EXPECT_EQ(UpdateOf(9).grants_size(), 0);
  EXPECT_TRUE(UpdateOf(9).active()) << "everything else goes on";
  master->fate = nullptr;
  master->Run(std::chrono::seconds(3));
  EXPECT_EQ(UpdateOf(9).grants_size(), 1);
}

TEST_F(MasterFixture, TheStoppedOldMasterLosesItsWriteAndReadsAgain) {
  StartAll();
  std::unique_ptr<MasterUnderTest> old = std::move(master);
  auto old_executors = executor_session;
  NewMaster(2);
  ReconnectAll();
  Say(3, TaskStatus::FINISH_REQUESTED, {1, 0});
  ASSERT_NE(store.grant(3), nullptr);

  // The old one wakes up and wants to grant a later life, of which it alone has heard.
  auto report = managers[9];
  for (auto& status : *report.mutable_tasks()) {
    if (status.task() == 3) {
      status.set_phase(TaskStatus::FINISH_REQUESTED);
      SetEpoch({1, 1}, status.mutable_epoch());
    }
  }
  const SessionId id = ++last_session;
  old->core().OnStreamManagerUp(old->Now(), id, 9);
  old->core().OnStreamManagerReport(old->Now(), id, report);
  old->Run(std::chrono::seconds(1));
  EXPECT_EQ(EpochOf(store.grant(3)->finish_granted()), (Epoch{1, 0}));
  for (const auto& grant : old->update(id).grants()) {
    EXPECT_EQ(EpochOf(grant.finish_granted()), (Epoch{1, 0}));
  }
}

TEST_F(MasterFixture, ManyChangesAreOneWrite) {
  StartAll();
  master->Run(std::chrono::seconds(2));
  const int writes = store.writes(Node::kExecutionState);
  for (TaskId task = 3; task <= 7; ++task) Status(task)->set_phase(TaskStatus::FINISH_REQUESTED);
  for (ContainerId container : kContainers) ReportManager(container);
  master->Run(std::chrono::milliseconds(100));
  EXPECT_EQ(store.state().grants_size(), 5);
  EXPECT_LE(store.writes(Node::kExecutionState) - writes, 2);
}

TEST(MasterSize, TenThousandTasksInThreeHundredContainersArePlannedInTwoSecondsOfCpu) {
  ManualClock clock;
  StoreModel store;
  std::vector<ContainerId> containers;
  for (int i = 1; i <= 333; ++i) containers.push_back(i);
  store.Submit({{"words", 2000}, {"split", 4000}, {"count", 4000}}, containers);
  MasterUnderTest master(&store, &clock);
  master.check_sent_is_stored = false;
  const std::clock_t begin = std::clock();
  master.Gain(1);
  SessionId session = 0;
  for (ContainerId id : containers) {
    master.core().OnExecutorUp(master.Now(), ++session, id);
    master.core().OnExecutorReport(master.Now(), session,
                                   MakeExecutorReport(id, "n" + std::to_string(id), 0));
    if (id % 20 == 0) master.Run(std::chrono::milliseconds(20));
  }
  master.Run(std::chrono::seconds(1));
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  for (SessionId id = 1; id <= session; ++id) {
    ASSERT_EQ(master.plan(id).command(), ContainerPlan::RUN) << id;
    ASSERT_GE(master.plan(id).tasks_size(), 30);
  }
  EXPECT_LT(seconds, kCpuLimit);
  EXPECT_LE(store.writes(Node::kPhysicalPlan), 40) << "registrations are gathered";
}

}  // namespace
}  // namespace heron::topology_master
