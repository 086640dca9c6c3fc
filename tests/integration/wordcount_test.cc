// The main job: examples/wordcount by real processes over texts of every kind, against a count made here.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

using std::chrono::seconds;

std::string RandomWords(size_t bytes) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < bytes) {
    size_t length = 1 + random() % 9;
    for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % 6);
    text += random() % 8 == 0 ? "\n" : random() % 5 == 0 ? "\t  " : " ";
  }
  return text;
}

std::string RandomBytes(size_t bytes) {
  std::mt19937 random(11);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

struct Case {
  std::string name;
  std::string text;
  int parallelism;
  int containers;
};

class WordCountTest : public ::testing::TestWithParam<Case> {};

TEST_P(WordCountTest, CountsEveryWordOnce) {
  RealCluster cluster;
  std::string input = cluster.WriteFile("input", GetParam().text);
  std::string output = cluster.folder() + "/output";
  std::string p = std::to_string(GetParam().parallelism);
  auto r = cluster.Heron({"submit", "local", cluster.Program("examples/wordcount/wordcount"), "wc",
                          "--wait=finished", "--containers", std::to_string(GetParam().containers),
                          "--parallelism", "lines=" + p, "--parallelism", "split=" + p,
                          "--parallelism", "count=" + p, "--", input, output},
                         seconds(100));
  ASSERT_EQ(r.exit_code, 0) << r.out << r.err << cluster.Logs("wc");
  EXPECT_EQ(r.out.find("incomplete"), std::string::npos) << r.out;
  std::string got = RealCluster::ReadFile(output), want = ExpectedWordCount(GetParam().text);
  // Not EXPECT_EQ: the texts are megabytes.
  EXPECT_TRUE(got == want) << "the result differs: " << got.size() << " bytes instead of "
                           << want.size() << cluster.Logs("wc");
  EXPECT_TRUE(cluster.Processes().empty()) << "left: " << cluster.Processes()[0].command_line;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, WordCountTest,
    ::testing::Values(Case{"Words", RandomWords(3 << 20), 2, 2}, Case{"Alone", RandomWords(1 << 20), 1, 1},
                      Case{"Wide", RandomWords(2 << 20), 4, 3}, Case{"Empty", "", 2, 1},
                      Case{"NoFinalNewline", "a b\na b c", 4, 3},
                      Case{"OnlySpace", " \n\t\v\f\r \n", 2, 2},
                      Case{"LongWord", "x " + std::string(1 << 20, 'w') + " x\ny\n", 2, 2},
                      Case{"Bytes", RandomBytes(300 << 10), 4, 3}),
    [](const auto& param) { return param.param.name; });

TEST(WordCountTest, LineAboveTheTupleLimitFailsNamingIt) {
  RealCluster cluster;
  std::string text = "short line\n" + std::string(9 << 20, 'x');
  std::string input = cluster.WriteFile("input", text);
  std::string output = cluster.folder() + "/output";
  auto r = cluster.Heron({"submit", "local", cluster.Program("examples/wordcount/wordcount"), "wc",
                          "--wait=finished", "--", input, output},
                         seconds(60));
  EXPECT_EQ(r.exit_code, 1) << r.out << r.err;
  std::string said = r.out + r.err;
  EXPECT_NE(said.find(input), std::string::npos) << said;
  EXPECT_NE(said.find("offset 11"), std::string::npos) << said;
  EXPECT_NE(said.find("8388608"), std::string::npos) << said;
  EXPECT_EQ(RealCluster::ReadFile(output), "");
  EXPECT_EQ(cluster.Heron({"kill", "wc"}).exit_code, 0);
  EXPECT_TRUE(cluster.Processes().empty());
}

TEST(WordCountTest, UnusableInputFailsNamingIt) {
  RealCluster cluster;
  for (std::string input : {std::string("/no/such/file"), cluster.folder(), std::string("/dev/null")}) {
    auto r = cluster.Heron({"submit", "local", cluster.Program("examples/wordcount/wordcount"), "wc",
                            "--wait=finished", "--", input, cluster.folder() + "/output"},
                           seconds(20));
    EXPECT_EQ(r.exit_code, 1) << input << r.out << r.err;
    EXPECT_NE((r.out + r.err).find(input), std::string::npos) << r.out << r.err;
    EXPECT_EQ(cluster.Heron({"kill", "wc"}).exit_code, 0) << input;
    EXPECT_TRUE(cluster.Processes().empty()) << input;
  }
}

}  // namespace
}  // namespace heron::testing
