// Three layers whose tasks write down what they got, so that a test can compare it with what the grouping promises:
//
//   fast (5 tasks), slow (1 task, pauses) --GROUPING--> middle (3) --GROUPING--> last (7)
//
//   layers GROUPING FAST SLOW PAUSE_US FOLDER   ids 0..FAST-1 from "fast", FAST..FAST+SLOW-1 from "slow"
//
// Each task leaves FOLDER/COMPONENT-INDEX: spouts when they open, bolts in Finish (layers_rows.h).
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "heron/heron.h"
#include "tests/integration/layers_rows.h"

namespace {

using heron::testing::CustomTargets;
using heron::testing::DirectTarget;
using heron::testing::KeyOf;
using heron::testing::Row;
using heron::testing::TaskRows;

struct Plan {
  std::string grouping;
  int64_t fast = 0, slow = 0;
  std::chrono::microseconds pause{0};
  std::string folder;
};

TaskRows RowsOf(const heron::TaskContext& context) {
  return {.component = context.component(),
          .index = context.index(),
          .task = context.task(),
          .container = context.container(),
          .rows = {}};
}

class Emitter {
 public:
  void Prepare(heron::TaskContext& context, const Plan& plan, const char* reader) {
    out_ = context.Output<int64_t, std::string_view, int64_t>("id", "key", "third");
    if (plan.grouping == "direct") tasks_ = context.TasksOf(reader);
  }
  void Emit(int64_t id) {
    const std::string key = KeyOf(id);
    if (tasks_.empty()) {
      out_.Emit(id, key, id % 3);
    } else {
      out_.EmitTo(tasks_[DirectTarget(id, tasks_.size())], id, key, id % 3);
    }
  }

 private:
  heron::Output<int64_t, std::string_view, int64_t> out_;
  std::vector<int32_t> tasks_;  // of the reader by direct grouping
};

class Ids : public heron::Spout {
 public:
  Ids(Plan plan, bool slow) : plan_(std::move(plan)), slow_(slow) {}
  void Open(heron::SpoutContext& context) override {
    const heron::Slice slice = context.Slice();
    const int64_t count = slow_ ? plan_.slow : plan_.fast;
    next_ = (slow_ ? plan_.fast : 0) + count * slice.index / slice.count;
    end_ = (slow_ ? plan_.fast : 0) + count * (slice.index + 1) / slice.count;
    emitter_.Prepare(context, plan_, "middle");
    heron::testing::Write(plan_.folder, RowsOf(context));
  }
  heron::Next NextTuple() override {
    if (next_ == end_) return heron::Next::Ended();
    emitter_.Emit(next_++);
    return slow_ ? heron::Next::Idle(plan_.pause) : heron::Next::More();
  }

 private:
  Plan plan_;
  bool slow_;
  int64_t next_ = 0, end_ = 0;
  Emitter emitter_;
};

class Recorder : public heron::Bolt {
 public:
  Recorder(Plan plan, bool last) : plan_(std::move(plan)), last_(last) {}
  void Prepare(heron::BoltContext& context) override {
    rows_ = RowsOf(context);
    if (!last_) emitter_.Prepare(context, plan_, "last");
  }
  void Execute(const heron::Tuple& in) override {
    const int64_t id = in.Int64(0);
    rows_.rows.push_back({.id = id, .from = in.source_task()});
    if (!last_) emitter_.Emit(id);
  }
  void Finish() override { heron::testing::Write(plan_.folder, rows_); }

 private:
  Plan plan_;
  bool last_;
  TaskRows rows_;
  Emitter emitter_;
};

class ById : public heron::CustomGrouping {
 public:
  void Prepare(const heron::CustomGroupingContext& context) override { all_ = context.tasks; }
  void Choose(std::span<const heron::FieldView> values, std::vector<int32_t>& tasks) override {
    for (size_t i : CustomTargets(values[0].int64_value(), all_.size())) tasks.push_back(all_[i]);
  }

 private:
  std::vector<int32_t> all_;
};

void Connect(heron::BoltHandle& bolt, const std::string& grouping, const heron::StreamRef& from) {
  if (grouping == "shuffle") bolt.Shuffle(from);
  if (grouping == "none") bolt.None(from);
  if (grouping == "local-or-shuffle") bolt.LocalOrShuffle(from);
  if (grouping == "fields") bolt.Fields(from, "key", "third");
  if (grouping == "partial-key") bolt.PartialKey(from, "key");
  if (grouping == "all") bolt.All(from);
  if (grouping == "global") bolt.Global(from);
  if (grouping == "direct") bolt.Direct(from);
  if (grouping == "custom") bolt.Custom(from, [] { return ById(); });
}

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  if (args.size() != 5) {
    std::cerr << "layers GROUPING FAST SLOW PAUSE_US FOLDER; see the head of layers.cc\n";
    return 2;
  }
  const Plan plan{.grouping = args[0],
                  .fast = std::atoll(args[1].c_str()),
                  .slow = std::atoll(args[2].c_str()),
                  .pause = std::chrono::microseconds(std::atoll(args[3].c_str())),
                  .folder = args[4]};
  heron::TopologyBuilder t("layers");
  auto fast = t.AddSpout("fast", [=] { return Ids(plan, false); })
                  .Parallelism(5)
                  .Bounded()
                  .Declares<int64_t, std::string, int64_t>("id", "key", "third");
  auto slow = t.AddSpout("slow", [=] { return Ids(plan, true); })
                  .Bounded()
                  .Declares<int64_t, std::string, int64_t>("id", "key", "third");
  auto middle = t.AddBolt("middle", [=] { return Recorder(plan, false); })
                    .Parallelism(3)
                    .Declares<int64_t, std::string, int64_t>("id", "key", "third");
  auto last = t.AddBolt("last", [=] { return Recorder(plan, true); }).Parallelism(7);
  Connect(middle, plan.grouping, fast);
  Connect(middle, plan.grouping, slow);
  Connect(last, plan.grouping, middle);
  return heron::Main(argc, argv, t);
}
