// kill -9 of each kind of process while data flows, and around Finish.
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>
#include <string>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RecoveryTest : public ::testing::Test {
 protected:
  // "probe bounded" in the background; `more` are further key=value.
  void SubmitBounded(const std::string& name, const std::vector<std::string>& more) {
    out_ = cluster_.folder() + "/" + name + ".out";
    marks_ = cluster_.folder() + "/" + name + ".marks";
    std::vector<std::string> argv = {"submit", "local", cluster_.Program("tests/integration/probe"),
                                     name, "--wait=running", "--containers", "2", "--", "bounded",
                                     "out=" + out_, "marks=" + marks_};
    argv.insert(argv.end(), more.begin(), more.end());
    auto r = cluster_.Heron(argv);
    ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster_.Logs(name);
  }

  CommandResult WaitFinished(const std::string& name) {
    return cluster_.Heron({"wait", name, "--for", "finished", "--timeout", "40s"}, seconds(60));
  }

  bool Marked(const std::string& text) {
    return RealCluster::ReadFile(marks_).find(text) != std::string::npos;
  }
  // How often each task began its Finish: never more than once.
  void ExpectFinishOncePerTask() {
    std::string marks = RealCluster::ReadFile(marks_);
    std::map<std::string, int> begun;
    std::regex line("finish-begin (\\S+)");
    for (std::sregex_iterator it(marks.begin(), marks.end(), line), end; it != end; ++it) ++begun[(*it)[1]];
    for (const auto& [task, times] : begun) EXPECT_EQ(times, 1) << task << "\n" << marks;
  }

  RealCluster cluster_;
  std::string out_, marks_;
};

TEST_F(RecoveryTest, EveryProcessComesBackWhileDataFlows) {
  ASSERT_EQ(cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "t", "--wait=running",
                            "--containers", "2", "--", "endless"})
                .exit_code,
            0);
  for (std::vector<std::string> who : {std::vector<std::string>{"--heron-component=work"},
                                       {"--heron-component=numbers"},
                                       {"heron-stream-manager", "--container=1"},
                                       {"heron-stream-manager", "--container=2"},
                                       {"heron-topology-master"},
                                       {"heron-supervisor"},
                                       {"--heron-component=work"}}) {
    int pid = cluster_.PidOf(who);
    ASSERT_NE(pid, 0) << who[0] << cluster_.Logs("t");
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_TRUE(Eventually(seconds(5), [&] {
      int now = cluster_.PidOf(who);
      return now != 0 && now != pid;
    })) << who[0] << " did not come back" << cluster_.Logs("t");
  }
  // Data flows: the count of executed tuples grows.
  int64_t before = cluster_.ExecutedTuples("t");
  EXPECT_TRUE(Eventually(seconds(10), [&] { return cluster_.ExecutedTuples("t") > before + 1000; })) << before << cluster_.Logs("t");
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0) << cluster_.Logs("t");
  EXPECT_TRUE(cluster_.Processes().empty());
}

TEST_F(RecoveryTest, KilledExecutorLeavesNoChildAndTheContainerComesBack) {
  ASSERT_EQ(cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "t", "--wait=running",
                            "--containers", "1", "--", "endless"})
                .exit_code,
            0);
  auto children = [&] { return cluster_.Processes("--heron-container=1"); };
  auto old_children = children();
  ASSERT_EQ(old_children.size(), 2u);
  int executor = cluster_.PidOf({"heron-executor", "--container=1"});
  ASSERT_NE(executor, 0);
  kill(executor, SIGKILL);
  EXPECT_TRUE(Eventually(seconds(1), [&] {
    for (const auto& old : old_children) {
      for (const auto& now : children()) {
        if (now.pid == old.pid) return false;
      }
    }
    return true;
  }));
  EXPECT_TRUE(Eventually(seconds(5), [&] { return children().size() == 2; })) << cluster_.Logs("t");
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
  EXPECT_TRUE(cluster_.Processes().empty());
}

TEST_F(RecoveryTest, BoundedTopologyEndsWithTheRightAnswer) {
  SubmitBounded("t", {"tuples=200000"});
  auto r = WaitFinished("t");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err << cluster_.Logs("t");
  EXPECT_EQ(r.out.find("incomplete"), std::string::npos) << r.out;
  EXPECT_EQ(RealCluster::ReadFile(out_), "200000 19999900000\n");
  ExpectFinishOncePerTask();
  EXPECT_TRUE(cluster_.Processes().empty());
}

struct KillCase {
  std::string name;
  std::vector<std::string> who;
  std::string when;  // a mark to wait for; empty: at once
};

class KillAroundFinishTest : public RecoveryTest, public ::testing::WithParamInterface<KillCase> {};

TEST_P(KillAroundFinishTest, EndsAndFinishRunsOnce) {
  SubmitBounded("t", {"tuples=3000", "pause_us=200", "finish_ms=700"});
  if (!GetParam().when.empty()) {
    ASSERT_TRUE(Eventually(seconds(20), [&] { return Marked(GetParam().when); })) << cluster_.Logs("t");
  }
  int pid = cluster_.PidOf(GetParam().who);
  ASSERT_NE(pid, 0);
  kill(pid, SIGKILL);
  auto r = WaitFinished("t");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err << cluster_.Logs("t");
  ExpectFinishOncePerTask();
  if (RealCluster::ReadFile(out_) != "3000 4498500\n") {
    EXPECT_NE((r.out + r.err).find("incomplete"), std::string::npos)
        << "a wrong answer must say so: " << RealCluster::ReadFile(out_) << r.out << r.err;
  }
  EXPECT_TRUE(Eventually(seconds(5), [&] { return cluster_.Processes().empty(); }));
}

INSTANTIATE_TEST_SUITE_P(
    Kills, KillAroundFinishTest,
    ::testing::Values(
        KillCase{"SpoutBefore", {"--heron-component=numbers"}, ""},
        KillCase{"BoltBefore", {"--heron-component=work", "--heron-index=1"}, ""},
        KillCase{"SinkBefore", {"--heron-component=total"}, ""},
        KillCase{"StreamManagerBefore", {"heron-stream-manager", "--container=1"}, ""},
        KillCase{"MasterBefore", {"heron-topology-master"}, ""},
        KillCase{"SpoutDuring", {"--heron-component=numbers"}, "finish-begin work[1]"},
        KillCase{"BoltDuring", {"--heron-component=work", "--heron-index=1"}, "finish-begin work[1]"},
        KillCase{"SinkDuring", {"--heron-component=total"}, "finish-begin total[0]"},
        KillCase{"StreamManagerDuring", {"heron-stream-manager", "--container=2"}, "finish-begin work[1]"},
        KillCase{"MasterDuring", {"heron-topology-master"}, "finish-begin work[1]"},
        KillCase{"MasterDuringLast", {"heron-topology-master"}, "finish-begin total[0]"},
        KillCase{"BoltAfter", {"--heron-component=work", "--heron-index=1"}, "finish-end work[1]"},
        KillCase{"SpoutAfter", {"--heron-component=numbers"}, "finish-begin total[0]"},
        KillCase{"StreamManagerAfter", {"heron-stream-manager", "--container=1"}, "finish-begin total[0]"}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace heron::testing
