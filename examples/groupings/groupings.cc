// One stream, read by a bolt for each grouping; at the end a table of how many tuples each task
// got.
//
//   numbers --shuffle, none, local-or-shuffle, fields, partial-key, direct, custom--> a bolt named
//   after it --global--> report
//
// heron submit local bazel-bin/examples/groupings/groupings my-groupings --wait=finished
// --containers 2 -- 30000
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "heron/heron.h"

namespace {

constexpr std::string_view kHotKey = "hot";

// Emits numbers with a key, every other one with the same. Every number goes to the readers twice:
// with Emit to those that have a grouping of their own, with EmitTo to a task of the bolt "direct"
// that is named here.
class Numbers : public heron::Spout {
 public:
  explicit Numbers(int64_t count) : count_(count) {}

  void Open(heron::SpoutContext& context) override {
    container_ = context.container();
    direct_ = context.TasksOf("direct");
    out_ = context.Output<std::string_view, int64_t>("key", "container");
  }

  heron::Next NextTuple() override {
    if (n_ == count_) return heron::Next::Ended();
    const std::string key = n_ % 2 == 0 ? std::string(kHotKey) : "key " + std::to_string(n_ % 1000);
    out_.Emit(key, container_);
    // Three of four to the first task, the fourth to the last.
    out_.EmitTo(n_ % 4 == 3 ? direct_.back() : direct_.front(), key, container_);
    ++n_;
    return heron::Next::More();
  }

 private:
  int64_t count_;
  int64_t n_ = 0;
  int64_t container_ = 0;
  std::vector<int32_t> direct_;
  heron::Output<std::string_view, int64_t> out_;
};

// The first task is kept free for the hot key, the others share the rest.
class HotLane : public heron::CustomGrouping {
 public:
  void Prepare(const heron::CustomGroupingContext& context) override { tasks_ = context.tasks; }

  void Choose(std::span<const heron::FieldView> values, std::vector<int32_t>& tasks) override {
    if (values[0].text() == kHotKey || tasks_.size() == 1) {
      tasks.push_back(tasks_[0]);
    } else {
      tasks.push_back(tasks_[1 + next_++ % (tasks_.size() - 1)]);
    }
  }

 private:
  std::vector<int32_t> tasks_;
  size_t next_ = 0;
};

// Counts what it gets, and how much of it comes from its own container.
class Count : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    context_ = &context;
    out_ = context.Output<std::string_view, int64_t, int64_t, int64_t>("bolt", "task", "tuples",
                                                                       "near");
  }

  void Execute(const heron::Tuple& in) override {
    ++tuples_;
    if (in.Int64(1) == context_->container()) ++near_;
  }

  void Finish() override { out_.Emit(context_->component(), context_->task(), tuples_, near_); }

 private:
  heron::BoltContext* context_ = nullptr;
  int64_t tuples_ = 0;
  int64_t near_ = 0;
  heron::Output<std::string_view, int64_t, int64_t, int64_t> out_;
};

class Report : public heron::Bolt {
 public:
  void Execute(const heron::Tuple& in) override {
    rows_.push_back({std::string(in.String(0)), in.Int64(1), in.Int64(2), in.Int64(3)});
  }

  void Finish() override {
    std::sort(rows_.begin(), rows_.end(),
              [](const Row& a, const Row& b) { return a.task < b.task; });
    for (const Row& row : rows_) {
      std::cout << "bolt " << row.bolt << " task " << row.task << " tuples " << row.tuples
                << " of-own-container " << row.near << std::endl;
    }
  }

 private:
  struct Row {
    std::string bolt;
    int64_t task;
    int64_t tuples;
    int64_t near;
  };
  std::vector<Row> rows_;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  int64_t count = 30000;
  if (!args.empty()) {
    const std::string& text = args[0];
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, count).ptr != end || count < 0 || args.size() > 1) {
      std::cerr << "groupings takes one argument after --, how many tuples each spout task emits\n";
      return 2;
    }
  }

  heron::TopologyBuilder t("groupings");
  auto numbers = t.AddSpout("numbers", [=] { return Numbers(count); })
                     .Parallelism(2)
                     .Bounded()
                     .Declares<std::string, int64_t>("key", "container");
  auto report = t.AddBolt("report", [] { return Report(); });
  auto counting = [&](const char* name, int tasks) {
    auto bolt =
        t.AddBolt(name, [] { return Count(); })
            .Parallelism(tasks)
            .Declares<std::string, int64_t, int64_t, int64_t>("bolt", "task", "tuples", "near");
    report.Global(bolt);
    return bolt;
  };
  counting("shuffle", 2).Shuffle(numbers);
  counting("none", 2).None(numbers);
  counting("local", 2).LocalOrShuffle(numbers);
  counting("fields", 3).Fields(numbers, "key");
  counting("partial", 3).PartialKey(numbers, "key");
  counting("direct", 2).Direct(numbers);
  counting("custom", 3).Custom(numbers, [] { return HotLane(); });
  return heron::Main(argc, argv, t);
}
