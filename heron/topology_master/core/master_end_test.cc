// The end of a topology: grants, finished tasks, FINISHED, FAILED and what was lost on the way.
#include <gtest/gtest.h>

#include "heron/base/exit_codes.h"
#include "heron/topology_master/core/master_fixture.h"

namespace heron::topology_master {
namespace {

using proto::ContainerPlan;
using proto::ExecutionState;
using proto::TaskStatus;

TEST_F(MasterFixture, FinishIsGrantedOnceAndTheTopologyEndsWhenAllHaveFinished) {
  StartAll();
  Say(1, TaskStatus::FINISHED);
  Say(2, TaskStatus::FINISHED);
  ASSERT_NE(store.grant(1), nullptr);
  EXPECT_TRUE(store.grant(1)->finished());
  EXPECT_FALSE(store.grant(1)->has_finish_grant()) << "spouts have no Finish";

  for (TaskId task = 3; task <= 7; ++task) {
    Say(task, TaskStatus::FINISH_REQUESTED);
    ASSERT_NE(store.grant(task), nullptr);
    EXPECT_TRUE(store.grant(task)->has_finish_grant());
    EXPECT_EQ(EpochOf(store.grant(task)->finish_granted()), (Epoch{1, 0}));
    EXPECT_FALSE(store.grant(task)->finished());
    Say(task, TaskStatus::FINISHING);
    EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
    Say(task, TaskStatus::FINISHED);
  }
  // Only its own tasks' grants go to a container.
  EXPECT_EQ(UpdateOf(5).grants_size(), 2);

  EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_EQ(store.state().incomplete_size(), 0) << Incomplete();
  for (ContainerId container : kContainers) {
    EXPECT_EQ(PlanOf(container).command(), ContainerPlan::STOP);
    EXPECT_EQ(PlanOf(container).text(), "the topology finished");
  }
  EXPECT_FALSE(UpdateOf(2).active());
}

TEST_F(MasterFixture, WhileDeactivatedNothingFinishes) {
  const auto want = [this](proto::DesiredState::Desire desire) {
    store.Desire(desire);
    master->core().OnDesiredChanged(master->Now());
    master->Run(std::chrono::milliseconds(100));
  };
  StartAll();
  Say(1, TaskStatus::FINISHED);
  Say(2, TaskStatus::FINISHED);
  want(proto::DesiredState::INACTIVE);
  Say(3, TaskStatus::FINISH_REQUESTED);
  EXPECT_EQ(store.grant(3), nullptr) << "Finish must not run";
  EXPECT_EQ(store.state().state(), ExecutionState::INACTIVE);
  want(proto::DesiredState::ACTIVE);
  ASSERT_NE(store.grant(3), nullptr);
  EXPECT_TRUE(store.grant(3)->has_finish_grant());
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);

