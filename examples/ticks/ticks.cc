// How much arrives per interval: a bolt that is called by its input and by a clock.
//
//   numbers --shuffle--> rate (ticks every 50 ms) --global--> report
//
// heron submit local bazel-bin/examples/ticks/ticks my-rate --wait=finished -- 20
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

#include "heron/heron.h"

namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

constexpr int64_t kPerBurst = 100;

// Emits bursts with pauses between them.
class Numbers : public heron::Spout {
 public:
  explicit Numbers(int64_t bursts) : bursts_(bursts) {}

  void Open(heron::SpoutContext& context) override { out_ = context.Output<int64_t>("n"); }

  heron::Next NextTuple() override {
    if (bursts_-- == 0) return heron::Next::Ended();
    for (int64_t i = 0; i < kPerBurst; ++i) out_.Emit(i);
    // Never sleep in a component: say when to come back, and the engine goes on with its own work.
    return heron::Next::Idle(20ms);
  }

 private:
  int64_t bursts_;
  heron::Output<int64_t> out_;
};

// Execute, Tick and Finish are called on one thread, one after the other: no locks.
class Rate : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    out_ = context.Output<int64_t, double, int64_t>("tick", "ms", "tuples");
  }

  void Execute(const heron::Tuple&) override { ++tuples_; }

  // Comes also when nothing arrives. A tick may be late, and ticks that were missed are not made up
  // for: what counts is the time since the previous one.
  void Tick(heron::TickInfo tick) override {
    Send(tick.number, std::chrono::duration<double, std::milli>(tick.since_previous).count());
  }

  // No tick comes from here on: what is left has to be sent now.
  void Finish() override { Send(0, 0); }

 private:
  void Send(int64_t tick, double ms) {
    out_.Emit(tick, ms, tuples_);
    tuples_ = 0;
  }

  int64_t tuples_ = 0;
  heron::Output<int64_t, double, int64_t> out_;
};

class Report : public heron::Bolt {
 public:
  void Execute(const heron::Tuple& in) override {
    if (in.Int64(0) > 0) {
      ++ticks_;
      std::cout << "tick " << in.Int64(0) << " after " << in.Double(1) << " ms: " << in.Int64(2)
                << " tuples" << std::endl;
    }
    tuples_ += in.Int64(2);
  }

  void Finish() override {
    std::cout << "total " << tuples_ << " tuples in " << ticks_ << " ticks and a rest" << std::endl;
  }

 private:
  int64_t ticks_ = 0;
  int64_t tuples_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  int64_t bursts = 20;
  if (!args.empty()) {
    const std::string& text = args[0];
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, bursts).ptr != end || bursts < 0 || args.size() > 1) {
      std::cerr << "ticks takes one argument after --, how many bursts of " << kPerBurst
                << " tuples are emitted\n";
      return 2;
    }
  }

  heron::TopologyBuilder t("ticks");
  auto numbers =
      t.AddSpout("numbers", [=] { return Numbers(bursts); }).Bounded().Declares<int64_t>("n");
  auto rate = t.AddBolt("rate", [] { return Rate(); })
                  .Tick(50ms)  // any duration from 1 ms to 1 day
                  .Declares<int64_t, double, int64_t>("tick", "ms", "tuples")
                  .Shuffle(numbers);
  t.AddBolt("report", [] { return Report(); }).Global(rate);
  return heron::Main(argc, argv, t);
}
