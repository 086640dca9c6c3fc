#include "heron/executor/core/executor_core.h"

#include <gtest/gtest.h>

#include <csignal>

#include "heron/base/exit_codes.h"

namespace heron::executor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ChildKey kMaster{proto::TOPOLOGY_MASTER, 0};
const ChildKey kStreamManager{proto::STREAM_MANAGER, 0};
ChildKey Instance(TaskId task) { return {proto::INSTANCE, task}; }

class FakeEffects : public ExecutorCore::Effects {
 public:
  struct Start {
    ChildKey key;
    Epoch epoch;
  };
  Result<int64_t> StartChild(const Child& child) override {
    if (!start_error.ok()) return start_error;
    starts.push_back({child.key, child.epoch});
    return next_pid++;
  }
  void SignalChild(const Child& child, int signo) override {
    signals.push_back({child.key, signo});
  }
  void ReportChanged() override { ++reports; }
  void ChildUpdateChanged() override { ++child_updates; }
  void Exit(int code, const std::string& why) override {
    exits.push_back(code);
    exit_reason = why;
  }

  int StartsOf(const ChildKey& key) const {
    int count = 0;
    for (const Start& start : starts) count += start.key == key;
    return count;
  }
  int Signals(const ChildKey& key, int signo) const {
    int count = 0;
    for (const auto& signal : signals) count += signal.first == key && signal.second == signo;
    return count;
  }

  Status start_error;
  int64_t next_pid = 100;
  std::vector<Start> starts;
  std::vector<std::pair<ChildKey, int>> signals;
  int reports = 0;
  int child_updates = 0;
  std::vector<int> exits;
  std::string exit_reason;
};

class ExecutorCoreTest : public testing::Test {
 protected:
  explicit ExecutorCoreTest(ContainerId container = 1)
      : core_({container, "host", 42, "nonce-nonce-nonc"}, &effects_), container_(container) {}

  MonotonicTime now() const { return clock_.Now(); }

  proto::ContainerPlan Plan(proto::ContainerPlan::Command command, uint64_t incarnation = 1,
                            std::vector<TaskId> tasks = {7, 8}, uint64_t mastership = 1) {
    proto::ContainerPlan plan;
    plan.set_mastership_epoch(mastership);
    plan.set_command(command);
    plan.set_incarnation(incarnation);
    for (const TaskId task : tasks) {
      proto::PlannedTask* planned = plan.add_tasks();
      planned->set_task(task);
      planned->set_component("count");
      planned->set_component_index(task - 7);
    }
    return plan;
  }
  void Give(const proto::ContainerPlan& plan) { core_.OnContainerPlan(plan, now()); }

  proto::Identity IdentityOf(const ChildKey& key) const {
    proto::Identity identity;
    identity.set_role(key.role);
    identity.set_container(container_);
    identity.set_task(key.task);
    const Epoch epoch = core_.children().at(key).epoch;
    identity.mutable_epoch()->set_incarnation(epoch.incarnation);
    identity.mutable_epoch()->set_restart(epoch.restart);
    return identity;
  }
  void StreamManagerListens(uint32_t port) {
    proto::ChildReport report;
    report.set_port(port);
    core_.OnChildReport(IdentityOf(kStreamManager), report, now());
  }
  void RunAll() {
    core_.Start(now());
    Give(Plan(proto::ContainerPlan::RUN));
    StreamManagerListens(5000);
  }
  void EndOf(const ChildKey& key, int exit_code, int signal = 0, std::string description = "",
             std::string last_output = "") {
    core_.OnChildEnded(key, {exit_code, signal, description, last_output, 99}, now());
  }
  // Advances to the next deadline and does what is due; returns how long that was.
  Duration ToNextDeadline() {
    const auto next = core_.NextDeadline();
    EXPECT_TRUE(next.has_value());
    if (!next.has_value()) return Duration::zero();
    const Duration wait = *next - now();
    clock_.Advance(wait);
    core_.OnTime(now());
    return wait;
  }