  for (TaskId task = 4; task <= 7; ++task) Say(task, TaskStatus::FINISH_REQUESTED);
  want(proto::DesiredState::INACTIVE);
  SayAll(TaskStatus::FINISHED);
  EXPECT_EQ(store.state().state(), ExecutionState::INACTIVE) << "all had their grants before";
  want(proto::DesiredState::ACTIVE);
  EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_EQ(store.state().incomplete_size(), 0) << Incomplete();
}

TEST_F(MasterFixture, TheExecutorOfContainerZeroIsStoppedLast) {
  StartAll();
  ConnectExecutor(0, "zero");
  SayAll(TaskStatus::FINISHED);
  ASSERT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_EQ(PlanOf(2).command(), ContainerPlan::STOP);
  EXPECT_EQ(PlanOf(0).command(), ContainerPlan::RUN);
  for (ContainerId container : kContainers) DisconnectExecutor(container);
  master->Run(std::chrono::milliseconds(100));
  EXPECT_EQ(PlanOf(0).command(), ContainerPlan::STOP);
}

TEST_F(MasterFixture, TheExecutorOfContainerZeroDoesNotWaitLongerThanTwoSeconds) {
  StartAll();
  ConnectExecutor(0, "zero");
  SayAll(TaskStatus::FINISHED);
  DisconnectExecutor(2);
  master->Run(std::chrono::seconds(2));
  EXPECT_EQ(PlanOf(0).command(), ContainerPlan::STOP);
}

TEST_F(MasterFixture, FinishIsNotGrantedAgainToALaterLife) {
  StartAll();
  Say(4, TaskStatus::FINISH_REQUESTED);
  Say(4, TaskStatus::FINISHING);
  AddFailure(4, {1, 0}, "killed by signal 9 (Killed)", -1, true);
  ReportExecutor(2);
  Say(4, TaskStatus::REGISTERED, {1, 1});
  Say(4, TaskStatus::FINISH_REQUESTED, {1, 1});
  EXPECT_EQ(EpochOf(store.grant(4)->finish_granted()), (Epoch{1, 0}));
  ASSERT_EQ(UpdateOf(2).grants_size(), 1);
  EXPECT_EQ(EpochOf(UpdateOf(2).grants(0).finish_granted()), (Epoch{1, 0}));

  Status(4)->set_finish_lost(true);
  Say(4, TaskStatus::FINISHED, {1, 1});
  SayAll(TaskStatus::FINISHED);
  EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_NE(Incomplete().find("task 4 (split[1]), Finish: the task died while it ran"),
            std::string::npos)
      << Incomplete();
  EXPECT_NE(Incomplete().find("task 4 (split[1]) was restarted in the middle (killed by signal 9 "
                              "(Killed)): tuples in its memory were lost"),
            std::string::npos);
  EXPECT_EQ(PlanOf(2).text(), "the topology finished, but not everything arrived");
}

TEST_F(MasterFixture, ARequestOfADeadLifeIsNotGranted) {
  StartAll();
  AddFailure(4, {1, 0}, "boom", 10, true);
  ReportExecutor(2);
  master->Run();
  Say(4, TaskStatus::FINISH_REQUESTED, {1, 0});
  EXPECT_EQ(store.grant(4), nullptr);
  Say(4, TaskStatus::FINISH_REQUESTED, {1, 1});
  EXPECT_EQ(EpochOf(store.grant(4)->finish_granted()), (Epoch{1, 1}));
}

TEST_F(MasterFixture, AFinishedTaskThatDiesMustFinishAgainInItsNewLife) {
  StartAll();
  for (TaskId task = 1; task <= 6; ++task) {
    Say(task, TaskStatus::FINISHED);
  }
  AddFailure(3, {1, 0}, "killed by signal 9 (Killed)", -1);
  ReportExecutor(9);
  master->Run();
  Say(7, TaskStatus::FINISHED);
  EXPECT_TRUE(store.grant(3)->finished());
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING) << "task 3 announces again";
  ASSERT_EQ(PlanOf(9).grants_size(), 2);
  EXPECT_TRUE(PlanOf(9).grants(0).finished()) << "the executor starts it as finished";
  Say(3, TaskStatus::REGISTERED, {1, 1});
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  Say(3, TaskStatus::FINISHED, {1, 1});
  EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_EQ(store.state().incomplete_size(), 0) << Incomplete();
}

TEST_F(MasterFixture, ADeathThatIsHeardOfAfterTheNextLifeHasFinishedIsNamed) {
  StartAll();
  Say(1, TaskStatus::RUNNING, {1, 0});
  Say(1, TaskStatus::FINISHED, {1, 1});  // its stream manager is faster than its executor
  AddFailure(1, {1, 0}, "killed by signal 9 (Killed)", -1, true);
  ReportExecutor(2);
  master->Run();
  SayAll(TaskStatus::FINISHED);
  EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_NE(Incomplete().find("task 1 (words[0]) was restarted in the middle"), std::string::npos)
      << Incomplete();
}

TEST_F(MasterFixture, WorkOfALifeThatDidNotKnowOfTheEndIsNamed) {
  StartAll();
  Status(1)->set_emitted(100);
  Say(1, TaskStatus::FINISHED, {1, 0});
  AddFailure(1, {1, 0}, "killed by signal 9 (Killed)", -1, true);
  ReportExecutor(2);
  master->Run();
  // Its stream manager had not heard yet that it is finished.
  Status(1)->set_emitted(40);
  Say(1, TaskStatus::RUNNING, {1, 1});
  Status(1)->set_emitted(60);
  Say(1, TaskStatus::FINISHED, {1, 1});
  SayAll(TaskStatus::FINISHED);
  EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_NE(Incomplete().find("task 1 (words[0]), life 1.1, after it had finished: restarted, it "
                              "emitted 60 and executed 0 tuples again"),
            std::string::npos)
      << Incomplete();
}

