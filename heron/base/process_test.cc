#include "heron/base/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "heron/base/exit_codes.h"

namespace heron {
namespace {

bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return condition();
}

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    options_.log_file = (folder_ / "log").string();
  }

  static std::string Program() {
    return std::filesystem::absolute("heron/base/process_test_child").string();
  }
  std::string Log() const {
    std::ifstream in(options_.log_file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  EndedChild WaitForEnd(pid_t pid) {
    EndedChild ended;
    EXPECT_TRUE(Eventually([&] {
      while (auto one = ReapChild()) {
        if (one->pid == pid) ended = *one;
      }
      return ended.pid == pid;
    }));
    return ended;
  }
  ProcessIdentity Start(std::vector<std::string> arguments) {
    options_.argv = {Program()};
    options_.argv.insert(options_.argv.end(), arguments.begin(), arguments.end());
    const Result<ProcessIdentity> child = SpawnProcess(options_);
    EXPECT_TRUE(child.ok()) << child.status().ToString();
    return child.ok() ? *child : ProcessIdentity{};
  }

  std::filesystem::path folder_;
  SpawnOptions options_;
};

TEST_F(ProcessTest, ChildGetsExactlyWhatItWasGiven) {
  signal(SIGPIPE, SIG_IGN);
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);
  int leak[2];
  ASSERT_EQ(pipe(leak), 0);  // without close-on-exec
  options_.environment = {{"VARIABLE", "with = and spaces"}};
  options_.working_folder = folder_.string();
  const ProcessIdentity child = Start({"describe"});
  EXPECT_EQ(WaitForEnd(child.pid).exit_code, 0);
  pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
  close(leak[0]);
  close(leak[1]);

  const std::string log = Log();
  EXPECT_NE(log.find("folder=" + std::filesystem::canonical(folder_).string() + "\n"),
            std::string::npos)
      << log;
  for (const char* line :
       {"VARIABLE=with = and spaces\n", "HOME=(none)\n", "leader=1\n", "session=0\n",
        "pipe_default=1\n", "term_blocked=0\n", "stdin=0\n", "descriptors=3\n", "on stderr\n"}) {
    EXPECT_NE(log.find(line), std::string::npos) << line << "is missing in\n" << log;
  }
}