  ManualClock clock_;
  FakeEffects effects_;
  ExecutorCore core_;
  ContainerId container_;
};

class MasterContainerTest : public ExecutorCoreTest {
 protected:
  MasterContainerTest() : ExecutorCoreTest(0) {}
};

TEST_F(ExecutorCoreTest, NothingStartsBeforeRun) {
  core_.Start(now());
  Give(Plan(proto::ContainerPlan::WAIT));
  EXPECT_TRUE(effects_.starts.empty());
  EXPECT_FALSE(core_.NextDeadline().has_value());
}

TEST_F(ExecutorCoreTest, InstancesStartWhenTheStreamManagerListens) {
  core_.Start(now());
  Give(Plan(proto::ContainerPlan::RUN, 3));
  ASSERT_EQ(effects_.starts.size(), 1u);
  EXPECT_EQ(effects_.starts[0].key, kStreamManager);
  EXPECT_EQ(effects_.starts[0].epoch, (Epoch{3, 0}));
  StreamManagerListens(5000);
  ASSERT_EQ(effects_.starts.size(), 3u);
  EXPECT_EQ(effects_.starts[1].key, Instance(7));
  EXPECT_EQ(effects_.starts[1].epoch, (Epoch{3, 0}));
  EXPECT_EQ(core_.child_update().stream_manager_port(), 5000u);
  EXPECT_EQ(core_.child_update().stream_manager_epoch().incarnation(), 3u);
  Give(Plan(proto::ContainerPlan::RUN, 3));
  EXPECT_EQ(effects_.starts.size(), 3u) << "the same plan again starts nothing";
  const proto::ExecutorReport report = core_.Report();
  EXPECT_EQ(report.incarnation(), 3u);
  EXPECT_EQ(report.children_size(), 3);
  EXPECT_EQ(report.nonce(), "nonce-nonce-nonc");
}

TEST_F(ExecutorCoreTest, CrashLoopBacksOffAndRecoversAfterALongLife) {
  RunAll();
  std::vector<int64_t> waits_ms;
  for (int i = 0; i < 9; ++i) {
    const MonotonicTime ended = now();
    EndOf(Instance(7), 1);
    while (effects_.StartsOf(Instance(7)) < i + 2) ToNextDeadline();
    waits_ms.push_back((now() - ended) / milliseconds(1));
  }
  EXPECT_EQ(waits_ms, (std::vector<int64_t>{0, 100, 200, 400, 800, 1600, 3200, 5000, 5000}));
  EXPECT_EQ(core_.children().at(Instance(7)).epoch, (Epoch{1, 9}));
  EXPECT_EQ(effects_.StartsOf(Instance(8)), 1);
  clock_.Advance(seconds(10));
  EndOf(Instance(7), 1);
  EXPECT_EQ(effects_.StartsOf(Instance(7)), 11) << "at once after ten seconds of life";
}

TEST_F(ExecutorCoreTest, FailuresAreNumberedAndKeptUntilAcknowledged) {
  RunAll();
  EndOf(Instance(7), -1, 9, "killed by signal 9 (Killed)", "last | words");
  EndOf(kStreamManager, 1, 0, "exited with code 1");
  proto::ExecutorReport report = core_.Report();
  ASSERT_EQ(report.failures_size(), 2);
  EXPECT_EQ(report.failures(0).number(), 1u);
  EXPECT_EQ(report.failures(0).process(), "instance");
  EXPECT_EQ(report.failures(0).task(), 7);
  EXPECT_EQ(report.failures(0).component(), "count");
  EXPECT_EQ(report.failures(0).signal(), 9);
  EXPECT_EQ(report.failures(0).reason(), "killed by signal 9 (Killed); log: last | words");
  EXPECT_EQ(report.failures(1).process(), "stream-manager");
  EXPECT_EQ(report.failures(1).reason(), "exited with code 1");

  proto::ContainerPlan plan = Plan(proto::ContainerPlan::RUN);
  plan.set_acknowledged_failure(1);
  Give(plan);
  report = core_.Report();
  ASSERT_EQ(report.failures_size(), 1);
  EXPECT_EQ(report.failures(0).number(), 2u);
  plan.set_acknowledged_failure(1000);  // of another executor
  Give(plan);
  EXPECT_EQ(core_.Report().failures_size(), 1);
}