TEST_F(MasterFixture, AFinishedContainerThatDiesMustFinishAgain) {
  StartAll();
  for (TaskId task = 1; task <= 6; ++task) Say(task, TaskStatus::FINISHED);
  ConnectExecutor(9, "another");  // tasks 3 and 6
  Say(7, TaskStatus::FINISHED);
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  EXPECT_EQ(store.state().tasks(2).phase(), TaskStatus::DOWN);
  ConnectManager(9, {2, 0});
  Say(3, TaskStatus::FINISHED, {2, 0});
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  Say(6, TaskStatus::FINISHED, {2, 0});
  EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_EQ(store.state().incomplete_size(), 0) << Incomplete();
}

TEST_F(MasterFixture, WhatWasLostIsNamed) {
  StartAll();
  AddFailure(1, {1, 0}, "exited with code 1", 1, true);
  ReportExecutor(2);
  master->Run();
  Say(1, TaskStatus::RUNNING, {1, 1});
  Status(6)->set_lost_batches(3);
  Status(6)->set_dropped_tuples(12);
  (*Status(6)->mutable_drop_reasons())["destination_down"] = 12;
  ReportManager(9);
  ConnectExecutor(5, "another");
  ConnectManager(5, {2, 0});
  SetEpoch({2, 0}, Status(2)->mutable_epoch());
  SetEpoch({2, 0}, Status(5)->mutable_epoch());
  NewMaster(2);  // all of it survives
  ReconnectAll();
  SayAll(TaskStatus::FINISHED);
  ASSERT_EQ(store.state().state(), ExecutionState::FINISHED);
  const std::string lost = Incomplete();
  EXPECT_NE(lost.find("task 1 (words[0]) was restarted in the middle (exited with code 1): its "
                      "input was read again"),
            std::string::npos)
      << lost;
  EXPECT_NE(lost.find("container 5 was restarted"), std::string::npos) << lost;
  EXPECT_NE(lost.find("task 6 (count[0]), life 1.0, lost batches: 3"), std::string::npos) << lost;
  EXPECT_NE(lost.find("dropped tuples: 12 (12 destination_down)"), std::string::npos) << lost;
  EXPECT_EQ(store.state().incomplete_size(), 4) << lost;
  EXPECT_EQ(store.state().restarts(), 2u);
}

TEST_F(MasterFixture, RestartsBeforeTheFirstTupleLoseNothing) {
  NewMaster(1);
  ConnectAllExecutors();
  AddFailure(4, {1, 0}, "no database yet", 10);
  ReportExecutor(2);
  ConnectExecutor(5, "another");
  EXPECT_EQ(store.state().restarts(), 2u);
  EXPECT_EQ(store.state().failures_size(), 1);
  EXPECT_EQ(store.state().incomplete_size(), 0) << Incomplete();
}

TEST_F(MasterFixture, FailuresAreAcknowledgedAfterTheyAreStoredAndCountedOnce) {
  StartAll();
  AddFailure(4, {1, 0}, "first", 10, true);
  AddFailure(4, {1, 1}, "second", 10, true);
  EXPECT_EQ(PlanOf(2).acknowledged_failure(), 0u);
  ReportExecutor(2);
  EXPECT_EQ(PlanOf(2).acknowledged_failure(), 0u);
  master->Run();
  EXPECT_EQ(PlanOf(2).acknowledged_failure(), 2u);
  EXPECT_EQ(store.state().failures_size(), 2);
  EXPECT_EQ(store.state().restarts(), 2u);
  ReportExecutor(2);  // it has not heard
  master->Run();
  EXPECT_EQ(store.state().restarts(), 2u);

  NewMaster(2);
  ReconnectAll();
  EXPECT_EQ(PlanOf(2).acknowledged_failure(), 2u);
  EXPECT_EQ(store.state().failures_size(), 2);
  EXPECT_EQ(store.state().restarts(), 2u);
}

TEST_F(MasterFixture, TheAcknowledgementOfOneExecutorIsNotGivenToTheNext) {
  StartAll();
  AddFailure(4, {1, 0}, "first", 10, true);
  ReportExecutor(2);
  master->Run();
  EXPECT_EQ(PlanOf(2).acknowledged_failure(), 1u);
  ConnectExecutor(2, "another");
  EXPECT_EQ(PlanOf(2).acknowledged_failure(), 0u);
}