TEST_F(ProcessTest, LogIsAppendedToWithItsMode) {
  options_.log_mode = 0600;
  WaitForEnd(Start({"describe"}).pid);
  const size_t once = Log().size();
  WaitForEnd(Start({"describe"}).pid);
  EXPECT_GE(Log().size(), 2 * once);
  struct stat info;
  ASSERT_EQ(stat(options_.log_file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(ProcessTest, HeadlineWithThePidStandsBeforeTheOutput) {
  options_.log_headline = "--- started with pid ";
  const ProcessIdentity child = Start({"describe"});
  WaitForEnd(child.pid);
  EXPECT_EQ(Log().find("--- started with pid " + std::to_string(child.pid) + "\n"), 0u) << Log();
}

TEST_F(ProcessTest, ChildrenAreListed) {
  const ProcessIdentity child = Start({"pause"});
  const auto children = ListChildren(getpid());
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(children[0].pid, child.pid);
  ASSERT_TRUE(SignalProcess(child, SIGKILL).ok());
  WaitForEnd(child.pid);
  EXPECT_TRUE(ListChildren(getpid()).empty());
}

TEST_F(ProcessTest, NewSession) {
  options_.new_session = true;
  WaitForEnd(Start({"describe"}).pid);
  EXPECT_NE(Log().find("session=1\n"), std::string::npos) << Log();
}

TEST_F(ProcessTest, MissingProgramNamesTheFileAndLeavesNoChild) {
  options_.argv = {"/no/such/program"};
  const auto child = SpawnProcess(options_);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.status().code(), StatusCode::kNotFound);
  EXPECT_NE(child.status().message().find("/no/such/program"), std::string::npos);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST_F(ProcessTest, NotExecutableProgram) {
  const std::string path = (folder_ / "data").string();
  std::ofstream(path) << "no program";
  options_.argv = {path};
  const auto child = SpawnProcess(options_);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.status().code(), StatusCode::kPermissionDenied);
  EXPECT_NE(child.status().message().find(path), std::string::npos);
}

TEST_F(ProcessTest, MissingWorkingFolderIsNamed) {
  options_.argv = {Program(), "exit", "0"};
  options_.working_folder = "/no/such/folder";
  const auto child = SpawnProcess(options_);
  ASSERT_FALSE(child.ok());
  EXPECT_NE(child.status().message().find("/no/such/folder"), std::string::npos);
}

TEST_F(ProcessTest, EndsAreDescribed) {
  const EndedChild exited = WaitForEnd(Start({"exit", "7"}).pid);
  EXPECT_EQ(exited.exit_code, 7);
  EXPECT_EQ(DescribeEnd(exited), "exited with code 7");
  const ProcessIdentity pausing = Start({"pause"});
  ASSERT_TRUE(SignalProcess(pausing, SIGKILL).ok());
  const EndedChild killed = WaitForEnd(pausing.pid);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.exit_code, -1);
  EXPECT_EQ(DescribeEnd(killed), "killed by signal 9 (Killed)");
}

TEST_F(ProcessTest, ChildDiesWithItsKilledParent) {
  const ProcessIdentity parent = Start({"spawn"});
  ASSERT_TRUE(Eventually([&] { return Log().find('\n') != std::string::npos; }));
  const Result<ProcessIdentity> grandchild = IdentityOf(std::stoi(Log()));
  ASSERT_TRUE(grandchild.ok());
  ASSERT_TRUE(IsAlive(*grandchild));
  ASSERT_TRUE(SignalProcess(parent, SIGKILL).ok());
  EXPECT_TRUE(Eventually([&] { return !IsAlive(*grandchild); }));
  WaitForEnd(parent.pid);
}

TEST_F(ProcessTest, SubreaperAdoptsDaemonsOfItsChildren) {
  ASSERT_TRUE(SetChildSubreaper().ok());
  WaitForEnd(Start({"double-fork"}).pid);
  ASSERT_TRUE(Eventually([&] { return Log().find('\n') != std::string::npos; }));
  const pid_t daemon = std::stoi(Log());
  ASSERT_TRUE(Eventually([&] {
    const auto stat = ReadProcessStat(daemon);
    return stat.ok() && stat->parent == getpid();
  }));
  const Result<ProcessIdentity> identity = IdentityOf(daemon);
  ASSERT_TRUE(identity.ok());
  ASSERT_TRUE(SignalProcess(*identity, SIGKILL).ok());
  EXPECT_EQ(WaitForEnd(daemon).signal, SIGKILL);
}

TEST_F(ProcessTest, PidIsStillTakenBeforeReaping) {
  const ProcessIdentity child = Start({"exit", "0"});
  bool seen = false;
  ASSERT_TRUE(Eventually([&] {
    return ReapChild([&](pid_t pid) { seen = ReadProcessStat(pid).ok() && pid == child.pid; })
        .has_value();
  }));
  EXPECT_TRUE(seen);
  EXPECT_EQ(ReadProcessStat(child.pid).status().code(), StatusCode::kNotFound);
}

TEST_F(ProcessTest, StrangerWithTheSamePidIsNotSignalled) {
  const ProcessIdentity child = Start({"pause"});
  ProcessIdentity earlier = child;
  earlier.start_ticks -= 1;
  EXPECT_FALSE(IsAlive(earlier));
  EXPECT_EQ(SignalProcess(earlier, SIGKILL).code(), StatusCode::kNotFound);
  ProcessIdentity other_boot = child;
  other_boot.boot_id = "before";
  EXPECT_EQ(SignalProcess(other_boot, SIGKILL).code(), StatusCode::kNotFound);
  EXPECT_TRUE(IsAlive(child));
  ASSERT_TRUE(SignalProcess(child, SIGKILL).ok());
  WaitForEnd(child.pid);
  EXPECT_EQ(SignalProcess(child, SIGKILL).code(), StatusCode::kNotFound);
}

TEST_F(ProcessTest, FoundByAWholeEnvironmentEntry) {
  const std::string id = "t-" + std::to_string(getpid());
  options_.environment = {{"HERON_TOPOLOGY_ID", id}};
  const ProcessIdentity child = Start({"pause"});
  const auto found = FindProcesses("HERON_TOPOLOGY_ID=" + id);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].identity, child);
  EXPECT_EQ(found[0].command_line, (std::vector<std::string>{Program(), "pause"}));
  EXPECT_TRUE(FindProcesses("HERON_TOPOLOGY_ID=" + id.substr(0, id.size() - 1)).empty());
  ASSERT_TRUE(SignalProcess(child, SIGKILL).ok());
  EXPECT_TRUE(Eventually([&] { return FindProcesses("HERON_TOPOLOGY_ID=" + id).empty(); }));
  WaitForEnd(child.pid);
}

TEST(ParseProcessStatTest, CommandNameMayHoldAnything) {
  const auto stat =
      ParseProcessStat("12 (a) b ( c) S 3 4 5 0 -1 1 1 0 0 0 0 0 0 0 20 0 1 0 98765 1 1\n");
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->pid, 12);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 3);
  EXPECT_EQ(stat->group, 4);
  EXPECT_EQ(stat->session, 5);
  EXPECT_EQ(stat->start_ticks, 98765u);
  EXPECT_FALSE(ParseProcessStat("").ok());
  EXPECT_FALSE(ParseProcessStat("12 (a) S 3").ok());
}

}  // namespace
}  // namespace heron
