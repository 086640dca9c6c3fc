#include "heron/instance/core/instance_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heron::instance {
namespace {

using proto::TaskStatus;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Epoch kFirst{1, 0};
constexpr Epoch kSecond{1, 1};

// Writes down what the core wants done.
class Recorder : public InstanceCore::Effects {
 public:
  void StartTask() override { done.push_back("start"); }
  void SetActive(bool active) override { done.push_back(active ? "active" : "inactive"); }
  void AskDrained(uint64_t asked) override {
    done.push_back("drain");
    ticket = asked;
  }
  void RunFinish() override { done.push_back("finish"); }
  void EndOutput() override { done.push_back("end output"); }
  void SendEnded(TaskId destination, uint64_t last) override {
    done.push_back("ended to " + std::to_string(destination) + " " + std::to_string(last));
  }
  void SendConfirmed(TaskId source, Epoch epoch) override {
    done.push_back("confirm " + std::to_string(source) + " " + epoch.ToString());
  }
  void ReportChanged() override { ++reports; }

  std::vector<std::string> Take() { return std::exchange(done, {}); }

  std::vector<std::string> done;
  uint64_t ticket = 0;
  int reports = 0;
};

// Task 3: a bolt fed by tasks 1 and 2, feeding task 9; or a spout feeding task 9.
class InstanceCoreTest : public ::testing::Test {
 protected:
  void MakeBolt(Epoch epoch = kFirst) {
    core_ = std::make_unique<InstanceCore>(TaskSetup{3, epoch, false}, &effects_);
    routes_ = {{1, 2}, {9}};
  }
  void MakeSpout(Epoch epoch = kFirst) {
    core_ = std::make_unique<InstanceCore>(TaskSetup{3, epoch, true}, &effects_);
    routes_ = {{}, {9}};
  }
  void Plan(const proto::TaskGrant& grant = {}, bool active = false) {
    core_->OnPlan(routes_, active, grant, now_);
  }
  proto::TaskGrant Grant(Epoch epoch) {
    proto::TaskGrant grant;
    grant.set_task(3);
    grant.set_has_finish_grant(true);
    grant.mutable_finish_granted()->set_incarnation(epoch.incarnation);
    grant.mutable_finish_granted()->set_restart(epoch.restart);
    return grant;
  }
  proto::TaskGrant Finished() {
    proto::TaskGrant grant;
    grant.set_task(3);
    grant.set_finished(true);
    return grant;
  }
  bool Batch(TaskId source, uint64_t number, Epoch epoch = kFirst, TaskId destination = 3) {
    model::BatchHeader header;
    header.source_task = source;
    header.source_epoch = epoch;
    header.destination_task = destination;
    header.number = number;
    header.tuple_count = 10;
    return core_->OnBatch(header);
  }
  void Ended(TaskId source, uint64_t last, Epoch epoch = kFirst, TaskId destination = 3) {
    proto::Ended ended;
    ended.set_source_task(source);
    ended.mutable_source_epoch()->set_incarnation(epoch.incarnation);
    ended.mutable_source_epoch()->set_restart(epoch.restart);
    ended.set_destination_task(destination);
    ended.set_last_number(last);
    core_->OnEnded(ended, now_);
  }
  void Confirmed(Epoch own, Epoch destination_epoch, TaskId destination = 9) {
    proto::EndedConfirmed confirmed;
    confirmed.set_source_task(3);
    confirmed.mutable_source_epoch()->set_incarnation(own.incarnation);
    confirmed.mutable_source_epoch()->set_restart(own.restart);
    confirmed.set_destination_task(destination);
    confirmed.mutable_destination_epoch()->set_incarnation(destination_epoch.incarnation);
    confirmed.mutable_destination_epoch()->set_restart(destination_epoch.restart);
    core_->OnConfirmed(confirmed, now_);
  }
  void TaskState(TaskId task, Epoch epoch) {
    proto::TaskStates states;
    auto* state = states.add_tasks();
    state->set_task(task);
    state->mutable_epoch()->set_incarnation(epoch.incarnation);
    state->mutable_epoch()->set_restart(epoch.restart);
    core_->OnTaskStates(states, now_);
  }
  void Drained() { core_->OnDrained(effects_.ticket, now_); }
  // A bolt whose inputs have ended and were executed.
  void ToFinishRequested() {
    core_->OnSessionUp(now_);
    Plan();
    core_->OnOpened(now_);
    Ended(1, 0);
    Ended(2, 0);
    Drained();
  }

