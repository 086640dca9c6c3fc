// At-least-once delivery: a source that hears what became of each tuple, and emits again what
// failed. Every order is executed by the ledger at least once. What a bolt keeps in its memory is
// its own: if the ledger's process dies its lines are gone, and the topology ends as incomplete.
// Whoever needs them writes them down before Execute returns.
//
//   orders --shuffle--> payment (2 tasks, refuses some at first) --global--> ledger
//
// README.md shows how to run it.
#include <charconv>
#include <cstdint>
#include <deque>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "heron/heron.h"

namespace {

struct Attempt {
  int64_t order = 0;
  int64_t number = 1;  // 1: the first
};

class Orders : public heron::Spout {
 public:
  explicit Orders(int64_t count) : count_(count) {}

  void Open(heron::SpoutContext& context) override {
    out_ = context.Output<int64_t, int64_t>("order", "attempt");
  }

  heron::Next NextTuple() override {
    Attempt attempt{.order = next_};
    if (!failed_.empty()) {
      attempt = failed_.front();
      failed_.pop_front();
    } else if (next_ < count_) {
      ++next_;
    } else {
      // Called again should one of the last ones fail.
      return heron::Next::Ended();
    }
    // The id is what Ack and Fail will say: with it, the tuple and all that comes of it is tracked.
    out_.Emit(heron::MessageId(attempt.order), attempt.order, attempt.number);
    return heron::Next::More();
  }

  void Ack(const heron::MessageId&) override { ++acked_; }

  // A bolt said no, or a process died, or time was up. Emitting it again makes it "at least once":
  // whoever has seen it already may see it twice.
  void Fail(const heron::MessageId& id, heron::FailReason) override {
    ++emitted_again_;
    failed_.push_back({.order = id.number(), .number = ++failures_[id.number()] + 1});
  }

  void Close() override {
    std::cout << acked_ << " orders acknowledged, " << emitted_again_ << " emitted again"
              << std::endl;
  }

 private:
  int64_t count_;
  int64_t next_ = 0;
  int64_t acked_ = 0;
  int64_t emitted_again_ = 0;
  std::deque<Attempt> failed_;
  std::map<int64_t, int64_t> failures_;  // by order
  heron::Output<int64_t, int64_t> out_;
};

class Payment : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override {
    context_ = &context;
    out_ = context.Output<int64_t>("order");
  }

  void Execute(const heron::Tuple& in) override {
    const int64_t order = in.Int64(0);
    if (order % 50 == 7 && in.Int64(1) == 1) {
      context_->Fail(in);  // the bank does not answer; the spout hears of it
      return;
    }
    // Part of the order's tree: the spout is told when the ledger has executed it too.
    out_.Emit(order);
  }  // acknowledged here, unless it failed or is held (context.Hold)

 private:
  heron::BoltContext* context_ = nullptr;
  heron::Output<int64_t> out_;
};

class Ledger : public heron::Bolt {
 public:
  void Execute(const heron::Tuple& in) override {
    ++lines_;
    orders_.insert(in.Int64(0));  // what comes twice counts once
  }

  void Finish() override {
    std::cout << orders_.size() << " orders in " << lines_ << " lines" << std::endl;
  }

 private:
  int64_t lines_ = 0;
  std::set<int64_t> orders_;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  int64_t count = 1000;
  if (!args.empty()) {
    const std::string& text = args[0];
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, count).ptr != end || count < 0 || args.size() > 1) {
      std::cerr << "at_least_once takes one argument after --, how many orders there are\n";
      return 2;
    }
  }
  heron::TopologyBuilder t("at-least-once");
  t.Config("topology.reliability.mode", "ATLEAST_ONCE");
  auto orders = t.AddSpout("orders", [=] { return Orders(count); })
                    .Bounded()
                    .Declares<int64_t, int64_t>("order", "attempt");
  auto payment = t.AddBolt("payment", [] { return Payment(); })
                     .Parallelism(2)
                     .Declares<int64_t>("order")
                     .Shuffle(orders);
  t.AddBolt("ledger", [] { return Ledger(); }).Global(payment);
  return heron::Main(argc, argv, t);
}
