// Submit, look, activate, deactivate, kill: what a user does, with real processes.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

using std::chrono::seconds;

class LifeCycleTest : public ::testing::Test {
 protected:
  CommandResult Submit(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {"submit", "local", cluster_.Program("tests/integration/probe"),
                                     name, "--wait=running"};
    argv.insert(argv.end(), more.begin(), more.end());
    argv.insert(argv.end(), {"--", "endless"});
    return cluster_.Heron(argv);
  }

  RealCluster cluster_;
};

TEST_F(LifeCycleTest, ProcessesAreSeparateSayWhatTheyAreAndListenOnLoopback) {
  auto r = Submit("t1", {"--containers", "2"});
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster_.Logs("t1");
  EXPECT_EQ(cluster_.State("t1"), "RUNNING");
  for (std::vector<std::string> parts : {std::vector<std::string>{"heron-supervisor", "t1"},
                                         {"heron-topology-master", "t1"},
                                         {"heron-executor", "--container=0", "t1"},
                                         {"heron-executor", "--container=1", "t1"},
                                         {"heron-executor", "--container=2", "t1"},
                                         {"heron-stream-manager", "--container=1", "t1"},
                                         {"heron-stream-manager", "--container=2", "t1"},
                                         {"--heron-instance", "--heron-component=numbers", "t1"},
                                         {"--heron-instance", "--heron-component=work", "t1"}}) {
    EXPECT_NE(cluster_.PidOf(parts), 0) << parts[0] << " " << parts[1];
  }
  int listening = 0;
  for (const auto& p : cluster_.Processes()) {
    for (const std::string& address : ListeningAddresses(p.pid)) {
      ++listening;
      EXPECT_EQ(address.substr(0, 9), "0100007F:") << p.command_line;  // 127.0.0.1
    }
    // The secret is on no command line.
    EXPECT_EQ(p.command_line.find("secret="), std::string::npos) << p.command_line;
  }
  EXPECT_GE(listening, 6);  // the master, three executors, two stream managers
  ASSERT_EQ(cluster_.Heron({"kill", "t1"}).exit_code, 0);
  EXPECT_TRUE(cluster_.Processes().empty());
  EXPECT_EQ(cluster_.Heron({"topologies", "t1"}).exit_code, 1);
}

TEST_F(LifeCycleTest, SameNameIsRefusedUntilKilledAndTwoTopologiesDoNotMeet) {
  ASSERT_EQ(Submit("one").exit_code, 0);
  ASSERT_EQ(Submit("two").exit_code, 0);
  auto again = Submit("one");
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("one"), std::string::npos) << again.err;
  size_t before = cluster_.Processes("--topology=two").size();
  EXPECT_EQ(cluster_.Heron({"kill", "one"}).exit_code, 0);
  EXPECT_EQ(cluster_.State("two"), "RUNNING");
  EXPECT_EQ(cluster_.Processes("--topology=two").size(), before);
  auto third = Submit("one");
  EXPECT_EQ(third.exit_code, 0) << third.err;
  EXPECT_EQ(cluster_.Heron({"kill", "one"}).exit_code, 0);
  EXPECT_EQ(cluster_.Heron({"kill", "two"}).exit_code, 0);
  EXPECT_TRUE(cluster_.Processes().empty());
  auto unknown = cluster_.Heron({"kill", "onn"});
  EXPECT_EQ(unknown.exit_code, 1);
}

TEST_F(LifeCycleTest, DeactivateAndActivate) {
  ASSERT_EQ(Submit("t").exit_code, 0);
  EXPECT_EQ(cluster_.Heron({"deactivate", "t"}).exit_code, 0);
  EXPECT_EQ(cluster_.State("t"), "INACTIVE");
  EXPECT_EQ(cluster_.Heron({"deactivate", "t"}).exit_code, 0) << "repeating it is success";
  EXPECT_EQ(cluster_.Heron({"activate", "t"}).exit_code, 0);
  EXPECT_EQ(cluster_.State("t"), "RUNNING");
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
}

TEST_F(LifeCycleTest, KillNeverRunsFinish) {
  const std::string marks = cluster_.folder() + "/marks";
  auto r = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "t",
                           "--wait=running", "--", "bounded", "tuples=20000", "pause_us=500",
                           "marks=" + marks, "out=" + marks + ".out"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(Eventually(seconds(10), [&] { return cluster_.ExecutedTuples("t") > 0; }));
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
  const std::string text = RealCluster::ReadFile(marks);
  EXPECT_NE(text.find("start work"), std::string::npos);
  EXPECT_EQ(text.find("finish-begin"), std::string::npos) << text;
}

