#include "heron/api/internal/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "heron/api/internal/builder_access.h"
#include "heron/model/described.h"

namespace heron::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Source : public Spout {
 public:
  Next NextTuple() override { return Next::Ended(); }
};
class Sink : public Bolt {
 public:
  void Execute(const Tuple&) override {}
};

void Fill(TopologyBuilder& t) {
  auto lines = t.AddSpout("lines", [] { return Source(); })
                   .Parallelism(2)
                   .Bounded()
                   .Declares<std::string>("line");
  t.AddBolt("count", [] { return Sink(); }).Parallelism(3).Fields(lines, "line");
}

CommandLine Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

const std::vector<const char*> kInstance = {
    "--heron-instance",         "--heron-topology=t",          "--heron-topology-id=t-1",
    "--heron-container=2",      "--heron-component=lines",     "--heron-task=5",
    "--heron-index=1",          "--heron-epoch=3.1",           "--heron-executor=127.0.0.1:80",
    "--heron-secret-file=/a=b", "--heron-container-folder=/c", "--",
    "--heron-unknown"};

struct Outcome {
  std::optional<int> code;
  std::string out;
  std::string err;
};

Outcome RunWith(const CommandLine& line, const TopologyBuilder& t) {
  std::ostringstream out, err;
  auto code = RunUnlessTasks(line, "./wordcount", t, out, err);
  return {code, out.str(), err.str()};
}

TEST(CommandLineTest, AnInstanceHasAllItsOptions) {
  CommandLine line = Parse(kInstance);
  EXPECT_THAT(line.mistakes, IsEmpty());
  EXPECT_TRUE(line.instance);
  EXPECT_EQ(line.values.at("component"), "lines");
  EXPECT_EQ(line.values.at("secret-file"), "/a=b");
  std::vector<const char*> less(kInstance);
  less.erase(less.begin() + 5);
  EXPECT_THAT(Parse(less).mistakes, ElementsAre(HasSubstr("--heron-task is missing")));
}

TEST(CommandLineTest, MistakesAreNamed) {
  EXPECT_THAT(Parse({"--heron-lokal"}).mistakes, ElementsAre(HasSubstr("'--heron-lokal'")));
  EXPECT_THAT(
      Parse({"input.txt", "--x"}).mistakes,
      ElementsAre(AllOf(HasSubstr("'input.txt'"), HasSubstr("after --")), HasSubstr("'--x'")));
  EXPECT_THAT(Parse({"--heron-describe-fd=x"}).mistakes, ElementsAre(HasSubstr("file descriptor")));
  EXPECT_THAT(Parse({"--heron-describe-fd=-1"}).mistakes, SizeIs(1));
  EXPECT_THAT(Parse({"--heron-describe-fd"}).mistakes, ElementsAre(HasSubstr("needs a value")));
  EXPECT_THAT(Parse({"--heron-task=1"}).mistakes, ElementsAre(HasSubstr("--heron-instance only")));
  EXPECT_THAT(Parse({"--heron-instance=1"}).mistakes, ElementsAre(HasSubstr("takes no value")));
}

TEST(CommandLineTest, NothingBehindTheDashesIsLookedAt) {
  CommandLine line = Parse({"--", "--heron-lokal", "input.txt"});
  EXPECT_THAT(line.mistakes, IsEmpty());
  EXPECT_FALSE(line.instance);
}

TEST(DescribeTest, APlainRunExplains) {
  TopologyBuilder t("word-count");
  Fill(t);
  for (const CommandLine& line : {Parse({}), Parse({"--help"}), Parse({"--", "in", "out"})}) {
    Outcome outcome = RunWith(line, t);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(
        outcome.out,
        AllOf(HasSubstr("Topology word-count: 2 components, 5 tasks"),
              HasSubstr("spout lines x 2 (bounded)"), HasSubstr("emits  default(line: string)"),
              HasSubstr("bolt  count x 3"), HasSubstr("reads  lines/default by fields of line"),
              HasSubstr("heron submit local ./wordcount word-count -- ")));
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(DescribeTest, WritesTheDefinitionToTheDescriptorAndNothingElse) {
  TopologyBuilder t("word-count");
  Fill(t);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  CommandLine line;
  line.describe_fd = ends[1];
  Outcome outcome = RunWith(line, t);
  ::close(ends[1]);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
  char bytes[4096];
  ssize_t size = ::read(ends[0], bytes, sizeof(bytes));
  ::close(ends[0]);
  ASSERT_GT(size, 0);
  std::string described(bytes, static_cast<size_t>(size));
  EXPECT_EQ(model::DescribedSha256(described),
            model::DescribedSha256(BuilderAccess::Definition(t)));
}

TEST(DescribeTest, ADescriptorThatIsNotOpenIsAnError) {
  TopologyBuilder t("word-count");
  Fill(t);
  CommandLine line;
  line.describe_fd = 987;
  Outcome outcome = RunWith(line, t);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("987"), HasSubstr("Bad file descriptor")));
}

TEST(DescribeTest, AllMistakesArePrintedAndTheCodeIsTwo) {
  TopologyBuilder t("t");
  t.AddBolt("alone", [] { return Sink(); }).Parallelism(0);
  CommandLine describe;
  describe.describe_fd = 1;
  for (const CommandLine& line : {Parse({}), Parse(kInstance), describe}) {
    Outcome outcome = RunWith(line, t);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("topology 't' has mistakes"), HasSubstr("no spout"),
                                   HasSubstr("parallelism 0"), HasSubstr("no input")));
  }
  TopologyBuilder right("t");
  Fill(right);
  Outcome outcome = RunWith(Parse({"--heron-lokal", "x"}), right);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("'--heron-lokal'"), HasSubstr("'x'")));
}

TEST(DescribeTest, AnInstanceIsLeftToTheCaller) {
  TopologyBuilder t("t");
  Fill(t);
  Outcome outcome = RunWith(Parse(kInstance), t);
  EXPECT_EQ(outcome.code, std::nullopt);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

}  // namespace
}  // namespace heron::internal
