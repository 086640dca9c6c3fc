#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "heron/heron.h"
#include "heron/testing.h"

namespace {

struct Point {
  int64_t x = 0;
};

}  // namespace

template <>
struct heron::Serializer<Point> {
  static std::string TypeName() { return "test.Point"; }
  static void Write(const Point& p, std::string& out) { out = std::to_string(p.x); }
  static Point Read(std::string_view bytes) { return {std::stoll(std::string(bytes))}; }
};

namespace {

using heron::testing::BoltHarness;
using heron::testing::Row;
using heron::testing::SpoutHarness;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Split : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    out_ = context.Output<std::string>("word");
    empty_ = context.Output<int64_t>(heron::Stream("empty"), "line");
  }
  void Execute(const heron::Tuple& in) override {
    ++lines_;
    if (in.String(0).empty()) empty_.Emit(lines_);
    for (std::string_view word : heron::SplitSpaces(in.String(0))) out_.Emit(word);
  }

 private:
  int64_t lines_ = 0;
  heron::Output<std::string> out_;
  heron::Output<int64_t> empty_;
};

TEST(BoltHarnessTest, ShowsWhatABoltEmits) {
  BoltHarness h(Split{});
  h.Execute("a b");
  EXPECT_THAT(h.Emitted(), ElementsAre(Row("a"), Row("b")));
  h.Clear();
  h.Execute("");
  EXPECT_THAT(h.Emitted(), IsEmpty());
  EXPECT_THAT(h.Emitted("empty"), ElementsAre(Row(2)));
}

// Moves points to the right.
class Move : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override { out_ = context.Output<Point>("point"); }
  void Execute(const heron::Tuple& in) override { out_.Emit(Point{in.Get<Point>(0).x + 1}); }

 private:
  heron::Output<Point> out_;
};

TEST(BoltHarnessTest, TakesTypesWithASerializer) {
  BoltHarness h(Move{});
  h.Declares<Point>("point");
  h.Execute(Point{41});
  EXPECT_THAT(h.Emitted(), ElementsAre(Row(Point{42})));
}

TEST(RowTest, PrintsItselfAndKnowsTypes) {
  EXPECT_EQ(::testing::PrintToString(Row("a", 3, nullptr)), "(\"a\", 3, null)");
  EXPECT_FALSE(Row(1) == Row(1.0));
  EXPECT_FALSE(Row("a") == Row(heron::Bytes{"a"}));
  EXPECT_EQ(Row(heron::List{1, "x"})[0], heron::Value(heron::List{1, "x"}));
}

// Everything a bolt can do.
class Busy : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    log_ = context.Output<std::string>("what");
    direct_ = context.Output<int64_t>(heron::Stream("direct"), "n");
    workers_ = context.TasksOf("worker");
    runner_.emplace(context.TaskRunner());
    log_.Emit("prepare " + context.component() + " " + std::to_string(context.index()) + " of " +
              std::to_string(context.parallelism()) + " " + context.arguments()[0] + " " +
              context.Config().Get<std::string>("mode"));
  }
  void Execute(const heron::Tuple& in) override {
    if (in.String("word") == "throw") throw std::runtime_error("no such word");
    if (in.String("word") == "stranger") direct_.EmitTo(77, 0);
    if (in.String("word") == "thread") {
      std::thread([runner = *runner_, this] {
        runner.Run([this] { log_.Emit("from a thread"); });
      }).join();
    }
    direct_.EmitTo(workers_.at(1), in.Int64("n"));
    log_.Emit(in.component() + "/" + in.stream());
  }
  void Tick(heron::TickInfo tick) override { log_.Emit("tick " + std::to_string(tick.number)); }
  void Finish() override { log_.Emit("finish"); }
  void Cleanup() override { unbound_.Emit(1); }

 private:
  heron::Output<std::string> log_;
  heron::Output<int64_t> direct_, unbound_;
  std::vector<int32_t> workers_;
  std::optional<heron::TaskRunner> runner_;
};

TEST(BoltHarnessTest, DoesAllThatATaskDoes) {
  BoltHarness h(Busy{}, {.component = "busy",
                         .index = 1,
                         .parallelism = 2,
                         .arguments = {"in.txt"},
                         .config = {{"mode", "fast"}},
                         .tasks = {{"worker", {5, 6}}}});
  h.InputFields("word", "n");
  h.Execute("a", 1);
  h.ExecuteFrom({.component = "other", .stream = "late", .fields = {"word", "n"}}, "thread", 2);
  h.Tick();
  EXPECT_THAT(h.Emitted(), ElementsAre(Row("prepare busy 1 of 2 in.txt fast"), Row("input/default"),
                                       Row("other/late"), Row("from a thread"), Row("tick 1")));
  EXPECT_THAT(h.EmittedTo(6, "direct"), ElementsAre(Row(1), Row(2)));
  EXPECT_THAT(h.EmittedTo(5, "direct"), IsEmpty());
  EXPECT_THROW(h.Execute("throw", 3), std::runtime_error);
  h.Clear();
  h.Execute("stranger", 4);
  ASSERT_THAT(h.refusals(), SizeIs(1));
  EXPECT_EQ(h.refusals()[0].stream, "direct");
  EXPECT_EQ(h.refusals()[0].why, heron::EmitResult::kNotATask);
  h.Clear();
  h.Finish();
  EXPECT_THAT(h.Emitted(), ElementsAre(Row("finish")));
  ASSERT_THAT(h.refusals(), SizeIs(1));
  EXPECT_EQ(h.refusals()[0].why, heron::EmitResult::kUnknownStream);
  EXPECT_THROW(h.Execute("a", 1), std::logic_error);
}