  MonotonicTime now_{std::chrono::hours(1)};
  Recorder effects_;
  InstanceCore::Routes routes_;
  std::unique_ptr<InstanceCore> core_;
};

TEST_F(InstanceCoreTest, RegistersBeforeItOpens) {
  MakeSpout();
  core_->OnSessionUp(now_);
  EXPECT_THAT(effects_.Take(), IsEmpty()) << "no user code before the plan is there";
  EXPECT_EQ(core_->phase(), TaskStatus::REGISTERED);
  Plan();
  Plan();
  EXPECT_THAT(effects_.Take(), ElementsAre("start"));
  EXPECT_EQ(core_->phase(), TaskStatus::REGISTERED);
  core_->OnOpened(now_);
  EXPECT_EQ(core_->phase(), TaskStatus::RUNNING);
  EXPECT_EQ(effects_.reports, 1);
}

TEST_F(InstanceCoreTest, PassesActiveOnWhenItChanges) {
  MakeSpout();
  Plan({}, true);
  Plan({}, true);
  Plan({}, false);
  EXPECT_THAT(effects_.Take(), ElementsAre("active", "start", "inactive"));
}

TEST_F(InstanceCoreTest, ASpoutIsFinishedWhenItsEndIsConfirmed) {
  MakeSpout();
  core_->OnSessionUp(now_);
  Plan();
  core_->OnOpened(now_);
  effects_.Take();
  core_->OnOutputEnded({{9, 4}}, now_);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHING);
  EXPECT_THAT(effects_.Take(), ElementsAre("ended to 9 4"));
  now_ += EndAnnouncer::kRepeatEvery;
  core_->Tick(now_);
  EXPECT_THAT(effects_.Take(), ElementsAre("ended to 9 4"));
  Confirmed(kFirst, kFirst);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHED);
}

TEST_F(InstanceCoreTest, AConfirmationOfAnEarlierLifeDoesNotCount) {
  MakeSpout(kSecond);
  core_->OnSessionUp(now_);
  Plan();
  core_->OnOpened(now_);
  core_->OnOutputEnded({}, now_);
  Confirmed(kFirst, kFirst);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHING);
  Confirmed(kSecond, kFirst, 77);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHING) << "task 77 is no destination";
  Confirmed(kSecond, kFirst);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHED);
}

TEST_F(InstanceCoreTest, ADestinationThatRestartedIsToldAgainEvenAfterTheEnd) {
  MakeSpout();
  core_->OnSessionUp(now_);
  Plan();
  core_->OnOpened(now_);
  core_->OnOutputEnded({{9, 4}}, now_);
  Confirmed(kFirst, kFirst);
  effects_.Take();
  TaskState(9, kSecond);
  EXPECT_THAT(effects_.Take(), ElementsAre("ended to 9 4"));
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHED) << "it was reported and is stored";
}

TEST_F(InstanceCoreTest, TellsTheEndAgainOnANewSessionAndNothingWithoutOne) {
  MakeSpout();
  Plan();
  core_->OnOpened(now_);
  core_->OnOutputEnded({}, now_);
  EXPECT_THAT(effects_.Take(), Not(Contains("ended to 9 0")));
  core_->OnSessionUp(now_);
  EXPECT_THAT(effects_.Take(), ElementsAre("ended to 9 0"));
  core_->OnSessionDown();
  now_ += EndAnnouncer::kRepeatEvery;
  core_->Tick(now_);
  EXPECT_THAT(effects_.Take(), IsEmpty());
  core_->OnSessionUp(now_);
  EXPECT_THAT(effects_.Take(), ElementsAre("ended to 9 0"));
}

TEST_F(InstanceCoreTest, ABoltRunsFinishOnceWithItsGrant) {
  MakeBolt();
  core_->OnSessionUp(now_);
  Plan();
  core_->OnOpened(now_);
  EXPECT_TRUE(Batch(1, 1));
  Ended(1, 1);
  EXPECT_THAT(effects_.Take(), ElementsAre("start", "confirm 1 1.0"));
  Ended(2, 0);
  EXPECT_THAT(effects_.Take(), ElementsAre("confirm 2 1.0", "drain"));
  EXPECT_EQ(core_->phase(), TaskStatus::RUNNING) << "the batch may not be executed yet";
  Drained();
  EXPECT_EQ(core_->phase(), TaskStatus::FINISH_REQUESTED);
  EXPECT_THAT(effects_.Take(), IsEmpty());
  Plan(Grant(kFirst));
  Plan(Grant(kFirst));
  core_->Tick(now_);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHING);
  EXPECT_THAT(effects_.Take(), ElementsAre("finish"));
  core_->OnOutputEnded({{9, 2}}, now_);
  EXPECT_THAT(effects_.Take(), ElementsAre("ended to 9 2"));
  Confirmed(kFirst, kFirst);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHED);
  EXPECT_FALSE(core_->Status().finish_lost());
}

