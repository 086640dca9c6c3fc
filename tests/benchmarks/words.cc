// The topology of the word count benchmark: spouts emit words of a made-up vocabulary at random,
// bolts count them by fields grouping.
//
//   words TUPLES VOCABULARY FOLDER [acked]    TUPLES by each spout task; each bolt task leaves
//   FOLDER/count-INDEX: "tuples distinct"
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "heron/heron.h"

namespace {

// xorshift64 of G. Marsaglia, 2003.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 32) * n >> 32;
  }

 private:
  uint64_t state_;
};

// Distinct words of 4 to 13 letters.
std::vector<std::string> MakeWords(size_t count) {
  Random random(88172645463325252);
  std::unordered_set<std::string> seen;
  std::vector<std::string> words;
  while (words.size() < count) {
    std::string word(4 + random.Below(10), ' ');
    for (char& c : word) c = static_cast<char>('a' + random.Below(26));
    if (seen.insert(word).second) words.push_back(std::move(word));
  }
  return words;
}

class Words : public heron::Spout {
 public:
  Words(int64_t tuples, size_t vocabulary, bool acked)
      : left_(tuples), vocabulary_(vocabulary), acked_(acked) {}
  void Open(heron::SpoutContext& context) override {
    words_ = MakeWords(vocabulary_);
    random_ = Random(0x9e3779b97f4a7c15 + static_cast<uint64_t>(context.index()));
    out_ = context.Output<std::string_view>("word");
  }
  heron::Next NextTuple() override {
    if (left_ == 0) return heron::Next::Ended();
    const std::string& word = words_[random_.Below(words_.size())];
    if (acked_) {
      out_.Emit(heron::MessageId(left_), word);
    } else {
      out_.Emit(word);
    }
    --left_;
    return heron::Next::More();
  }

 private:
  int64_t left_;
  size_t vocabulary_;
  bool acked_;
  std::vector<std::string> words_;
  Random random_{1};
  heron::Output<std::string_view> out_;
};

class Count : public heron::Bolt {
 public:
  explicit Count(std::string folder) : folder_(std::move(folder)) {}
  void Prepare(heron::BoltContext& context) override { index_ = context.index(); }
  void Execute(const heron::Tuple& in) override {
    const std::string_view word = in.String(0);
    ++counts_[absl::string_view(word.data(), word.size())];
  }
  void Finish() override {
    int64_t tuples = 0;
    for (const auto& [word, count] : counts_) tuples += count;
    std::ofstream(folder_ + "/count-" + std::to_string(index_))
        << tuples << " " << counts_.size() << "\n";
  }

 private:
  std::string folder_;
  int32_t index_ = 0;
  absl::flat_hash_map<std::string, int64_t> counts_;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  if (args.size() < 3) {
    std::cerr << "words TUPLES VOCABULARY FOLDER [acked]; see the head of words.cc\n";
    return 2;
  }
  const int64_t tuples = std::atoll(args[0].c_str());
  const size_t vocabulary = static_cast<size_t>(std::atoll(args[1].c_str()));
  const std::string folder = args[2];
  const bool acked = args.size() > 3;
  heron::TopologyBuilder t("words");
  if (acked) t.Config("topology.reliability.mode", "ATLEAST_ONCE");
  auto words = t.AddSpout("words", [=] { return Words(tuples, vocabulary, acked); })
                   .Bounded()
                   .Declares<std::string>("word");
  t.AddBolt("count", [=] { return Count(folder); }).Fields(words, "word");
  return heron::Main(argc, argv, t);
}
