#include "scheduler/local/supervisor_core.h"

#include <gtest/gtest.h>

#include <csignal>

#include "heron/base/exit_codes.h"

namespace scheduler::local {
namespace {

using heron::ContainerId;
using heron::Duration;
using heron::Status;
using heron::model::StoreVerdict;
using std::chrono::milliseconds;
using std::chrono::seconds;

class FakeEffects : public SupervisorCore::Effects {
 public:
  Status StartExecutor(ContainerId container) override {
    if (!start_error.ok()) return start_error;
    starts.push_back(container);
    return Status::Ok();
  }
  void SignalExecutor(ContainerId container, int signo) override {
    signals.push_back({container, signo});
  }
  void AskStore() override { ++asked; }
  void Exit(int code, const std::string&) override { exits.push_back(code); }

  Status start_error;
  std::vector<ContainerId> starts;
  std::vector<std::pair<ContainerId, int>> signals;
  int asked = 0;
  std::vector<int> exits;
};

class SupervisorCoreTest : public testing::Test {
 protected:
  SupervisorCoreTest() {
    EXPECT_TRUE(core_.Start({}, clock_.Now()).ok());
    effects_.starts.clear();
  }
  void EndOf(ContainerId container, int exit_code) {
    core_.OnExecutorEnded(container, exit_code, clock_.Now());
  }
  void StoreSays(StoreVerdict verdict) { core_.OnStoreVerdict(verdict, clock_.Now()); }
  Duration ToNextDeadline() {
    const auto next = core_.NextDeadline();
    EXPECT_TRUE(next.has_value());
    if (!next.has_value()) return Duration::zero();
    const Duration wait = *next - clock_.Now();
    clock_.Advance(wait);
    core_.OnTime(clock_.Now());
    return wait;
  }

  heron::ManualClock clock_;
  FakeEffects effects_;
  SupervisorCore core_{{0, 1, 2}, &effects_};
};

TEST_F(SupervisorCoreTest, KilledExecutorIsRestartedWithBackOff) {
  std::vector<int64_t> waits_ms;
  for (size_t life = 1; life <= 8; ++life) {
    const auto ended = clock_.Now();
    EndOf(1, -1);
    EXPECT_EQ(effects_.starts.size(), life - 1) << "not before the store was asked";
    StoreSays(StoreVerdict::kGoOn);
    if (effects_.starts.size() < life) ToNextDeadline();
    waits_ms.push_back((clock_.Now() - ended) / milliseconds(1));
  }
  EXPECT_EQ(waits_ms, (std::vector<int64_t>{0, 100, 200, 400, 800, 1600, 3200, 5000}));
  EXPECT_EQ(effects_.starts, std::vector<ContainerId>(8, 1));
}

TEST_F(SupervisorCoreTest, CodesThatMeanDoNotRestart) {
  EndOf(0, heron::kExitOk);
  EndOf(1, heron::kExitFenced);
  EXPECT_TRUE(effects_.exits.empty());
  EndOf(2, heron::kExitNotWanted);
  EXPECT_EQ(effects_.exits, std::vector<int>{heron::kExitOk});
  EXPECT_EQ(effects_.asked, 0);
  EXPECT_TRUE(effects_.starts.empty());
}

TEST_F(SupervisorCoreTest, KilledTopologyIsNotRestarted) {
  EndOf(1, -1);
  StoreSays(StoreVerdict::kNotWanted);
  EXPECT_TRUE(effects_.starts.empty());
  EndOf(0, heron::kExitError);
  StoreSays(StoreVerdict::kEnded);
  EXPECT_TRUE(effects_.exits.empty()) << "executor 2 still runs";
  EndOf(2, heron::kExitNotWanted);
  EXPECT_EQ(effects_.exits, std::vector<int>{heron::kExitOk});
}

TEST_F(SupervisorCoreTest, TerminateStopsThenKills) {
  EndOf(1, -1);  // asks the store
  core_.OnTerminate(clock_.Now());
  EXPECT_EQ(effects_.signals,
            (std::vector<std::pair<ContainerId, int>>{{0, SIGTERM}, {2, SIGTERM}}));
  StoreSays(StoreVerdict::kGoOn);
  EXPECT_TRUE(effects_.starts.empty());
  EndOf(0, 0);
  EXPECT_EQ(ToNextDeadline(), SupervisorCore::kStopGrace);
  EXPECT_EQ(effects_.signals.back(), (std::pair<ContainerId, int>{2, SIGKILL}));
  EndOf(2, -1);
  EXPECT_EQ(effects_.exits, std::vector<int>{heron::kExitOk});
}

TEST_F(SupervisorCoreTest, ExecutorThatCannotBeKilledDoesNotHoldItForEver) {
  core_.OnTerminate(clock_.Now());
  while (effects_.exits.empty() && core_.NextDeadline().has_value()) ToNextDeadline();
  EXPECT_EQ(effects_.exits, std::vector<int>{heron::kExitError});
}

TEST_F(SupervisorCoreTest, ExecutorThatCannotBeStartedIsTriedAgain) {
  EndOf(1, -1);
  effects_.start_error = heron::NotFound("heron-executor");
  StoreSays(StoreVerdict::kGoOn);
  EXPECT_EQ(effects_.asked, 2);
  StoreSays(StoreVerdict::kGoOn);
  effects_.start_error = Status::Ok();
  EXPECT_EQ(ToNextDeadline(), milliseconds(100));
  EXPECT_EQ(effects_.starts, std::vector<ContainerId>{1});
}

TEST(SupervisorCoreStartTest, FirstStartFails) {
  FakeEffects effects;
  effects.start_error = heron::NotFound("cannot execute /e/heron-executor");
  SupervisorCore core({0, 1}, &effects);
  heron::ManualClock clock;
  const Status started = core.Start({}, clock.Now());
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.message(), "cannot execute /e/heron-executor");
}

// A supervisor that finds the executors of an earlier one.
TEST(SupervisorCoreAdoptionTest, StartsOnlyWhatIsMissingAndRestartsTheAdopted) {
  heron::ManualClock clock;
  FakeEffects effects;
  SupervisorCore core({0, 1, 2}, &effects);
  ASSERT_TRUE(core.Start({0, 2}, clock.Now()).ok());
  EXPECT_EQ(effects.starts, std::vector<ContainerId>{1});
  core.OnExecutorEnded(2, SupervisorCore::kUnknownExit, clock.Now());
  EXPECT_EQ(effects.asked, 1) << "it may have ended for good";
  core.OnStoreVerdict(StoreVerdict::kGoOn, clock.Now());
  EXPECT_EQ(effects.starts, (std::vector<ContainerId>{1, 2}));
  core.OnExecutorEnded(0, SupervisorCore::kUnknownExit, clock.Now());
  core.OnStoreVerdict(StoreVerdict::kEnded, clock.Now());
  EXPECT_EQ(effects.starts, (std::vector<ContainerId>{1, 2}));
}

TEST(SupervisorCoreAdoptionTest, AStartThatFailsBesideAdoptedOnesIsTriedAgain) {
  heron::ManualClock clock;
  FakeEffects effects;
  SupervisorCore core({0, 1}, &effects);
  effects.start_error = heron::NotFound("no such file");
  EXPECT_FALSE(core.Start({0}, clock.Now()).ok());
  effects.start_error = Status::Ok();
  const auto next = core.NextDeadline();
  ASSERT_TRUE(next.has_value());
  core.OnTime(*next);
  EXPECT_EQ(effects.starts, std::vector<ContainerId>{1});
  EXPECT_TRUE(effects.exits.empty());
}

}  // namespace
}  // namespace scheduler::local
