#include "heron/executor/child_processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace heron::executor {
namespace {

class ChildProcessesTest : public testing::Test {
 protected:
  ChildProcessesTest() {
    CHECK(SetChildSubreaper().ok());
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ChildProcesses::Callbacks callbacks;
    callbacks.ended = [this](const ChildKey& key, const ChildEnd& end) {
      ended_.emplace_back(key, end);
      all_dead_at_end_ = true;
      for (const ProcessIdentity& identity : watched_) all_dead_at_end_ &= !IsAlive(identity);
      loop_.Stop();
    };
    callbacks.has_session = [this](const ChildKey&) { return has_session_; };
    processes_ = std::make_unique<ChildProcesses>(loop_, std::move(callbacks));
  }
  ~ChildProcessesTest() override { EXPECT_TRUE(processes_->KillAll(std::chrono::seconds(10))); }

  std::string Log() const { return (folder_ / "log").string(); }
  pid_t Start(const std::string& what) {
    SpawnOptions spawn;
    spawn.argv = {std::filesystem::absolute("heron/executor/child_processes_test_child").string(),
                  what};
    spawn.environment = {{"HERON_PROCESS", "instance-7"}};
    spawn.log_file = Log();
    spawn.log_headline = "--- pid ";
    const auto pid = processes_->Start(key_, spawn, "HERON_PROCESS=instance-7");
    EXPECT_TRUE(pid.ok()) << pid.status().ToString();
    return pid.ok() ? static_cast<pid_t>(*pid) : 0;
  }
  // Runs the loop until the condition holds.
  void RunUntil(const std::function<bool()>& condition) {
    const net::TimerId timer = loop_.RunEvery(std::chrono::milliseconds(2), [&] {
      if (condition()) loop_.Stop();
    });
    loop_.Run();
    loop_.CancelTimer(timer);
  }
  std::vector<pid_t> PidsInLog() const {
    std::ifstream in(Log());
    std::vector<pid_t> pids;
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("---", 0) != 0) pids.push_back(std::stoi(line));
    }
    return pids;
  }

  const ChildKey key_{proto::INSTANCE, 7};
  std::filesystem::path folder_;
  net::EventLoop loop_;
  bool has_session_ = false;
  std::vector<ProcessIdentity> watched_;
  bool all_dead_at_end_ = false;
  std::vector<std::pair<ChildKey, ChildEnd>> ended_;
  std::unique_ptr<ChildProcesses> processes_;
};

TEST_F(ChildProcessesTest, EndIsToldWithTheLastLinesOfThisLife) {
  std::ofstream(Log()) << "an earlier life\n";
  Start("fail");
  loop_.Run();
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].first, key_);
  EXPECT_EQ(ended_[0].second.exit_code, 3);
  EXPECT_EQ(ended_[0].second.description, "exited with code 3");
  EXPECT_EQ(ended_[0].second.last_output, "second | third | fourth");
}

TEST_F(ChildProcessesTest, HeadlineIsNotTakenForLastWords) {
  const pid_t pid = Start("pause");
  kill(pid, SIGKILL);
  loop_.Run();
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].second.signal, SIGKILL);
  EXPECT_EQ(ended_[0].second.last_output, "");
}

TEST_F(ChildProcessesTest, EndIsToldOnlyWhenNothingOfTheProcessIsLeft) {
  const pid_t pid = Start("leave-daemon-and-member");
  RunUntil([this] { return PidsInLog().size() == 2; });
  for (const pid_t left : PidsInLog()) {
    const auto identity = IdentityOf(left);
    ASSERT_TRUE(identity.ok());
    watched_.push_back(*identity);
  }
  kill(pid, SIGKILL);
  loop_.Run();
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_TRUE(all_dead_at_end_);
}

TEST_F(ChildProcessesTest, EndWaitsForTheSessionsLastWords) {
  has_session_ = true;
  bool session_gone = false;
  const pid_t pid = Start("pause");
  kill(pid, SIGKILL);
  loop_.RunAfter(std::chrono::milliseconds(20), [&] {
    EXPECT_TRUE(ended_.empty());
    has_session_ = false;
    session_gone = true;
    processes_->OnSessionGone();
  });
  loop_.Run();
  EXPECT_TRUE(session_gone);
  EXPECT_EQ(ended_.size(), 1u);
}

TEST_F(ChildProcessesTest, SessionThatStaysDoesNotHoldTheEndForEver) {
  has_session_ = true;
  kill(Start("pause"), SIGKILL);
  loop_.Run();
  EXPECT_EQ(ended_.size(), 1u);
}

TEST_F(ChildProcessesTest, KillAllLeavesNoDescendants) {
  Start("leave-daemon-and-member");
  RunUntil([this] { return PidsInLog().size() == 2; });
  for (const pid_t left : PidsInLog()) {
    const auto identity = IdentityOf(left);
    ASSERT_TRUE(identity.ok());
    watched_.push_back(*identity);
  }
  EXPECT_TRUE(processes_->KillAll(std::chrono::seconds(10)));
  for (const ProcessIdentity& identity : watched_) EXPECT_FALSE(IsAlive(identity));
  EXPECT_TRUE(ListChildren(getpid()).empty());
}

}  // namespace
}  // namespace heron::executor