TEST_F(LifeCycleTest, KillingTheCommandThatWaitsDoesNotHurtTheTopology) {
  // The time limit kills the whole process group of the command, as closing its terminal would.
  auto r = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "t", "--wait=finished",
                           "--", "endless"},
                          seconds(4));
  ASSERT_TRUE(r.timed_out) << r.out << r.err;
  EXPECT_EQ(cluster_.State("t"), "RUNNING");
  int64_t before = cluster_.ExecutedTuples("t");
  EXPECT_TRUE(Eventually(seconds(10), [&] { return cluster_.ExecutedTuples("t") > before; }));
  EXPECT_EQ(cluster_.Heron({"kill", "t"}).exit_code, 0);
  EXPECT_TRUE(cluster_.Processes().empty());
}

TEST_F(LifeCycleTest, NamesOutsideThePatternAreRefusedWithThePattern) {
  for (const char* name : {"-t", "中文", "a b", "a/b", "a%2Fb", "a=b", "", ".hidden"}) {
    auto r = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "--wait=running",
                             "--", name, "endless"});
    r = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), name, "--", "endless"});
    EXPECT_NE(r.exit_code, 0) << name;
    EXPECT_FALSE(r.timed_out) << name;
  }
  auto longest = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"),
                                 std::string(129, 'a'), "--", "endless"});
  EXPECT_NE(longest.exit_code, 0);
  EXPECT_NE(longest.err.find("[A-Za-z0-9]"), std::string::npos) << longest.err;
  EXPECT_TRUE(cluster_.Processes().empty());
}

TEST_F(LifeCycleTest, ProgramsThatCannotDescribeThemselvesAreToldApart) {
  struct Case {
    std::string mode, says;
  };
  for (const Case& c : {Case{"crash-describe", "signal 11"}, Case{"rubbish-describe", "no topology definition"},
                        Case{"silent-describe", "without describing"}}) {
    auto r = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "bad", "--", c.mode});
    EXPECT_EQ(r.exit_code, 1) << c.mode << r.err;
    EXPECT_NE(r.err.find("probe"), std::string::npos) << r.err;
    EXPECT_NE(r.err.find(c.says), std::string::npos) << r.err;
  }
  std::string missing = cluster_.folder() + "/missing";
  EXPECT_NE(cluster_.Heron({"submit", "local", missing, "bad"}).err.find(missing), std::string::npos);
  std::string plain = cluster_.WriteFile("plain", "not a program");
  EXPECT_NE(cluster_.Heron({"submit", "local", plain, "bad"}).err.find(plain), std::string::npos);
  EXPECT_TRUE(cluster_.Processes().empty());
  EXPECT_NE(cluster_.Heron({"topologies", "bad"}).exit_code, 0) << "nothing is left of a failed submit";
}

TEST_F(LifeCycleTest, ExceptionsOfUserCodeAreShownWithComponentAndMessage) {
  struct Case {
    std::string mode, component, message;
  };
  for (const Case& c : {Case{"throw-open", "work", "the licence server said no"},
                        Case{"throw-execute", "work", "cannot parse 17"}}) {
    auto r = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), c.mode, "--", c.mode});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_TRUE(Eventually(seconds(20), [&] {
      auto shown = cluster_.Heron({"topologies", c.mode});
      return shown.out.find(c.message) != std::string::npos && shown.out.find(c.component) != std::string::npos;
    })) << cluster_.Heron({"topologies", c.mode}).out << cluster_.Logs(c.mode);
    auto logs = cluster_.Heron({"logs", c.mode, c.component});
    EXPECT_NE(logs.out.find(c.message), std::string::npos) << logs.out;
    EXPECT_EQ(cluster_.Heron({"kill", c.mode}).exit_code, 0);
  }
  auto failed = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "u", "--wait=finished",
                                "--timeout", "30s", "--", "unrecoverable"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_NE((failed.out + failed.err).find("table users does not exist"), std::string::npos) << failed.out << failed.err;
  auto differs = cluster_.Heron({"submit", "local", cluster_.Program("tests/integration/probe"), "d", "--wait=finished",
                                 "--timeout", "30s", "--", "differs"});
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_NE((differs.out + differs.err).find("builds another topology"), std::string::npos) << differs.out << differs.err;
  EXPECT_TRUE(Eventually(seconds(5), [&] { return cluster_.Processes().empty(); }));
}

}  // namespace
}  // namespace heron::testing
