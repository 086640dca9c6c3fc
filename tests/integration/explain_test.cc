// `heron explain` in situations made with real processes: it must name the cause.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

using nlohmann::json;
using std::chrono::seconds;

class ExplainTest : public ::testing::Test {
 protected:
  std::string Probe() { return cluster_.Program("tests/integration/probe"); }
  CommandResult Submit(const std::string& name, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& options = {}, std::string program = "") {
    std::vector<std::string> argv = {"submit", "local", program.empty() ? Probe() : program, name};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("--");
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return cluster_.Heron(argv);
  }
  // The code of the cause to mend first; the whole answer is in `said_`.
  std::string Cause(const std::string& name) {
    const CommandResult r = cluster_.Heron({"explain", name, "--output", "json"});
    said_ = r.out + r.err;
    const json answer = json::parse(r.out, nullptr, false);
    return answer.is_object() && answer.contains("cause") ? answer["cause"].get<std::string>()
                                                          : said_;
  }
  bool Becomes(const std::string& name, const std::string& cause, seconds timeout = seconds(15)) {
    return Eventually(timeout, [&] { return Cause(name) == cause; });
  }
  bool Says(const std::string& text) const { return said_.find(text) != std::string::npos; }
  void Signal(const std::vector<std::string>& who, int signo) {
    const int pid = cluster_.PidOf(who);
    ASSERT_NE(pid, 0) << who[0];
    kill(pid, signo);
  }

  RealCluster cluster_;
  std::string said_;
};

TEST_F(ExplainTest, WhatNeverRan) {
  EXPECT_EQ(Cause("nothing"), "no_such_topology") << said_;

  auto submitted = Submit("bad", {"crash-describe"});
  EXPECT_EQ(submitted.exit_code, 1);
  EXPECT_EQ(Cause("bad"), "describe_failed") << said_;
  EXPECT_TRUE(Says("signal 11")) << said_;
  EXPECT_NE(submitted.err.find("killed by signal 11 (Segmentation fault)"), std::string::npos);
  EXPECT_TRUE(Says("killed by signal 11 (Segmentation fault)")) << "the same text";

  Submit("big", {"many"}, {"--parallelism-all", "10000"});
  EXPECT_EQ(Cause("big"), "packing_impossible") << said_;
  EXPECT_TRUE(Says("120000 tasks")) << said_;
  EXPECT_TRUE(Says("the largest plan has 100000")) << said_;

  Submit("wrong", {"endless"}, {"--parallelism", "wrok=2"});
  EXPECT_EQ(Cause("wrong"), "definition_refused") << said_;
  EXPECT_TRUE(Says("did you mean 'work'")) << said_;

  // A submit that does better takes the memory of the worse one along.
  ASSERT_EQ(Submit("bad", {"endless"}, {"--wait=running"}).exit_code, 0);
  EXPECT_EQ(Cause("bad"), "healthy") << said_;
  EXPECT_EQ(cluster_.Heron({"kill", "bad"}).exit_code, 0);
  EXPECT_EQ(Cause("bad"), "no_such_topology") << said_;
  EXPECT_TRUE(Says("was killed")) << said_;

  const std::string state = cluster_.root() + "/local/state";
  std::filesystem::remove_all(state);
  cluster_.WriteFile("root/local/state", "no folder");
  EXPECT_EQ(Cause("bad"), "state_unreachable") << said_;
  EXPECT_TRUE(Says(state)) << said_;
}

TEST_F(ExplainTest, ProcessesThatAreStoppedOrMissing) {
  auto r = Submit("t", {"endless"}, {"--wait=running", "--containers", "2"});
  ASSERT_EQ(r.exit_code, 0) << r.err << cluster_.Logs("t");
  EXPECT_TRUE(Becomes("t", "healthy")) << said_;
  EXPECT_TRUE(Says("does not end by itself")) << said_;

  Signal({"heron-stream-manager", "--container=2"}, SIGSTOP);
  EXPECT_TRUE(Becomes("t", "stream_managers_missing")) << said_;
  EXPECT_TRUE(Says("is stopped by a signal")) << said_;
  Signal({"heron-stream-manager", "--container=2"}, SIGCONT);
  EXPECT_TRUE(Becomes("t", "healthy")) << said_;

  Signal({"heron-topology-master"}, SIGSTOP);
  EXPECT_TRUE(Becomes("t", "topology_master_missing")) << said_;
  EXPECT_TRUE(Says("is stopped by a signal")) << said_;
  Signal({"heron-topology-master"}, SIGCONT);
  EXPECT_TRUE(Becomes("t", "healthy")) << said_;

  Signal({"heron-supervisor"}, SIGSTOP);
  EXPECT_TRUE(Becomes("t", "supervisor_missing")) << said_;
  Signal({"heron-executor", "--container=1"}, SIGKILL);
  EXPECT_TRUE(Becomes("t", "containers_missing")) << said_;
  EXPECT_TRUE(Says("no process of its executor is alive")) << said_;
  EXPECT_TRUE(Says("the supervisor, which would start it again, (pid")) << said_;

  // The master dies with the last that could start it again.
  Signal({"heron-executor", "--container=0"}, SIGKILL);
  EXPECT_TRUE(Becomes("t", "topology_master_missing")) << said_;
  EXPECT_TRUE(Says("containers_missing")) << said_;

  EXPECT_TRUE(Eventually(seconds(10), [&] {
    for (const auto& process : cluster_.Processes()) kill(process.pid, SIGKILL);
    return cluster_.Processes().empty();
  }));
  EXPECT_TRUE(Becomes("t", "lost")) << said_;
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
}