TEST_F(ExecutorCoreTest, FailuresAreBounded) {
  RunAll();
  for (int i = 0; i < 300; ++i) {
    EndOf(Instance(7), 1);
    while (!core_.children().at(Instance(7)).alive()) ToNextDeadline();
  }
  const proto::ExecutorReport report = core_.Report();
  EXPECT_EQ(report.failures_size(), static_cast<int>(FailureLog::kMaxFailures));
  EXPECT_EQ(report.failures(report.failures_size() - 1).number(), 300u);
}

TEST_F(ExecutorCoreTest, WhatTheChildSaidIsTheReason) {
  RunAll();
  proto::ChildReport last_words;
  last_words.set_error("file /data/in.txt: not found");
  last_words.set_error_component("read");
  last_words.set_unrecoverable(true);
  core_.OnChildReport(IdentityOf(Instance(7)), last_words, now());
  core_.OnChildReport(IdentityOf(Instance(7)), proto::ChildReport(), now());  // a heartbeat behind
  EndOf(Instance(7), kExitUnrecoverable, 0, "exited with code 11", "noise");
  const proto::ExecutorReport report = core_.Report();
  ASSERT_EQ(report.failures_size(), 1);
  EXPECT_EQ(report.failures(0).reason(), "file /data/in.txt: not found");
  EXPECT_EQ(report.failures(0).component(), "read");
  EXPECT_TRUE(report.failures(0).unrecoverable());
}

TEST_F(ExecutorCoreTest, AnotherDefinitionIsUnrecoverable) {
  RunAll();
  EndOf(Instance(7), kExitDefinitionDiffers);
  EXPECT_TRUE(core_.Report().failures(0).unrecoverable());
}

TEST_F(ExecutorCoreTest, FailuresInARowCountLivesWithoutProgress) {
  RunAll();
  EndOf(Instance(7), 10);
  EndOf(Instance(7), 10);
  while (!core_.children().at(Instance(7)).alive()) ToNextDeadline();
  proto::ChildReport progress;
  progress.set_made_progress(true);
  core_.OnChildReport(IdentityOf(Instance(7)), progress, now());
  EndOf(Instance(7), 10);
  while (!core_.children().at(Instance(7)).alive()) ToNextDeadline();
  EndOf(Instance(7), 10);
  const proto::ExecutorReport report = core_.Report();
  ASSERT_EQ(report.failures_size(), 4);
  EXPECT_EQ(report.failures(0).failures_in_a_row(), 1u);
  EXPECT_EQ(report.failures(1).failures_in_a_row(), 2u);
  EXPECT_EQ(report.failures(2).failures_in_a_row(), 0u);
  EXPECT_TRUE(report.failures(2).had_progress());
  EXPECT_EQ(report.failures(3).failures_in_a_row(), 1u);
  EXPECT_FALSE(report.failures(3).had_progress());
  EXPECT_EQ(report.failures(3).restarts(), 3u);
}

TEST_F(ExecutorCoreTest, ExitZeroWhileRunIsInForceIsAFailure) {
  RunAll();
  EndOf(Instance(7), 0, 0, "exited with code 0");
  EXPECT_EQ(effects_.StartsOf(Instance(7)), 2);
  EXPECT_EQ(core_.Report().failures_size(), 1);
}

TEST_F(ExecutorCoreTest, ProgramThatCannotStartIsAFailureWithItsName) {
  core_.Start(now());
  effects_.start_error = NotFound("cannot execute /engine/sm: No such file or directory");
  Give(Plan(proto::ContainerPlan::RUN));
  const proto::ExecutorReport report = core_.Report();
  ASSERT_EQ(report.failures_size(), 1);
  EXPECT_EQ(report.failures(0).reason(), "cannot execute /engine/sm: No such file or directory");
  effects_.start_error = Status::Ok();
  EXPECT_EQ(ToNextDeadline(), milliseconds(100));
  EXPECT_EQ(effects_.StartsOf(kStreamManager), 1);
}

