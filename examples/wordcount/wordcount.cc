// Counts the words of a text file:
//
//   lines (reads a part of the file) --shuffle--> split --fields(word)--> count --global--> sink (writes the result)
//
// heron submit local bazel-bin/examples/wordcount/wordcount my-count --wait=finished -- INPUT OUTPUT
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "examples/wordcount/result_file.h"
#include "heron/heron.h"

namespace {

// Task i of P emits the lines that begin in the i-th of P byte ranges of the file. A line that does not fit into a tuple fails the
// topology: it is never cut.
class Lines : public heron::Spout {
 public:
  explicit Lines(std::string path) : path_(std::move(path)) {}

  void Open(heron::SpoutContext& context) override {
    limit_bytes_ = context.Config().Get<int64_t>("topology.tuple.max.bytes", 8 << 20);
    heron::LineReader::Options options;
    options.max_line_bytes = static_cast<size_t>(limit_bytes_);
    try {
      lines_ = heron::LineReader(path_, context.Slice(), options);
    } catch (const heron::InputError& e) {
      throw heron::Unrecoverable(e.what());  // a missing file will not appear by itself
    }
    out_ = context.Output<std::string_view>("line");
  }

  heron::Next NextTuple() override {
    auto line = lines_.Next();
    if (!line) return heron::Next::Ended();
    if (out_.Emit(*line) == heron::EmitResult::kTooLarge) {
      throw heron::LineTooLong(path_, lines_.offset(), line->size(), true, limit_bytes_);
    }
    return heron::Next::More();
  }

 private:
  std::string path_;
  int64_t limit_bytes_ = 0;
  heron::LineReader lines_;
  heron::Output<std::string_view> out_;
};

class Split : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    out_ = context.Output<std::string_view>("word");
  }

  void Execute(const heron::Tuple& line) override {
    for (std::string_view word : heron::SplitSpaces(line.String(0))) out_.Emit(word);
  }

 private:
  heron::Output<std::string_view> out_;
};

class Count : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    out_ = context.Output<std::string_view, int64_t>("word", "count");
  }

  void Execute(const heron::Tuple& word) override {
    auto found = counts_.find(word.String(0));
    if (found == counts_.end()) found = counts_.emplace(word.String(0), 0).first;
    ++found->second;
  }

  void Finish() override {
    for (const auto& [word, count] : counts_) out_.Emit(word, count);
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> counts_;
  heron::Output<std::string_view, int64_t> out_;
};

// Writes all words, most frequent first, when everything has been counted.
class Sink : public heron::Bolt {
 public:
  explicit Sink(std::string path) : path_(std::move(path)) {}

  void Prepare(heron::BoltContext&) override { wordcount::CheckWritable(path_); }
  void Execute(const heron::Tuple& in) override {
    rows_.push_back({std::string(in.String(0)), in.Int64(1)});
  }
  void Finish() override { wordcount::WriteRows(path_, std::move(rows_)); }

 private:
  std::string path_;
  std::vector<wordcount::Row> rows_;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  if (args.size() != 2) {
    std::cerr << "wordcount takes two arguments after --: INPUT OUTPUT (got " << args.size() << ")\n";
    return 2;
  }
  std::string input = args[0], output = args[1];

  heron::TopologyBuilder t("word-count");
  auto lines = t.AddSpout("lines", [=] { return Lines(input); })
                   .Parallelism(2)
                   .Bounded()
                   .Declares<std::string>("line");
  auto split = t.AddBolt("split", [] { return Split(); })
                   .Parallelism(2)
                   .Declares<std::string>("word")
                   .Shuffle(lines);
  auto count = t.AddBolt("count", [] { return Count(); })
                   .Parallelism(2)
                   .Declares<std::string, int64_t>("word", "count")
                   .Fields(split, "word");
  t.AddBolt("sink", [=] { return Sink(output); }).Global(count);
  return heron::Main(argc, argv, t);
}