TEST_F(MasterFixture, ABoundedTopologyFailsWhenATaskDiesThreeTimesWithoutProgress) {
  StartAll();
  AddFailure(4, {1, 0}, "std::runtime_error: boom");
  ReportExecutor(2);
  master->Run();
  AddFailure(4, {1, 1}, "std::runtime_error: boom");
  ReportExecutor(2);
  NewMaster(2);  // counts on from what is stored
  ReconnectAll();
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  AddFailure(4, {1, 2}, "std::runtime_error: boom");
  ReportExecutor(2);
  master->Run();
  EXPECT_EQ(store.state().state(), ExecutionState::FAILED);
  EXPECT_EQ(store.state().reason(),
            "component \"split\" task 4 (index 1): std::runtime_error: boom; died 3 times in a row "
            "without progress");
  EXPECT_EQ(PlanOf(5).command(), ContainerPlan::STOP);
  EXPECT_NE(PlanOf(5).text().find("boom"), std::string::npos);
}

TEST_F(MasterFixture, ProgressInBetweenStartsTheCountAgain) {
  StartAll();
  for (uint64_t life = 0; life < 9; ++life) {
    AddFailure(4, {1, life}, "boom", 10, life % 3 == 2);
    ReportExecutor(2);
    master->Run();
  }
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  AddFailure(4, {1, 9}, "boom");
  AddFailure(4, {1, 10}, "boom");
  ReportExecutor(2);
  master->Run();
  // A life with progress that no failure tells of: its container died.
  ConnectExecutor(2, "another");
  ConnectManager(2, {2, 0});
  Status(4)->set_executed(5);
  Say(4, TaskStatus::RUNNING, {2, 0});
  AddFailure(4, {2, 0}, "boom");
  ReportExecutor(2);
  master->Run();
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING) << store.state().reason();
}

TEST_F(MasterFixture, TheExecutorsOwnCountIsBelieved) {
  StartAll();
  AddFailure(4, {1, 7}, "boom");
  executors[2].mutable_failures(0)->set_failures_in_a_row(3);
  ReportExecutor(2);
  master->Run();
  EXPECT_EQ(store.state().state(), ExecutionState::FAILED);
}

TEST_F(MasterFixture, AnUnboundedTopologyTriesForEver) {
  Submit(false);
  StartAll();
  for (uint64_t life = 0; life < 100; ++life) {
    AddFailure(4, {1, life}, "boom " + std::to_string(life));
    ReportExecutor(2);
    master->Run(std::chrono::milliseconds(100));
    executors[2].clear_failures();
  }
  EXPECT_EQ(store.state().state(), ExecutionState::RUNNING);
  EXPECT_EQ(store.state().restarts(), 100u);
  ASSERT_EQ(store.state().failures_size(), 64);
  EXPECT_EQ(store.state().failures(63).reason(), "boom 99");
}

TEST_F(MasterFixture, UnrecoverableFailsEvenAnUnboundedTopology) {
  Submit(false);
  StartAll();
  AddFailure(6, {1, 0}, "the licence expired", kExitUnrecoverable, true);
  ReportExecutor(9);
  master->Run();
  EXPECT_EQ(store.state().state(), ExecutionState::FAILED);
  EXPECT_EQ(store.state().reason(),
            "component \"count\" task 6 (index 0): the licence expired; unrecoverable");
}

TEST_F(MasterFixture, ADefinitionThatDiffersFails) {
  StartAll();
  AddFailure(6, {1, 0}, "component count has 3 outputs", kExitDefinitionDiffers);
  ReportExecutor(9);
  master->Run();
  EXPECT_EQ(store.state().state(), ExecutionState::FAILED);
  EXPECT_NE(store.state().reason().find("built another topology"), std::string::npos);
}

TEST_F(MasterFixture, ANewMasterThatFindsTheEndTellsEverybodyToStop) {
  StartAll();
  SayAll(TaskStatus::FINISHED);
  ASSERT_EQ(store.state().state(), ExecutionState::FINISHED);
  NewMaster(2);
  ReconnectAll();
  for (ContainerId container : kContainers) {
    EXPECT_EQ(PlanOf(container).command(), ContainerPlan::STOP);
  }
  // A late report changes nothing.
  AddFailure(4, {1, 0}, "killed", kExitUnrecoverable);
  ReportExecutor(2);
  SayAll(TaskStatus::DOWN);
  EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
  EXPECT_EQ(store.state().failures_size(), 0);
}

}  // namespace
}  // namespace heron::topology_master