TEST_F(ExplainTest, ProcessesThatDieAgainAndAgain) {
  const std::string script = cluster_.WriteFile(
      "wrapper",
      "#!/bin/sh\ncase \"$1\" in --heron-describe*) exec " + Probe() +
          " \"$@\";; esac\necho \"$0: error while loading shared libraries: libgone.so.1\" "
          ">&2\nexit 127\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  ASSERT_EQ(Submit("throws", {"throw-execute"}).exit_code, 0);
  ASSERT_EQ(Submit("segfaults", {"segv-execute"}).exit_code, 0);
  ASSERT_EQ(Submit("unlinked", {"endless"}, {}, script).exit_code, 0);
  ASSERT_EQ(Submit("unrecoverable", {"unrecoverable"}).exit_code, 0);
  ASSERT_EQ(Submit("hangs", {"hang-open"}).exit_code, 0);

  EXPECT_TRUE(Becomes("throws", "crash_loop")) << said_ << cluster_.Logs("throws");
  EXPECT_TRUE(Says("work[0] (task 2) dies again and again")) << said_;
  EXPECT_TRUE(Says("log of work[0]")) << said_;
  EXPECT_TRUE(Says("cannot parse 17")) << said_;
  EXPECT_TRUE(Becomes("segfaults", "crash_loop")) << said_;
  EXPECT_TRUE(Says("signal 11")) << said_;
  EXPECT_TRUE(Says("reading the map")) << "its last words" << said_;
  EXPECT_TRUE(Becomes("unlinked", "crash_loop")) << said_;
  EXPECT_TRUE(Says("libgone.so.1")) << said_;
  EXPECT_TRUE(Becomes("unrecoverable", "unrecoverable")) << said_;
  EXPECT_TRUE(Says("table users does not exist")) << said_;
  EXPECT_TRUE(Becomes("hangs", "stuck_in_open")) << said_;
  EXPECT_TRUE(Says("work[0] (task 2) has not returned from Prepare")) << said_;

  const CommandResult text = cluster_.Heron({"explain", "throws"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find("  do: see its log: heron logs throws 'work[0]'"), std::string::npos)
      << text.out;
}

TEST_F(ExplainTest, WhatTheEndWaitsFor) {
  const std::string out = cluster_.folder() + "/inactive.out";
  ASSERT_EQ(
      Submit("slow", {"bounded", "tuples=3000", "work_us=50000", "out=" + out + "1"}).exit_code, 0);
  ASSERT_EQ(Submit("inactive", {"bounded", "tuples=2000", "pause_us=300", "out=" + out},
                   {"--wait=running"})
                .exit_code,
            0);
  ASSERT_EQ(cluster_.Heron({"deactivate", "inactive"}).exit_code, 0);
  ASSERT_EQ(Submit("lossy", {"bounded", "tuples=4000", "pause_us=300", "out=" + out + "2"},
                   {"--wait=running"})
                .exit_code,
            0);
  ASSERT_TRUE(Eventually(seconds(10), [&] { return cluster_.ExecutedTuples("lossy") > 0; }));
  Signal({"--heron-topology=lossy ", "--heron-component=work", "--heron-index=1"}, SIGKILL);

  ASSERT_EQ(Submit("holds", {"1000", "0", cluster_.folder(), "hold"}, {"--wait=running"},
                   cluster_.Program("tests/integration/reliable"))
                .exit_code,
            0);

  EXPECT_TRUE(Becomes("slow", "holds_back")) << said_ << cluster_.Logs("slow");
  EXPECT_TRUE(Says("is slow and holds the end")) << said_;
  EXPECT_TRUE(Says("\"component\": \"work\"")) << said_;

  EXPECT_TRUE(Becomes("holds", "holds_acks")) << said_ << cluster_.Logs("holds");
  EXPECT_TRUE(Says("\"component\": \"split\"")) << said_;
  EXPECT_TRUE(Becomes("inactive", "inactive")) << said_;
  EXPECT_TRUE(Says("does not finish until it is activated")) << said_;
  EXPECT_EQ(RealCluster::ReadFile(out), "");
  ASSERT_EQ(cluster_.Heron({"activate", "inactive"}).exit_code, 0);
  EXPECT_TRUE(Becomes("inactive", "finished")) << said_;
  EXPECT_EQ(RealCluster::ReadFile(out), "2000 1999000\n");

  EXPECT_TRUE(Becomes("lossy", "finished_incomplete")) << said_;
  EXPECT_TRUE(Says("was restarted in the middle")) << said_;
  EXPECT_TRUE(Says("killed by signal 9")) << said_;
}

}  // namespace
}  // namespace heron::testing
