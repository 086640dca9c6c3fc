// What nobody runs, what nobody has a record of, and how it comes back: with real processes.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

const std::vector<std::string> kSupervisor = {"heron-supervisor", "--topology=t"};
const std::vector<std::string> kMaster = {"heron-topology-master", "--topology=t"};
std::vector<std::string> Executor(int container) {
  return {"heron-executor", "--topology=t", "--container=" + std::to_string(container)};
}

class StatesTest : public ::testing::Test {
 protected:
  void Submit(const std::vector<std::string>& more = {"--", "endless"}) {
    std::vector<std::string> argv = {
        "submit",       "local", cluster_.Program("tests/integration/probe"), "t", "--wait=running",
        "--containers", "2"};
    argv.insert(argv.end(), more.begin(), more.end());
    auto r = cluster_.Heron(argv);
    ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster_.Logs("t");
  }
  std::string Show() { return cluster_.Heron({"topologies"}).out; }
  // -1 or a pid that is not `old`, within the time.
  int AwaitPid(const std::vector<std::string>& who, int old) {
    int pid = 0;
    const bool there = Eventually(seconds(10), [&] {
      pid = cluster_.PidOf(who);
      return pid != 0 && pid != old;
    });
    EXPECT_TRUE(there) << who[0] << cluster_.Logs("t");
    return there ? pid : -1;
  }
  // The same of the supervisor, once it has all executors: before, it forks.
  int AwaitSupervisor(int old) {
    int pid = 0;
    const bool there = Eventually(seconds(10), [&] {
      pid = cluster_.PidOf(kSupervisor);
      if (pid == 0 || pid == old) return false;
      for (const auto& entry :
           fs::recursive_directory_iterator(cluster_.root() + "/local/topologies")) {
        if (entry.path().filename() != "supervisor.pid") continue;
        const std::string text = RealCluster::ReadFile(entry.path());
        if (text.find("\"pid\":" + std::to_string(pid) + ",") != std::string::npos) return true;
      }
      return false;
    });
    EXPECT_TRUE(there) << pid << cluster_.Logs("t");
    return there ? pid : -1;
  }
  void KillAll() {
    Eventually(seconds(10), [&] {
      for (const auto& process : cluster_.Processes()) kill(process.pid, SIGKILL);
      return cluster_.Processes().empty();
    });
  }
  void ExpectFlow() {
    const int64_t before = cluster_.ExecutedTuples("t");
    EXPECT_TRUE(Eventually(seconds(10), [&] {
      return cluster_.ExecutedTuples("t") > before + 500;
    })) << cluster_.Logs("t");
  }

  RealCluster cluster_;
};