TEST(BoltHarnessTest, DeclarationsCount) {
  BoltHarness h(Split{});
  h.Declares<int64_t>("word");
  EXPECT_THROW(h.Execute("a"), heron::TypeError);
}

TEST(BoltHarnessTest, WrongReadsAreNamed) {
  BoltHarness h(Split{});
  EXPECT_THROW(h.Execute(1), heron::TypeError);
}

class Numbers : public heron::Spout {
 public:
  explicit Numbers(int64_t count) : count_(count) {}
  void Open(heron::SpoutContext& context) override {
    out_ = context.Output<int64_t>("n");
    context_ = &context;
    next_ = context.index();
  }
  heron::Next NextTuple() override {
    if (next_ >= count_) return heron::Next::Ended();
    if (next_ == 4 && !woken_) {
      woken_ = true;
      return heron::Next::Waiting();
    }
    if (idle_ = !idle_; idle_) return heron::Next::Idle(std::chrono::hours(1));
    out_.Emit(next_);
    next_ += context_->parallelism();
    context_->Progress(static_cast<double>(next_) / static_cast<double>(count_));
    return heron::Next::More();
  }
  void Deactivate() override { ++pauses_; }
  void Close() override {
    if (pauses_ != 1) throw std::runtime_error("not paused");
  }

 private:
  int64_t count_, next_ = 0;
  int pauses_ = 0;
  bool woken_ = false, idle_ = false;
  heron::SpoutContext* context_ = nullptr;
  heron::Output<int64_t> out_;
};

TEST(SpoutHarnessTest, GoesStepByStep) {
  SpoutHarness h(Numbers(7), {.parallelism = 2});
  EXPECT_EQ(h.NextTuples(1), 1u);
  EXPECT_THAT(h.Emitted(), ElementsAre(Row(0)));
  EXPECT_EQ(h.RunToEnd(), 1u);
  EXPECT_TRUE(h.waiting());
  EXPECT_FALSE(h.ended());
  EXPECT_NE(h.NextTuple().kind(), heron::Next::Kind::kWaiting);
  EXPECT_EQ(h.RunToEnd(), 2u);
  EXPECT_TRUE(h.ended());
  EXPECT_THAT(h.Emitted(), ElementsAre(Row(0), Row(2), Row(4), Row(6)));
  EXPECT_GE(h.progress(), 1.0);
  EXPECT_THROW(h.NextTuple(), std::logic_error);
  EXPECT_THROW(SpoutHarness(Numbers(1)).Close(), std::runtime_error);
  h.Deactivate();
  h.Close();
}

class Replays : public heron::Spout {
 public:
  void Open(heron::SpoutContext& context) override { out_ = context.Output<int64_t>("n"); }
  heron::Next NextTuple() override {
    if (due_.empty()) return heron::Next::Ended();
    const int64_t n = due_.back();
    due_.pop_back();
    out_.Emit(heron::MessageId(n), n);
    return heron::Next::More();
  }
  void Ack(const heron::MessageId& id) override { out_.Emit(-id.number()); }
  void Fail(const heron::MessageId& id, heron::FailReason) override { due_.push_back(id.number()); }

 private:
  std::vector<int64_t> due_{2, 1};
  heron::Output<int64_t> out_;
};

TEST(SpoutHarnessTest, HearsOfItsTuples) {
  SpoutHarness h(Replays{});
  EXPECT_EQ(h.RunToEnd(), 2u);
  EXPECT_EQ(h.emissions()[1].id, heron::MessageId(2));
  h.Ack(heron::MessageId(1));
  h.Fail(heron::MessageId(2));
  EXPECT_FALSE(h.ended());
  EXPECT_EQ(h.RunToEnd(), 1u);
  EXPECT_THAT(h.Emitted(), ElementsAre(Row(1), Row(2), Row(-1), Row(2)));
}

TEST(HarnessTest, TakesComponentsOfATopologyWithWhatItDeclares) {
  heron::TopologyBuilder t("t");
  t.AddSpout("numbers", [] { return Numbers(3); }).Bounded().Declares<int64_t>("n");
  auto words = t.AddSpout("words", [] { return Numbers(3); }).Bounded().Declares<std::string>("n");
  t.AddBolt("split", [] { return Split(); }).Declares<std::string>("word").Shuffle(words);
  SpoutHarness right(t, "numbers");
  EXPECT_EQ(right.RunToEnd(), 3u);
  EXPECT_THROW(SpoutHarness(t, "words").RunToEnd(), heron::TypeError);
  EXPECT_THROW(BoltHarness(t, "split").Execute("a"), heron::TypeError) << "stream 'empty'";
  EXPECT_THROW(BoltHarness(t, "splot"), std::invalid_argument);
  EXPECT_THROW(BoltHarness(t, "numbers"), std::invalid_argument);
}

}  // namespace
