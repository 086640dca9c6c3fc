// Adds exclamation marks to words, twice:
//
//   words --shuffle--> exclaim1 --shuffle--> exclaim2 --fields(word)--> print
//
// heron submit local bazel-bin/examples/exclamation/exclamation shout --wait=finished -- 1000
#include <array>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "heron/heron.h"

namespace {

// A source: NextTuple is called again and again, and emits a word each time until `count` words are
// out. Without the end (and without Bounded() below) it would be an endless source.
class Words : public heron::Spout {
 public:
  explicit Words(int64_t count) : count_(count) {}

  void Open(heron::SpoutContext& context) override {
    // Outputs are made once, here; types and name must be those declared in main.
    out_ = context.Output<std::string_view>("word");
  }

  heron::Next NextTuple() override {
    constexpr std::array<std::string_view, 5> kWords = {"nathan", "mike", "jackson", "golda",
                                                        "bertels"};
    if (n_ == count_) return heron::Next::Ended();
    out_.Emit(kWords[static_cast<size_t>(n_++) % kWords.size()]);
    return heron::Next::More();
  }

 private:
  int64_t count_;
  int64_t n_ = 0;
  heron::Output<std::string_view> out_;
};

// A bolt: Execute is called for each tuple. This one is used twice, as two components.
class Exclaim : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    out_ = context.Output<std::string_view>("word");
  }

  void Execute(const heron::Tuple& in) override {
    // in.String(0) is a view that is valid until Execute returns; Emit copies what it is given.
    out_.Emit(std::string(in.String(0)) + "!!!");
  }

 private:
  heron::Output<std::string_view> out_;
};

// Finish is called once, when everything that was emitted upstream has been executed.
class Print : public heron::Bolt {
 public:
  void Execute(const heron::Tuple& in) override { ++counts_[std::string(in.String(0))]; }

  void Finish() override {
    // A line is printed as one piece: with --heron-local the other tasks are threads that print
    // too.
    for (const auto& [word, count] : counts_) {
      std::cout << word + " " + std::to_string(count) + "\n" << std::flush;
    }
  }

 private:
  std::map<std::string, int64_t> counts_;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);  // what stands behind -- on the command line
  int64_t count = 1000;
  if (!args.empty()) {
    const std::string& text = args[0];
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, count).ptr != end || count < 0 || args.size() > 1) {
      std::cerr
          << "exclamation takes one argument after --, how many words each spout task emits\n";
      return 2;
    }
  }

  heron::TopologyBuilder t("exclamation");
  auto words = t.AddSpout("words", [=] { return Words(count); })
                   .Parallelism(2)  // two tasks, each with a Words of its own
                   .Bounded()
                   .Declares<std::string>("word");
  auto exclaim1 = t.AddBolt("exclaim1", [] { return Exclaim(); })
                      .Parallelism(3)
                      .Declares<std::string>("word")
                      .Shuffle(words);  // any task will do: in turn
  auto exclaim2 = t.AddBolt("exclaim2", [] { return Exclaim(); })
                      .Parallelism(2)
                      .Declares<std::string>("word")
                      .Shuffle(exclaim1);
  t.AddBolt("print", [] { return Print(); })
      .Parallelism(2)
      .Fields(exclaim2, "word");  // equal words come to the same task, which counts them
  return heron::Main(argc, argv, t);
}