TEST_F(StatesTest, KillFindsAllProcessesWhenEverythingOnDiskIsGone) {
  auto refused = cluster_.Heron({"kill", "t"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_FALSE(fs::exists(cluster_.root())) << "a refused kill makes no folders";
  Submit();
  const size_t processes = cluster_.Processes().size();
  EXPECT_EQ(processes, 9u);
  fs::remove_all(cluster_.root());
  EXPECT_NE(Show().find("its records in the state store are gone"), std::string::npos) << Show();
  EXPECT_EQ(cluster_.Heron({"kill", "u"}).exit_code, 1);
  EXPECT_EQ(cluster_.Heron({"kill", "local/another", "t"}).exit_code, 1);
  EXPECT_FALSE(fs::exists(cluster_.root() + "/local/state"));
  RealCluster other;  // the same name in another root
  EXPECT_EQ(other.Heron({"kill", "t"}).exit_code, 1);
  EXPECT_GE(cluster_.Processes().size() + 1, processes) << "the master may be on its way back";
  auto again = cluster_.Heron(
      {"submit", "local", cluster_.Program("tests/integration/probe"), "t", "--", "endless"});
  EXPECT_NE(again.err.find("whose records are gone; end them: heron kill t"), std::string::npos)
      << again.err;
  auto killed = cluster_.Heron({"kill", "t"});
  EXPECT_EQ(killed.exit_code, 0) << killed.err;
  EXPECT_TRUE(cluster_.Processes().empty());
}

TEST_F(StatesTest, RebootIsToldAndRestartBringsItBack) {
  cluster_.SetEnvironment("HERON_BOOT_ID", "before");
  Submit();
  ASSERT_EQ(cluster_.Heron({"deactivate", "t"}).exit_code, 0);
  KillAll();
  EXPECT_NE(Show().find("none of its processes is alive; bring it back: heron restart t"),
            std::string::npos)
      << Show();
  cluster_.SetEnvironment("HERON_BOOT_ID", "after");
  EXPECT_EQ(cluster_.State("t"), "LOST");
  EXPECT_NE(Show().find("this machine was rebooted at 2"), std::string::npos) << Show();
  auto waited = cluster_.Heron({"wait", "t", "--timeout", "20s"});
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_NE(waited.err.find("t is LOST: this machine was rebooted at"), std::string::npos)
      << waited.err;
  auto restarted = cluster_.Heron({"restart", "t"});
  EXPECT_EQ(restarted.exit_code, 0) << restarted.err << cluster_.Logs("t");
  EXPECT_EQ(cluster_.State("t"), "INACTIVE") << "what is wanted stays";
  ASSERT_EQ(cluster_.Heron({"activate", "t"}).exit_code, 0);
  ExpectFlow();
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
  EXPECT_TRUE(cluster_.Processes().empty());
  EXPECT_EQ(cluster_.Heron({"restart", "t"}).exit_code, 1);
  EXPECT_FALSE(fs::exists(cluster_.root() + "/local/topologies/" + "t"));
}

TEST_F(StatesTest, ASupervisorThatDiesIsReplacedAndLooksAfterWhatTheFirstOneLeft) {
  Submit();
  const int first = cluster_.PidOf(kSupervisor);
  const int executor = cluster_.PidOf(Executor(1));
  ASSERT_GT(first, 0);
  kill(first, SIGKILL);
  const int second = AwaitSupervisor(first);
  EXPECT_EQ(cluster_.PidOf(Executor(1)), executor) << "adopted, not started anew";
  ASSERT_GT(executor, 0);
  kill(executor, SIGKILL);
  AwaitPid(Executor(1), executor);
  EXPECT_EQ(cluster_.Heron({"wait", "t", "--for", "running", "--timeout", "20s"}).exit_code, 0);
  ExpectFlow();
  // Both at once: the executors that are left bring back all of it.
  const int master = cluster_.PidOf(kMaster);
  ASSERT_GT(second, 0);
  kill(second, SIGKILL);
  kill(cluster_.PidOf(Executor(0)), SIGKILL);
  const int third = AwaitSupervisor(second);
  AwaitPid(kMaster, master);
  ExpectFlow();
  EXPECT_EQ(cluster_.State("t"), "RUNNING");
  EXPECT_EQ(cluster_.PidOf(kSupervisor), third) << "there is one, and it stays";
  // A kill is not undone by those who would start another supervisor.
  ASSERT_GT(third, 0);
  kill(third, SIGKILL);
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
  EXPECT_TRUE(cluster_.Processes().empty());
}

TEST_F(StatesTest, NobodyWhoRunsItIsLostUntilSomebodyIsThere) {
  Submit();
  // Without this file the executors that are left cannot start a supervisor.
  for (const auto& entry :
       fs::recursive_directory_iterator(cluster_.root() + "/local/topologies")) {
    if (entry.path().filename() == "launch")
      fs::rename(entry.path(), cluster_.folder() + "/launch");
  }
  const int supervisor = cluster_.PidOf(kSupervisor);
  kill(supervisor, SIGKILL);
  kill(cluster_.PidOf(Executor(0)), SIGKILL);
  EXPECT_TRUE(Eventually(seconds(5), [&] { return cluster_.State("t") == "LOST"; }));
  EXPECT_NE(Show().find("reason: no supervisor and no topology master are running; bring it back: "
                        "heron restart t"),
            std::string::npos)
      << Show();
  auto part = cluster_.Heron({"restart", "t", "--container", "1"});
  EXPECT_NE(part.err.find("restart all of it"), std::string::npos) << part.err;
  auto restarted = cluster_.Heron({"restart", "t"});
  EXPECT_EQ(restarted.exit_code, 0) << restarted.err << cluster_.Logs("t");
  EXPECT_EQ(cluster_.State("t"), "RUNNING");
  EXPECT_EQ(cluster_.Processes().size(), 9u) << "the old ones are gone";
  ExpectFlow();
}

TEST_F(StatesTest, PartsAreRestartedAlone) {
  Submit();
  const int one = cluster_.PidOf(Executor(1)), two = cluster_.PidOf(Executor(2));
  auto container = cluster_.Heron({"restart", "t", "--container", "1", "--output", "json"});
  EXPECT_EQ(container.exit_code, 0) << container.err << cluster_.Logs("t");
  EXPECT_NE(container.out.find("\"state\": \"RUNNING\""), std::string::npos) << container.out;
  EXPECT_NE(cluster_.PidOf(Executor(1)), one);
  EXPECT_EQ(cluster_.PidOf(Executor(2)), two);
  const std::vector<std::string> work = {"--heron-component=work"};
  const int task = cluster_.PidOf(work), spout = cluster_.PidOf({"--heron-component=numbers"});
  auto component = cluster_.Heron({"restart", "t", "--component", "work"});
  EXPECT_EQ(component.exit_code, 0) << component.err << cluster_.Logs("t");
  EXPECT_NE(cluster_.PidOf(work), task);
  EXPECT_EQ(cluster_.PidOf({"--heron-component=numbers"}), spout);
  EXPECT_NE(Show().find("told to stop (heron restart, or SIGTERM)"), std::string::npos) << Show();
  ExpectFlow();
}

TEST_F(StatesTest, ClusterStopKeepsTheRecordsAndStartBringsThemBack) {
  Submit();
  auto stopped = cluster_.Heron({"cluster", "stop"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_EQ(stopped.out, "stopped 1 topology\n");
  EXPECT_TRUE(cluster_.Processes().empty());
  EXPECT_EQ(cluster_.State("t"), "LOST");
  EXPECT_NE(Show().find("it was stopped (heron cluster stop) at 2"), std::string::npos) << Show();
  EXPECT_NE(cluster_.Heron({"cluster", "stop"}).out.find("nothing to do"), std::string::npos);
  auto started = cluster_.Heron({"cluster", "start"});
  EXPECT_EQ(started.exit_code, 0) << started.err << cluster_.Logs("t");
  EXPECT_EQ(started.err, "t: restarted, it was LOST\n");
  ExpectFlow();
  EXPECT_NE(cluster_.Heron({"cluster", "start"}).out.find("nothing to do"), std::string::npos);
  auto status = cluster_.Heron({"cluster", "status"}).out;
  EXPECT_NE(status.find("topologies:  1 RUNNING\nprocesses:   9\n"), std::string::npos) << status;
}

TEST_F(StatesTest, WhatCloseAndCleanupThrowIsShownAndTakesNothingBack) {
  const std::string out = cluster_.folder() + "/out";
  auto r = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "t",
                           "--wait=finished", "--", "bounded", "tuples=100", "out=" + out,
                           "throw=close"});
  EXPECT_EQ(r.exit_code, 0) << r.err << cluster_.Logs("t");
  EXPECT_EQ(RealCluster::ReadFile(out), "100 4950\n");
  EXPECT_EQ(r.err.find("incomplete"), std::string::npos) << r.err;
  const std::string shown = cluster_.Heron({"topologies", "--output", "json"}).out;
  for (const char* text :
       {"component 'numbers', task 1, Close: ", "component 'total', task 4, Cleanup: ",
        "the connection was lost; its output is complete all the same", "\"restarts\": 0"}) {
    EXPECT_NE(shown.find(text), std::string::npos) << text << shown;
  }
}

TEST_F(StatesTest, ExecuteThatAlwaysThrowsNeverLooksComplete) {
  auto r = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "t",
                           "--wait=finished", "--", "bounded", "tuples=10",
                           "out=" + cluster_.folder() + "/out", "throw=type"});
  EXPECT_TRUE(r.exit_code == 1 || r.err.find("incomplete: task 2") != std::string::npos ||
              r.err.find("incomplete: task 3") != std::string::npos)
      << r.exit_code << r.err;
  EXPECT_NE(r.err.find("work"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("TypeError"), std::string::npos) << r.err;
}

TEST_F(StatesTest, ExitOfUserCodeIsExplained) {
  Submit({"--", "exit-execute"});
  EXPECT_TRUE(Eventually(seconds(20), [&] {
    return Show().find("exited with code 3 by itself; user code must not call exit") !=
           std::string::npos;
  })) << Show();
}

}  // namespace
}  // namespace heron::testing