TEST_F(ExecutorCoreTest, StreamManagerDeathLeavesInstancesAlone) {
  RunAll();
  const int updates = effects_.child_updates;
  EndOf(kStreamManager, -1, 9);
  EXPECT_EQ(core_.child_update().stream_manager_port(), 0u);
  EXPECT_EQ(effects_.starts.back().epoch, (Epoch{1, 1}));
  StreamManagerListens(6000);
  EXPECT_EQ(core_.child_update().stream_manager_port(), 6000u);
  EXPECT_EQ(core_.child_update().stream_manager_epoch().restart(), 1u);
  EXPECT_EQ(effects_.child_updates, updates + 2);
  EXPECT_TRUE(effects_.signals.empty());
  EXPECT_EQ(effects_.StartsOf(Instance(7)), 1);
}

TEST_F(ExecutorCoreTest, InstanceRestartsWhileThereIsNoStreamManager) {
  RunAll();
  EndOf(kStreamManager, -1, 9);
  EndOf(Instance(7), -1, 9);
  EXPECT_EQ(effects_.StartsOf(Instance(7)), 2);
}

TEST_F(ExecutorCoreTest, ExitOfUserCodeIsExplained) {
  RunAll();
  EndOf(Instance(7), 0);
  EndOf(Instance(8), 1);
  const auto report = core_.Report();
  ASSERT_EQ(report.failures_size(), 2);
  EXPECT_NE(report.failures(0).reason().find("user code must not call exit"), std::string::npos)
      << report.failures(0).reason();
  EXPECT_EQ(report.failures(1).reason().find("user code"), std::string::npos)
      << report.failures(1).reason();
}

TEST_F(ExecutorCoreTest, WhatOthersStopIsStartedAgainAtOnceAndHasNotFailed) {
  RunAll();
  for (int i = 1; i <= 3; ++i) {
    EndOf(Instance(7), kExitStopped);
    if (i == 1) {
      EXPECT_TRUE(core_.children().at(Instance(7)).alive());
    }
    while (!core_.children().at(Instance(7)).alive()) ToNextDeadline();
    const auto report = core_.Report();
    ASSERT_EQ(report.failures_size(), i);
    EXPECT_EQ(report.failures(i - 1).failures_in_a_row(), 0u);
    EXPECT_TRUE(report.failures(i - 1).had_progress());
  }
}

TEST_F(ExecutorCoreTest, StopEndsChildrenAndExitsZero) {
  RunAll();
  Give(Plan(proto::ContainerPlan::STOP));
  EXPECT_EQ(effects_.Signals(Instance(7), SIGTERM), 1);
  EXPECT_EQ(effects_.Signals(kStreamManager, SIGTERM), 0) << "it stays while instances are there";
  EndOf(Instance(7), 0);
  EXPECT_TRUE(effects_.exits.empty());
  EXPECT_EQ(ToNextDeadline(), seconds(2));
  EXPECT_EQ(effects_.Signals(Instance(8), SIGKILL), 1) << "it ignored SIGTERM";
  EXPECT_EQ(effects_.Signals(Instance(7), SIGKILL), 0);
  EndOf(Instance(8), -1, 9);
  EXPECT_EQ(effects_.Signals(kStreamManager, SIGTERM), 1);
  EndOf(kStreamManager, 0);
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitOk});
  EXPECT_EQ(core_.Report().failures_size(), 0) << "what was stopped did not fail";
}

TEST_F(ExecutorCoreTest, NothingIsStartedAfterStop) {
  RunAll();
  EndOf(Instance(7), 1);
  EndOf(Instance(7), 1);  // waits 100 ms now
  Give(Plan(proto::ContainerPlan::STOP));
  Give(Plan(proto::ContainerPlan::RUN));
  const size_t starts = effects_.starts.size();
  EndOf(Instance(8), 0);
  EndOf(kStreamManager, 0);
  EXPECT_EQ(effects_.starts.size(), starts);
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitOk});
}

