// Starting, registering, incarnations, and what users want.
#include <gtest/gtest.h>

#include "heron/base/exit_codes.h"
#include "heron/topology_master/core/master_fixture.h"

namespace heron::topology_master {
namespace {

using proto::ContainerPlan;
using proto::DesiredState;
using proto::ExecutionState;
using proto::TaskStatus;

TEST_F(MasterFixture, StartsTasksInSparseContainersAndRunsWhenAllAreOpen) {
  NewMaster(1);
  EXPECT_EQ(store.plan().version(), 1u);
  EXPECT_EQ(store.plan().containers_size(), 3);
  EXPECT_EQ(store.state().state(), ExecutionState::STARTING);
  EXPECT_NE(store.state().waiting_for().find("0 of 3 containers, 0 of 7 tasks registered"),
            std::string::npos)
      << store.state().waiting_for();

  ConnectAllExecutors();
  for (ContainerId container : kContainers) {
    EXPECT_EQ(PlanOf(container).command(), ContainerPlan::RUN);
    EXPECT_EQ(PlanOf(container).incarnation(), 1u);
    EXPECT_EQ(store.incarnation(container), 1u);
  }
  ASSERT_EQ(PlanOf(2).tasks_size(), 3);
  EXPECT_EQ(PlanOf(2).tasks(1).task(), 4);
  EXPECT_EQ(PlanOf(2).tasks(1).component(), "split");
  EXPECT_EQ(PlanOf(2).tasks(1).component_index(), 1);

  for (ContainerId container : kContainers) ConnectManager(container);
  for (TaskId task = 1; task <= 7; ++task) {
    if (task != 5) Say(task, TaskStatus::REGISTERED);
  }
  EXPECT_EQ(UpdateOf(2).topology().topology_id(), kTopologyId);
  EXPECT_EQ(UpdateOf(2).plan().version(), store.plan().version());
  ASSERT_EQ(UpdateOf(2).addresses_size(), 3);
  EXPECT_EQ(UpdateOf(2).addresses(1).port(), 4005u);
  EXPECT_FALSE(UpdateOf(2).active()) << "task 5 has not registered";
  EXPECT_EQ(store.state().waiting_for().find("3 of 3 containers, 6 of 7 tasks registered"), 0u)
      << store.state().waiting_for();
  EXPECT_NE(store.state().waiting_for().find("not registered: split[2] (task 5)"),
            std::string::npos);

  Say(5, TaskStatus::REGISTERED);
  EXPECT_TRUE(UpdateOf(2).active());
  EXPECT_TRUE(UpdateOf(9).active());
  EXPECT_EQ(store.state().state(), ExecutionState::STARTING);
  for (TaskId task = 1; task <= 6; ++task) Say(task, TaskStatus::RUNNING);
  EXPECT_NE(store.state().waiting_for().find("has not returned: count[1] (task 7)"),
            std::string::npos)
      << store.state().waiting_for();
  Say(7, TaskStatus::RUNNING);
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  EXPECT_EQ(store.state().waiting_for(), "");
  EXPECT_EQ(store.state().containers_size(), 4);
  EXPECT_TRUE(store.state().containers(1).executor_connected());
  EXPECT_TRUE(store.state().containers(1).stream_manager_connected());
  EXPECT_EQ(store.state().incomplete_size(), 0);
}

TEST_F(MasterFixture, SaysWhatARunningTopologyLacks) {
  StartAll();
  master->Run(std::chrono::seconds(4));
  EXPECT_EQ(store.state().waiting_for(), "");
  DisconnectExecutor(5);
  master->core().OnStreamManagerDown(master->Now(), manager_session[5]);
  master->Run(std::chrono::seconds(1));
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  EXPECT_EQ(store.state().waiting_for(), "container 5 has no executor");
  EXPECT_EQ(store.state().tasks(1).phase(), TaskStatus::DOWN) << "task 2 lives there";
  Say(1, TaskStatus::DOWN);
  EXPECT_EQ(store.state().waiting_for(),
            "container 5 has no executor, not connected: words[0] (task 1)");
}

TEST_F(MasterFixture, SaysSinceWhenATaskIsAsItIsAndHowItDied) {
  StartAll();
  const auto facts = [this](TaskId task) { return store.state().facts(task - 1); };
  const int64_t running_since = facts(4).phase_since_unix_ms();
  const int64_t counted_since = facts(4).counted_since_unix_ms();
  auto* child = executors[2].add_children();
  child->set_task(4);
  child->set_pid(77);
  child->set_running(true);
  ReportExecutor(2);
  Status(4)->set_executed(5);
  Status(4)->add_held_by(6);
  master->Run(std::chrono::seconds(2));
  Say(4, TaskStatus::RUNNING);
  master->Run(std::chrono::seconds(2));
  EXPECT_EQ(facts(4).phase_since_unix_ms(), running_since);
  EXPECT_GT(facts(4).counted_since_unix_ms(), counted_since);
  EXPECT_EQ(facts(4).pid(), 77);
  EXPECT_EQ(store.state().tasks(3).held_by(0), 6);

  AddFailure(4, {1, 0}, std::string(3000, 'x'));
  AddFailure(4, {1, 1}, "boom");
  executors[2].mutable_children(0)->set_running(false);
  ReportExecutor(2);
  master->Run(std::chrono::seconds(1));
  EXPECT_EQ(facts(4).failures_in_a_row(), 2u);
  EXPECT_EQ(facts(4).last_failure().reason(), "boom");
  EXPECT_EQ(facts(4).pid(), 0);
  Status(4)->set_executed(1);
  Say(4, TaskStatus::RUNNING, {1, 2});
  master->Run(std::chrono::seconds(2));
  EXPECT_EQ(facts(4).failures_in_a_row(), 0u) << "it gets on again";
  EXPECT_EQ(facts(4).failures(), 2u);
  EXPECT_GT(facts(4).phase_since_unix_ms(), running_since);
}

TEST_F(MasterFixture, TheExecutorOfContainerZeroRunsWithoutTasks) {
  NewMaster(1);
  ConnectExecutor(0, "zero");
  EXPECT_EQ(PlanOf(0).command(), ContainerPlan::RUN);
  EXPECT_EQ(PlanOf(0).tasks_size(), 0);
  const SessionId first = executor_session[0];
  ConnectExecutor(0, "another");
  EXPECT_EQ(PlanOf(0).command(), ContainerPlan::RUN);
  EXPECT_EQ(master->plan(first).command(), ContainerPlan::FENCED);
}

TEST_F(MasterFixture, AContainerOutsideThePlanIsNotWanted) {
  NewMaster(1);
  ConnectExecutor(3, "stranger");
  EXPECT_EQ(PlanOf(3).command(), ContainerPlan::NOT_WANTED);
  EXPECT_NE(PlanOf(3).text().find("container 3"), std::string::npos);
  EXPECT_EQ(store.plan().incarnations_size(), 0);
}

TEST_F(MasterFixture, AReconnectKeepsTheIncarnationAndANewExecutorGetsTheNext) {
  NewMaster(1);
  ConnectExecutor(5, "a");
  DisconnectExecutor(5);
  ConnectExecutor(5, "a", 1);
  EXPECT_EQ(PlanOf(5).incarnation(), 1u);
  const int writes = store.writes(Node::kPhysicalPlan);
  DisconnectExecutor(5);
  ConnectExecutor(5, "a", 0);  // it had not heard its number
  EXPECT_EQ(PlanOf(5).incarnation(), 1u);
  EXPECT_EQ(store.writes(Node::kPhysicalPlan), writes);

  const SessionId old = executor_session[5];
  ConnectExecutor(5, "b");
  EXPECT_EQ(PlanOf(5).command(), ContainerPlan::RUN);
  EXPECT_EQ(PlanOf(5).incarnation(), 2u);
  EXPECT_EQ(master->plan(old).command(), ContainerPlan::FENCED);

  master->core().OnExecutorDown(master->Now(), old);
  ConnectExecutor(5, "a", 1);
  EXPECT_EQ(PlanOf(5).command(), ContainerPlan::FENCED);
  EXPECT_EQ(store.incarnation(5), 2u);
}

TEST_F(MasterFixture, AnIncarnationIsNotSaidBeforeItIsStored) {
  NewMaster(1);
  const SessionId id = ++last_session;
  master->core().OnExecutorUp(master->Now(), id, 2);
  master->core().OnExecutorReport(master->Now(), id, MakeExecutorReport(2, "a", 0));
  clock.Advance(std::chrono::milliseconds(50));
  master->core().OnTick(master->Now());
  ASSERT_TRUE(master->HasOperation());
  EXPECT_EQ(master->plan(id).command(), ContainerPlan::WAIT);
  master->Run();
  EXPECT_EQ(master->plan(id).command(), ContainerPlan::RUN);
}

TEST_F(MasterFixture, NothingHappensWhileTheSubmitIsUnderWay) {
  store.Desire(DesiredState::SUBMITTING);
  NewMaster(1);
  ConnectExecutor(2, "a");
  EXPECT_EQ(PlanOf(2).command(), ContainerPlan::WAIT);
  EXPECT_EQ(master->writes_started, 0);
  store.Desire(DesiredState::ACTIVE);
  master->core().OnDesiredChanged(master->Now());
  master->Run();
  EXPECT_EQ(PlanOf(2).command(), ContainerPlan::RUN);
}

TEST_F(MasterFixture, DeactivateAndActivate) {
  StartAll();
  EXPECT_TRUE(UpdateOf(5).active());
  store.Desire(DesiredState::INACTIVE);
  master->core().OnDesiredChanged(master->Now());
  master->Run();
  EXPECT_FALSE(UpdateOf(5).active());
  EXPECT_EQ(store.state().state(), ExecutionState::INACTIVE);
  store.Desire(DesiredState::ACTIVE);
  master->Run(std::chrono::seconds(3));  // without a hint: it looks now and then
  EXPECT_TRUE(UpdateOf(5).active());
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
}

TEST_F(MasterFixture, SubmittedInactiveStaysInactive) {
  store.Desire(DesiredState::INACTIVE);
  NewMaster(1);
  ConnectAllExecutors();
  for (ContainerId container : kContainers) ConnectManager(container);
  SayAll(TaskStatus::REGISTERED);
  EXPECT_EQ(store.state().state(), ExecutionState::STARTING);
  SayAll(TaskStatus::RUNNING);
  EXPECT_FALSE(UpdateOf(2).active());
  EXPECT_EQ(store.state().state(), ExecutionState::INACTIVE);
}

TEST_F(MasterFixture, KillingEndsTheMasterAsNotWanted) {
  StartAll();
  store.Desire(DesiredState::KILLING);
  master->core().OnDesiredChanged(master->Now());
  master->Run();
  EXPECT_EQ(master->exit_code, kExitNotWanted);
  const int writes = master->writes_started;
  Say(3, TaskStatus::DOWN);
  EXPECT_EQ(master->writes_started, writes) << "it goes on after its end";
}

TEST_F(MasterFixture, AForeignTopologyIdEndsTheMasterEvenWithoutTheLease) {
  StartAll();
  master->core().OnLeaseLost(master->Now());
  store.Desire(DesiredState::ACTIVE, "words-2");
  master->Run(std::chrono::seconds(3));
  EXPECT_EQ(master->exit_code, kExitNotWanted);
  EXPECT_NE(master->exit_text.find("words-2"), std::string::npos);
}

TEST_F(MasterFixture, ATopologyThatIsGoneEndsTheMaster) {
  store.Remove(Node::kDesired);
  NewMaster(1);
  EXPECT_EQ(master->exit_code, kExitNotWanted);
}

TEST_F(MasterFixture, PlanAndStateOfAnEarlierTopologyOfThisNameAreReplaced) {
  proto::PhysicalPlan old_plan;
  old_plan.set_topology_id("words-0");
  old_plan.set_version(9);
  store.Put(Node::kPhysicalPlan, old_plan);
  ExecutionState old_state;
  old_state.set_topology_id("words-0");
  old_state.set_state(ExecutionState::INACTIVE);
  store.Put(Node::kExecutionState, old_state);
  NewMaster(1);
  EXPECT_EQ(store.plan().topology_id(), kTopologyId);
  EXPECT_EQ(store.state().topology_id(), kTopologyId);
  EXPECT_EQ(store.state().state(), ExecutionState::STARTING);
}

TEST_F(MasterFixture, APlanThatDoesNotFitTheTopologyFailsItWithTheReason) {
  proto::PackingPlan packing;
  auto* container = packing.add_containers();
  container->set_container(1);
  auto* task = container->add_tasks();
  task->set_task(1);
  task->set_component("no such component");
  store.Put(Node::kPackingPlan, packing);
  NewMaster(1);
  EXPECT_EQ(store.state().state(), ExecutionState::FAILED);
  EXPECT_NE(store.state().reason().find("no such component"), std::string::npos)
      << store.state().reason();
  ConnectExecutor(1, "a");
  EXPECT_EQ(PlanOf(1).command(), ContainerPlan::STOP);
}

TEST_F(MasterFixture, AStreamManagerThatRestartsIsFoundAtItsNewPort) {
  StartAll();
  master->core().OnStreamManagerDown(master->Now(), manager_session[5]);
  master->Run();
  EXPECT_FALSE(store.state().containers(2).stream_manager_connected());
  EXPECT_TRUE(UpdateOf(2).active()) << "active stays across restarts";
  ConnectManager(5, {1, 1}, 5555);
  master->Run();
  EXPECT_EQ(UpdateOf(2).addresses(1).port(), 5555u);
  EXPECT_EQ(UpdateOf(2).addresses(1).epoch().restart(), 1u);

  // A report of the dead one that comes late moves nothing.
  ConnectManager(5, {1, 0}, 4005);
  master->Run();
  EXPECT_EQ(UpdateOf(2).addresses(1).port(), 5555u);
}

TEST_F(MasterFixture, ThePlanIsSentOnlyWhenItsVersionChanged) {
  StartAll();
  managers[2].set_plan_version(store.plan().version());
  ReportManager(2);
  const int before = master->updates_with_plan[manager_session[2]];
  master->Run(std::chrono::seconds(10));
  EXPECT_EQ(master->updates_with_plan[manager_session[2]], before);
  ConnectExecutor(9, "another");
  EXPECT_EQ(master->updates_with_plan[manager_session[2]], before + 1);
  EXPECT_EQ(UpdateOf(2).plan().version(), store.plan().version());
}

TEST_F(MasterFixture, EveryoneHearsTheMasterEachHeartbeatInterval) {
  StartAll();
  int plans = 0, updates = 0;
  master->on_plan = [&](SessionId, const ContainerPlan&) { ++plans; };
  master->on_update = [&](SessionId, const proto::MasterUpdate&) { ++updates; };
  master->Run(std::chrono::milliseconds(5000));
  EXPECT_GE(plans, 3 * 9);
  EXPECT_GE(updates, 3 * 9);
  EXPECT_LE(updates, 3 * 11);
}

TEST_F(MasterFixture, ShownChangesAreWrittenAboutFourTimesASecondAndCountersOnce) {
  StartAll();
  master->Run(std::chrono::seconds(2));
  int writes = store.writes(Node::kExecutionState);
  for (int i = 0; i < 100; ++i) {  // two seconds
    Status(3)->set_executed(static_cast<uint64_t>(i) + 1);
    ReportManager(9);
    master->Run(std::chrono::milliseconds(20));
  }
  EXPECT_LE(store.writes(Node::kExecutionState) - writes, 3);
  EXPECT_GE(store.writes(Node::kExecutionState) - writes, 2);
  writes = store.writes(Node::kExecutionState);
  for (int i = 0; i < 100; ++i) {
    Status(3)->set_phase(i % 2 == 0 ? TaskStatus::DOWN : TaskStatus::RUNNING);
    ReportManager(9);
    master->Run(std::chrono::milliseconds(20));
  }
  EXPECT_LE(store.writes(Node::kExecutionState) - writes, 9);
  writes = store.writes(Node::kExecutionState);
  master->Run(std::chrono::seconds(5));
  EXPECT_LE(store.writes(Node::kExecutionState) - writes, 1) << "nothing changes";
}

}  // namespace
}  // namespace heron::topology_master