TEST_F(InstanceCoreTest, EveryEndedIsConfirmedWhateverTheState) {
  MakeBolt();
  core_->OnSessionUp(now_);
  Plan();
  Ended(1, 0);
  Ended(1, 0);
  Ended(1, 0, {0, 5});
  Ended(77, 0);
  Ended(1, 0, kFirst, 4);
  EXPECT_THAT(effects_.Take(), ElementsAre("start", "confirm 1 1.0", "confirm 1 1.0",
                                           "confirm 1 0.5", "confirm 77 1.0"));
}

TEST_F(InstanceCoreTest, ANewerLifeOfASourceWithdrawsTheRequest) {
  MakeBolt();
  ToFinishRequested();
  EXPECT_EQ(core_->phase(), TaskStatus::FINISH_REQUESTED);
  EXPECT_TRUE(Batch(1, 1, kSecond));
  EXPECT_EQ(core_->phase(), TaskStatus::RUNNING);
  effects_.Take();
  Plan(Grant(kFirst));
  EXPECT_THAT(effects_.Take(), IsEmpty()) << "a grant does not run Finish before the input ended";
  Ended(1, 1, kSecond);
  EXPECT_THAT(effects_.Take(), ElementsAre("confirm 1 1.1", "drain"));
  Drained();
  EXPECT_THAT(effects_.Take(), ElementsAre("finish"));
}

TEST_F(InstanceCoreTest, ALateDrainOfAnEarlierQuestionDoesNotCount) {
  MakeBolt();
  core_->OnSessionUp(now_);
  Plan();
  core_->OnOpened(now_);
  Ended(1, 0);
  Ended(2, 0);
  uint64_t first = effects_.ticket;
  EXPECT_TRUE(Batch(1, 1, kSecond));
  Ended(1, 1, kSecond);
  EXPECT_NE(effects_.ticket, first);
  core_->OnDrained(first, now_);
  EXPECT_EQ(core_->phase(), TaskStatus::RUNNING);
  Drained();
  EXPECT_EQ(core_->phase(), TaskStatus::FINISH_REQUESTED);
}

TEST_F(InstanceCoreTest, FinishIsNotRunAgainAfterALifeThatWasGrantedIt) {
  MakeBolt(kSecond);
  core_->OnSessionUp(now_);
  Plan(Grant(kFirst));
  core_->OnOpened(now_);
  Ended(1, 0);
  Ended(2, 0);
  effects_.Take();
  Drained();
  EXPECT_THAT(effects_.Take(), ElementsAre("end output"));
  core_->OnOutputEnded({{9, 7}}, now_);
  EXPECT_THAT(effects_.Take(), ElementsAre("ended to 9 7"));
  Confirmed(kSecond, kFirst);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHED);
  EXPECT_TRUE(core_->Status().finish_lost());
}

TEST_F(InstanceCoreTest, AGrantOfALaterLifeIsNotOurs) {
  MakeBolt(kFirst);
  ToFinishRequested();
  effects_.Take();
  Plan(Grant(kSecond));
  EXPECT_THAT(effects_.Take(), IsEmpty());
  EXPECT_EQ(core_->phase(), TaskStatus::FINISH_REQUESTED);
}

TEST_F(InstanceCoreTest, AGrantThatWasHeardIsNotTakenBackByAnOlderPlan) {
  MakeBolt();
  core_->OnSessionUp(now_);
  Plan(Grant(kFirst));
  Plan();
  core_->OnOpened(now_);
  Ended(1, 0);
  Ended(2, 0);
  effects_.Take();
  Drained();
  EXPECT_THAT(effects_.Take(), ElementsAre("finish"));
}

