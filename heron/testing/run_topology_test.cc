#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <stdexcept>
#include <string>

#include "heron/heron.h"
#include "heron/testing.h"

namespace {

using heron::testing::Collector;
using heron::testing::Row;
using heron::testing::RunTopology;
using heron::testing::TopologyResult;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class Lines : public heron::Spout {
 public:
  explicit Lines(bool endless) : endless_(endless) {}
  void Open(heron::SpoutContext& context) override {
    out_ = context.Output<std::string>("line");
    first_ = context.index() == 0;
  }
  heron::Next NextTuple() override {
    if (first_) out_.Emit("a b a");
    if (!endless_) return heron::Next::Ended();
    return heron::Next::Idle(std::chrono::milliseconds(1));
  }

 private:
  const bool endless_;
  bool first_ = false;
  heron::Output<std::string> out_;
};

class Count : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    out_ = context.Output<std::string, int64_t>("word", "count");
  }
  void Execute(const heron::Tuple& in) override {
    for (std::string_view word : heron::SplitSpaces(in.String(0))) ++counts_[std::string(word)];
  }
  void Finish() override {
    for (const auto& [word, count] : counts_) out_.Emit(word, count);
  }

 private:
  std::map<std::string, int64_t> counts_;
  heron::Output<std::string, int64_t> out_;
};

class Throwing : public heron::Bolt {
 public:
  explicit Throwing(std::atomic<int>* times, bool unrecoverable)
      : times_(times), unrecoverable_(unrecoverable) {}
  void Execute(const heron::Tuple&) override {
    if (unrecoverable_) throw heron::Unrecoverable("the table is gone");
    if ((*times_)-- > 0) throw std::runtime_error("not yet");
  }

 private:
  std::atomic<int>* times_;
  bool unrecoverable_;
};

TEST(RunTopologyTest, GivesWhatArrived) {
  Collector counts;
  heron::TopologyBuilder t("words");
  auto lines = t.AddSpout("lines", [] { return Lines(false); })
                   .Parallelism(2)
                   .Bounded()
                   .Declares<std::string>("line");
  auto count = t.AddBolt("count", [] { return Count(); })
                   .Declares<std::string, int64_t>("word", "count")
                   .Global(lines);
  t.AddBolt("collect", counts.Bolt()).Shuffle(count);
  const TopologyResult result = RunTopology(t, {.containers = 2, .parallelism = {{"collect", 3}}});
  EXPECT_TRUE(result.complete()) << result;
  EXPECT_THAT(counts.Rows(), UnorderedElementsAre(Row("a", 2), Row("b", 1)));
}

TEST(RunTopologyTest, LossesAndFailuresAreTold) {
  std::atomic<int> times{1};
  heron::TopologyBuilder t("words");
  auto lines =
      t.AddSpout("lines", [] { return Lines(false); }).Bounded().Declares<std::string>("line");
  t.AddBolt("throw", [&] { return Throwing(&times, false); }).Shuffle(lines);
  TopologyResult result = RunTopology(t);
  EXPECT_EQ(result.state, "FINISHED");
  EXPECT_FALSE(result.complete());
  EXPECT_THAT(result.incomplete, Not(IsEmpty()));
  EXPECT_THAT(result.failures, Each(HasSubstr("not yet")));

  heron::TopologyBuilder u("words");
  auto more =
      u.AddSpout("lines", [] { return Lines(false); }).Bounded().Declares<std::string>("line");
  u.AddBolt("throw", [&] { return Throwing(&times, true); }).Shuffle(more);
  result = RunTopology(u);
  EXPECT_EQ(result.state, "FAILED");
  EXPECT_THAT(result.reason, HasSubstr("the table is gone"));
}

TEST(RunTopologyTest, EndlessOnesAreStopped) {
  Collector seen;
  heron::TopologyBuilder t("words");
  auto lines = t.AddSpout("lines", [] { return Lines(true); }).Declares<std::string>("line");
  t.AddBolt("collect", seen.Bolt()).Shuffle(lines);
  TopologyResult result = RunTopology(t, {.until = [&] { return seen.size() >= 3; }});
  EXPECT_EQ(result.state, "STOPPED") << result;
  EXPECT_THAT(seen.Rows(), Each(Row("a b a")));
  result = RunTopology(t, {.timeout = std::chrono::milliseconds(200)});
  EXPECT_EQ(result.state, "TIMED_OUT") << result;
}

TEST(RunTopologyTest, MistakesAreRefused) {
  heron::TopologyBuilder t("words");
  t.AddSpout("lines", [] { return Lines(true); }).Declares<std::string>("line");
  TopologyResult result = RunTopology(t, {.parallelism = {{"linse", 2}}});
  EXPECT_EQ(result.state, "REFUSED");
  EXPECT_THAT(result.reason, HasSubstr("did you mean 'lines'"));
}

}  // namespace