TEST_F(ExecutorCoreTest, ProcessThatSurvivesSigkillDoesNotHoldTheExecutorForEver) {
  RunAll();
  Give(Plan(proto::ContainerPlan::FENCED));
  while (effects_.exits.empty() && core_.NextDeadline().has_value()) ToNextDeadline();
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitFenced});
  EXPECT_NE(effects_.exit_reason.find("3 processes did not end"), std::string::npos);
}

TEST_F(ExecutorCoreTest, FencedKillsEverythingAtOnce) {
  RunAll();
  Give(Plan(proto::ContainerPlan::FENCED));
  for (const ChildKey& key : {kStreamManager, Instance(7), Instance(8)}) {
    EXPECT_EQ(effects_.Signals(key, SIGKILL), 1);
    EndOf(key, -1, 9);
  }
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitFenced});
}

TEST_F(ExecutorCoreTest, FencedChildTakesTheContainerWithIt) {
  RunAll();
  EndOf(Instance(7), kExitFenced);
  EXPECT_EQ(effects_.Signals(kStreamManager, SIGKILL), 1);
  EXPECT_EQ(effects_.Signals(Instance(8), SIGKILL), 1);
  EndOf(kStreamManager, -1, 9);
  EndOf(Instance(8), -1, 9);
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitFenced});
}

TEST_F(ExecutorCoreTest, NotWantedStopsEverything) {
  core_.Start(now());
  Give(Plan(proto::ContainerPlan::NOT_WANTED));
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitNotWanted});
}

TEST_F(ExecutorCoreTest, LowerMastershipIsIgnored) {
  RunAll();
  Give(Plan(proto::ContainerPlan::RUN, 1, {7, 8}, 5));
  Give(Plan(proto::ContainerPlan::STOP, 1, {}, 4));
  EXPECT_FALSE(core_.ending());
  EXPECT_EQ(core_.ignored_plans(), 1u);
  Give(Plan(proto::ContainerPlan::WAIT, 0, {}, 6));
  EXPECT_TRUE(effects_.signals.empty()) << "a new master that knows nothing yet stops nothing";
}

TEST_F(ExecutorCoreTest, TaskThatLeftThePlanIsStoppedAndForgotten) {
  RunAll();
  Give(Plan(proto::ContainerPlan::RUN, 1, {7}));
  EXPECT_EQ(effects_.Signals(Instance(8), SIGTERM), 1);
  EndOf(Instance(8), 0);
  EXPECT_EQ(core_.children().count(Instance(8)), 0u);
  EXPECT_EQ(core_.Report().failures_size(), 0);
  EXPECT_EQ(effects_.StartsOf(Instance(8)), 1);
}

TEST_F(ExecutorCoreTest, TaskThatComesBackWhileItIsStoppedStartsAgainOnlyAfterItsEnd) {
  RunAll();
  Give(Plan(proto::ContainerPlan::RUN, 1, {7}));
  Give(Plan(proto::ContainerPlan::RUN, 1, {7, 8}));
  EXPECT_EQ(effects_.StartsOf(Instance(8)), 1);
  EndOf(Instance(8), 0);
  EXPECT_EQ(effects_.StartsOf(Instance(8)), 2);
  EXPECT_EQ(core_.children().at(Instance(8)).epoch, (Epoch{1, 1}));
  EXPECT_EQ(core_.Report().failures_size(), 0);
}

