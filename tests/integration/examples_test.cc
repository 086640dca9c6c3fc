// The small examples, by real processes and in one: what their READMEs promise.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

class ExamplesTest : public ::testing::TestWithParam<bool> {
 protected:
  // What the tasks of `component` printed until the topology had finished (in local mode: what all
  // printed).
  std::string Run(const std::string& example, const std::string& argument,
                  const std::string& component) {
    const bool local = GetParam();
    const std::string program = cluster_.Program("examples/" + example + "/" + example);
    const CommandResult r =
        local ? RunCommand({program, "--heron-local", "--heron-containers=2", "--", argument},
                           {{"TMPDIR", cluster_.folder()}}, std::chrono::seconds(60))
              : cluster_.Heron({"submit", "local", program, "e", "--wait=finished", "--containers",
                                "2", "--", argument},
                               std::chrono::seconds(60));
    EXPECT_EQ(r.exit_code, 0) << r.out << r.err << cluster_.Logs("e");
    EXPECT_EQ((r.out + r.err).find("incomplete"), std::string::npos) << r.out << r.err;
    if (local) return r.out;
    const CommandResult logs = cluster_.Heron({"logs", "e", component, "--tail", "1000"});
    EXPECT_EQ(logs.exit_code, 0) << logs.err;
    return logs.out;
  }
  // The parts of `text` that match, without repetitions.
  static std::set<std::string> Matches(const std::string& text, const std::string& expression) {
    const std::regex regex(expression);
    std::set<std::string> matches;
    for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) {
      EXPECT_TRUE(matches.insert(it->str()).second) << "twice: " << it->str();
    }
    return matches;
  }

  RealCluster cluster_;
};

TEST_P(ExamplesTest, Exclamation) {
  const std::string out = Run("exclamation", "1000", "print");
  EXPECT_EQ(Matches(out, "[a-z]+!+ [0-9]+"),
            (std::set<std::string>{"bertels!!!!!! 400", "golda!!!!!! 400", "jackson!!!!!! 400",
                                   "mike!!!!!! 400", "nathan!!!!!! 400"}))
      << out;
}

TEST_P(ExamplesTest, Ticks) {
  const std::string out = Run("ticks", "20", "report");
  std::smatch total;
  ASSERT_TRUE(std::regex_search(out, total, std::regex("total ([0-9]+) tuples in ([0-9]+) ticks")))
      << out;
  EXPECT_EQ(total[1], "2000") << out;
  EXPECT_GE(std::stoi(total[2]), 2) << out;
  EXPECT_EQ(Matches(out, "tick [0-9]+ after").size(), static_cast<size_t>(std::stoi(total[2])));
}

TEST_P(ExamplesTest, CustomTypes) {
  const std::string out = Run("custom_types", "3000", "report");
  // Customer c has the orders n with n % 6 == c: 500 of 100 + n cents.
  std::set<std::string> expected;
  for (int64_t c = 0; c < 6; ++c) {
    const int64_t cents = 500 * (100 + c) + 6 * 499 * 500 / 2;
    expected.insert("customer " + std::string(c % 2 == 0 ? "is" : "no") + "-" +
                    std::to_string(c % 3) + ": 500 orders, " + std::to_string(cents) + " cents");
  }
  EXPECT_EQ(Matches(out, "customer .* cents"), expected) << out;
}

TEST_P(ExamplesTest, DirectReply) {
  const std::string out = Run("direct_reply", "1000", "desk");
  EXPECT_EQ(Matches(out, "desk [0-9]+: .* open"),
            (std::set<std::string>{"desk 0: 500 asked, 500 answered, 0 open",
                                   "desk 1: 500 asked, 500 answered, 0 open"}))
      << out;
}

TEST_P(ExamplesTest, AtLeastOnce) {
  EXPECT_NE(Run("at_least_once", "1000", "ledger").find("1000 orders in 1000 lines"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Modes, ExamplesTest, ::testing::Bool(), [](const auto& mode) {
  return std::string(mode.param ? "InOneProcess" : "RealProcesses");
});

}  // namespace
}  // namespace heron::testing