TEST_F(InstanceCoreTest, AFinishedTaskRestartsAsFinished) {
  MakeBolt(kSecond);
  core_->OnSessionUp(now_);
  Plan(Finished());
  EXPECT_THAT(effects_.Take(), ElementsAre("ended to 9 0")) << "no user code";
  EXPECT_FALSE(Batch(1, 1)) << "and nothing is executed";
  Ended(1, 1);
  EXPECT_THAT(effects_.Take(), ElementsAre("confirm 1 1.0"));
  Confirmed(kSecond, kFirst);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHED);
  EXPECT_EQ(core_->Status().drop_reasons().at("task_finished"), 10u);
  EXPECT_FALSE(core_->Status().finish_lost());
}

TEST_F(InstanceCoreTest, ATaskThatLearnsLateThatItHadFinishedDoesNotFinishAgain) {
  MakeBolt(kSecond);
  core_->OnSessionUp(now_);
  Plan();
  core_->OnOpened(now_);
  Plan(Finished());
  Ended(1, 0);
  Ended(2, 0);
  effects_.Take();
  Drained();
  EXPECT_THAT(effects_.Take(), ElementsAre("end output"));
  core_->OnOutputEnded({}, now_);
  Confirmed(kSecond, kFirst);
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHED);
  EXPECT_FALSE(core_->Status().finish_lost());
}

TEST_F(InstanceCoreTest, ASpoutThatLearnsLateThatItHadFinishedStops) {
  MakeSpout(kSecond);
  core_->OnSessionUp(now_);
  Plan();
  core_->OnOpened(now_);
  effects_.Take();
  Plan(Finished());
  Plan(Finished());
  EXPECT_THAT(effects_.Take(), ElementsAre("end output"));
}

TEST_F(InstanceCoreTest, TheStoredEndOfThisLifeChangesNothing) {
  MakeBolt();
  ToFinishRequested();
  Plan(Grant(kFirst));
  core_->OnOutputEnded({}, now_);
  Confirmed(kFirst, kFirst);
  effects_.Take();
  proto::TaskGrant grant = Grant(kFirst);
  grant.set_finished(true);
  Plan(grant);
  core_->Tick(now_ + std::chrono::seconds(5));
  EXPECT_THAT(effects_.Take(), IsEmpty());
  EXPECT_EQ(core_->phase(), TaskStatus::FINISHED);
}

TEST_F(InstanceCoreTest, CountsStraysAndRepeatsApart) {
  MakeBolt();
  Plan();
  EXPECT_FALSE(Batch(1, 1, kFirst, 4)) << "for another task";
  EXPECT_FALSE(Batch(77, 1)) << "from no upstream task";
  EXPECT_TRUE(Batch(1, 1));
  EXPECT_FALSE(Batch(1, 1));
  EXPECT_TRUE(Batch(1, 3));
  TaskStatus status = core_->Status();
  EXPECT_EQ(status.drop_reasons().at("stray"), 20u);
  EXPECT_EQ(status.dropped_tuples(), 20u) << "a repeated batch was had: nothing is missing";
  EXPECT_EQ(core_->repeated_batches(), 1u);
  EXPECT_EQ(status.lost_batches(), 1u);
}

TEST_F(InstanceCoreTest, ReportsWhatABoltStillHasToDo) {
  MakeBolt();
  Plan();
  core_->OnOpened(now_);
  EXPECT_TRUE(Batch(1, 1));
  EXPECT_TRUE(Batch(2, 1));
  Ended(1, 1);
  TaskCounters counters;
  counters.executed = 7;
  counters.dropped[static_cast<size_t>(DropReason::kDamaged)] = 2;
  core_->OnCounters(counters);
  const TaskStatus status = core_->Status();
  EXPECT_EQ(status.waiting_tuples(), 11u);
  EXPECT_EQ(status.open_inputs(), 1u);
  EXPECT_THAT(status.open_input(), ElementsAre(2));
}

TEST_F(InstanceCoreTest, ReportsWhatTheTaskCounts) {
  MakeSpout();
  TaskCounters counters;
  counters.emitted = 5;
  counters.executed = 6;
  counters.progress = 0.5;
  counters.dropped[static_cast<size_t>(DropReason::kTooLarge)] = 2;
  core_->OnCounters(counters);
  TaskStatus status = core_->Status();
  EXPECT_EQ(status.task(), 3);
  EXPECT_EQ(status.epoch().incarnation(), 1u);
  EXPECT_EQ(status.emitted(), 5u);
  EXPECT_EQ(status.executed(), 6u);
  EXPECT_EQ(status.progress(), 0.5);
  EXPECT_EQ(status.drop_reasons().at("too_large"), 2u);
  EXPECT_EQ(status.drop_reasons().size(), 1u);
}

}  // namespace
}  // namespace heron::instance