TEST_F(ExecutorCoreTest, HigherIncarnationRestartsEverythingInIt) {
  RunAll();
  Give(Plan(proto::ContainerPlan::RUN, 4));
  EXPECT_EQ(effects_.Signals(kStreamManager, SIGTERM), 1);
  EndOf(Instance(7), 0);
  EXPECT_EQ(effects_.StartsOf(Instance(7)), 1) << "its new stream manager does not listen yet";
  EndOf(kStreamManager, 0);
  EXPECT_EQ(effects_.starts.back().epoch, (Epoch{4, 0}));
  StreamManagerListens(7000);
  EXPECT_EQ(core_.children().at(Instance(7)).epoch, (Epoch{4, 0}));
  EXPECT_EQ(core_.Report().failures_size(), 0);
  Give(Plan(proto::ContainerPlan::RUN, 2));
  EXPECT_EQ(core_.incarnation(), 4u);
}

TEST_F(ExecutorCoreTest, OnlyTheProcessThatRunsNowIsAdmitted) {
  RunAll();
  const proto::Identity first = IdentityOf(Instance(7));
  EXPECT_EQ(core_.Admit(first), ExecutorCore::Admission::kAdmitted);
  EndOf(Instance(7), 1);
  EXPECT_EQ(core_.Admit(first), ExecutorCore::Admission::kFenced);
  proto::ChildReport late;
  late.set_error("of an earlier life");
  core_.OnChildReport(first, late, now());
  EndOf(Instance(7), 1, 0, "exited with code 1");
  EXPECT_EQ(core_.Report().failures(1).reason(), "exited with code 1");
  proto::Identity stranger = first;
  stranger.set_task(70);
  EXPECT_EQ(core_.Admit(stranger), ExecutorCore::Admission::kNotWanted);
  stranger = first;
  stranger.set_container(2);
  EXPECT_EQ(core_.Admit(stranger), ExecutorCore::Admission::kNotWanted);
}

TEST_F(ExecutorCoreTest, StoreThatSaysEndedOrKilled) {
  RunAll();
  core_.OnStoreVerdict(model::StoreVerdict::kGoOn, now());
  EXPECT_FALSE(core_.ending());
  core_.OnStoreVerdict(model::StoreVerdict::kNotWanted, now());
  for (const ChildKey& key : {kStreamManager, Instance(7), Instance(8)}) EndOf(key, 0);
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitNotWanted});
}

TEST_F(ExecutorCoreTest, SigtermStopsChildrenAndTellsTheSupervisorToStartItAgain) {
  RunAll();
  core_.OnTerminate(now());
  for (const ChildKey& key : {Instance(7), Instance(8), kStreamManager}) {
    EXPECT_EQ(effects_.Signals(key, SIGTERM), 1);
    EndOf(key, 0);
  }
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitStopped});
}

TEST_F(MasterContainerTest, StartsTheMasterAtOnceAndAgainWhenItDies) {
  core_.Start(now());
  ASSERT_EQ(effects_.StartsOf(kMaster), 1);
  EndOf(kMaster, -1, 9, "killed by signal 9 (Killed)");
  EXPECT_EQ(effects_.StartsOf(kMaster), 2);
  EXPECT_EQ(core_.Report().failures(0).process(), "topology-master");
  Give(Plan(proto::ContainerPlan::RUN, 2));
  EXPECT_EQ(effects_.starts.size(), 2u) << "no tasks in the master's container";
}

TEST_F(MasterContainerTest, StopEndsTheMasterAtOnce) {
  // The master tells its own container last, when the others are gone.
  core_.Start(now());
  Give(Plan(proto::ContainerPlan::STOP));
  Give(Plan(proto::ContainerPlan::STOP));  // repeated with each interval
  EXPECT_EQ(effects_.Signals(kMaster, SIGTERM), 1);
  EndOf(kMaster, 0);
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitOk});
}

TEST_F(MasterContainerTest, MasterThatEndsByItselfAfterStopIsEnough) {
  core_.Start(now());
  Give(Plan(proto::ContainerPlan::STOP));
  EndOf(kMaster, 0);
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitOk});
}

TEST_F(MasterContainerTest, MasterThatIsNotWantedEndsTheExecutor) {
  core_.Start(now());
  EndOf(kMaster, kExitNotWanted);
  EXPECT_EQ(effects_.exits, std::vector<int>{kExitNotWanted});
}

}  // namespace
}  // namespace heron::executor
