// Mistakes that a newcomer makes in a program; the first argument says which.
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

#include "heron/heron.h"

namespace {

std::string mistake;

class Numbers : public heron::Spout {
 public:
  void Open(heron::SpoutContext& context) override {
    if (mistake == "output-of-wrong-type") {
      context.Output<std::string_view>("n");
    } else if (mistake == "output-of-wrong-name") {
      context.Output<int64_t>("number");
    } else if (mistake == "output-of-unknown-stream") {
      context.Output<int64_t>(heron::Stream("errors"), "n");
    } else if (mistake == "config-missing") {
      context.Config().Get<int64_t>("my.limit");
    } else if (mistake == "config-of-wrong-type") {
      context.Config().Get<int64_t>("my.word");
    } else if (mistake == "tasks-of-unknown") {
      context.TasksOf("wrok");
    }
    if (mistake != "output-never-made") out_ = context.Output<int64_t>("n");
  }
  heron::Next NextTuple() override {
    if (n_ == 100) return heron::Next::Ended();
    out_.Emit(n_++);
    return heron::Next::More();
  }

 private:
  int64_t n_ = 0;
  heron::Output<int64_t> out_;
};

class Work : public heron::Bolt {
 public:
  void Execute(const heron::Tuple& in) override {
    if (mistake == "read-of-wrong-type") in.String(0);
    if (mistake == "read-of-wrong-index") in.Int64(1);
    if (mistake == "read-of-wrong-name") in.Int64("number");
  }
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  if (!args.empty()) mistake = args[0];
  if (mistake == "argument-missing") std::cout << args[1];

  heron::TopologyBuilder t("wrong-turns");
  auto numbers = t.AddSpout("numbers", [] { return Numbers(); })
                     .Bounded()
                     .Declares<int64_t>("n")
                     .Config("my.word", "many");
  auto work = t.AddBolt("work", [] { return Work(); });
  if (mistake == "reads-nothing") {
  } else if (mistake == "unknown-component") {
    work.Shuffle("nubmers");
  } else if (mistake == "unknown-stream") {
    work.Shuffle(numbers["errors"]);
  } else if (mistake == "unknown-field") {
    work.Fields(numbers, "m");
  } else if (mistake == "reads-one-that-emits-nothing") {
    work.Shuffle(numbers);
    t.AddBolt("after", [] { return Work(); }).Shuffle(work);
  } else {
    work.Shuffle(numbers);
  }
  if (mistake == "same-name-twice") t.AddBolt("work", [] { return Work(); }).Shuffle(numbers);
  if (mistake == "reserved-name") t.AddBolt("__work", [] { return Work(); }).Shuffle(numbers);
  if (mistake == "no-task") work.Parallelism(0);
  if (mistake == "unknown-setting") work.Config("topology.queue.hihg.bytes", int64_t{65536});
  return heron::Main(argc, argv, t);
}
