// Request and reply: whoever asks names the task that is to get the answer.
//
//   questions --shuffle--> server --direct: the desk named in the question--> desk
//       \------------------direct: the same desk-----------------------------^
//
// heron submit local bazel-bin/examples/direct_reply/direct_reply my-desk --wait=finished -- 1000
#include <charconv>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "heron/heron.h"

namespace {

// Asks for squares. Each question goes to any server, and a note of it to the desk that will get
// the answer: a stream of its own, read by direct grouping.
class Questions : public heron::Spout {
 public:
  explicit Questions(int64_t count) : count_(count) {}

  void Open(heron::SpoutContext& context) override {
    slice_ = context.Slice();
    n_ = slice_.index;
    desks_ = context.TasksOf("desk");  // task ids, by index; they stay while the topology runs
    question_ = context.Output<int64_t, int64_t>("number", "reply_to");
    note_ = context.Output<int64_t>(heron::Stream("notes"), "number");
  }

  heron::Next NextTuple() override {
    if (n_ >= count_) return heron::Next::Ended();
    const int32_t desk = desks_[static_cast<size_t>(n_) % desks_.size()];
    // Emit would send nothing to a reader by direct grouping: EmitTo names the task.
    note_.EmitTo(desk, n_);
    question_.Emit(n_, desk);
    n_ += slice_.count;
    return heron::Next::More();
  }

 private:
  int64_t count_;
  int64_t n_ = 0;
  heron::Slice slice_;
  std::vector<int32_t> desks_;
  heron::Output<int64_t, int64_t> question_;
  heron::Output<int64_t> note_;
};

class Server : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    answer_ = context.Output<int64_t, int64_t>("number", "square");
  }

  void Execute(const heron::Tuple& question) override {
    const int64_t number = question.Int64(0);
    // Get<int32_t> throws if the number does not fit.
    const auto reply_to = question.Get<int32_t>(1);
    // kNotATask if reply_to is no desk: counted, and shown in the topology's "incomplete".
    answer_.EmitTo(reply_to, number, number * number);
  }

 private:
  heron::Output<int64_t, int64_t> answer_;
};

// Notes and answers come from different tasks, in any order: a number that was seen once is open.
class Desk : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override { index_ = context.index(); }

  void Execute(const heron::Tuple& in) override {
    const int64_t number = in.Int64(0);
    if (!open_.insert(number).second) open_.erase(number);
    if (in.stream() == "notes") {
      ++asked_;
    } else if (in.Int64(1) == number * number) {
      ++answered_;
    }
  }

  void Finish() override {
    // One piece: with --heron-local the other desk is a thread that prints too.
    const std::string line = "desk " + std::to_string(index_) + ": " + std::to_string(asked_) +
                             " asked, " + std::to_string(answered_) + " answered, " +
                             std::to_string(open_.size()) + " open\n";
    std::cout << line << std::flush;
  }

 private:
  int32_t index_ = 0;
  int64_t asked_ = 0;
  int64_t answered_ = 0;
  std::set<int64_t> open_;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  int64_t count = 1000;
  if (!args.empty()) {
    const std::string& text = args[0];
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, count).ptr != end || count < 0 || args.size() > 1) {
      std::cerr << "direct_reply takes one argument after --, how many questions are asked\n";
      return 2;
    }
  }

  heron::TopologyBuilder t("direct-reply");
  auto questions = t.AddSpout("questions", [=] { return Questions(count); })
                       .Parallelism(2)
                       .Bounded()
                       .Declares<int64_t, int64_t>("number", "reply_to")
                       .DeclaresStream<int64_t>("notes", "number");
  auto server = t.AddBolt("server", [] { return Server(); })
                    .Parallelism(3)
                    .Declares<int64_t, int64_t>("number", "square")
                    .Shuffle(questions);
  t.AddBolt("desk", [] { return Desk(); }).Parallelism(2).Direct(server).Direct(questions["notes"]);
  return heron::Main(argc, argv, t);
}
