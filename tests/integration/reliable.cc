// At-least-once end to end: every id that the spouts read must arrive, in two parts, whatever dies.
//
//   numbers (2 tasks) --shuffle--> split (3) --fields--> seen (2)
//
//   reliable IDS PAUSE_US FOLDER [fail | hold]
//
// "numbers" emits ids with themselves as message ids and emits again what fails. "seen" appends a line "id part" to
// FOLDER/seen-INDEX before it returns; the lines stay when it dies. With "fail" each bolt fails every hundredth tuple once and holds
// every third one a while; with "hold" it holds every one for ever. Each spout leaves FOLDER/numbers-INDEX when it ends: "acked failed".
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <thread>

#include "heron/heron.h"

namespace {

class Numbers : public heron::Spout {
 public:
  Numbers(int64_t count, int64_t pause_us, std::string folder) : count_(count), pause_(pause_us), folder_(std::move(folder)) {}
  void Open(heron::SpoutContext& context) override {
    const heron::Slice slice = context.Slice();
    index_ = slice.index;
    next_ = count_ * slice.index / slice.count;
    end_ = count_ * (slice.index + 1) / slice.count;
    out_ = context.Output<int64_t>("id");
  }
  heron::Next NextTuple() override {
    int64_t id = 0;
    if (!again_.empty()) {
      id = again_.front();
      again_.pop_front();
    } else if (next_ < end_) {
      id = next_++;
    } else {
      return heron::Next::Ended();
    }
    out_.Emit(heron::MessageId(id), id);
    return pause_.count() > 0 ? heron::Next::Idle(pause_) : heron::Next::More();
  }
  void Ack(const heron::MessageId&) override { ++acked_; }
  void Fail(const heron::MessageId& id, heron::FailReason) override {
    ++failed_;
    again_.push_back(id.number());
  }
  void Close() override { std::ofstream(folder_ + "/numbers-" + std::to_string(index_)) << acked_ << " " << failed_ << "\n"; }

 private:
  int64_t count_;
  std::chrono::microseconds pause_;
  std::string folder_;
  int32_t index_ = 0;
  int64_t next_ = 0, end_ = 0;
  int64_t acked_ = 0, failed_ = 0;
  std::deque<int64_t> again_;
  heron::Output<int64_t> out_;
};

// Fails some tuples at the first time, and holds some for a few others.
class Troublesome : public heron::Bolt {
 public:
  explicit Troublesome(const std::string& mode) : trouble_(mode == "fail"), for_ever_(mode == "hold") {}
  void Prepare(heron::BoltContext& context) override { context_ = &context; }
  void Execute(const heron::Tuple& in) override {
    const int64_t id = in.Int64(0);
    if (trouble_ && id % 100 == 17 && failed_.insert(id).second) {
      context_->Fail(in);
      return;
    }
    Do(in);
    if (!for_ever_ && (!trouble_ || id % 3 != 0)) return;
    held_.push_back(context_->Hold(in));
  }
  // What is held must not wait for tuples that do not come.
  void Tick(heron::TickInfo) override {
    if (for_ever_) return;
    for (heron::HeldTuple& tuple : held_) tuple.Ack();
    held_.clear();
  }
  virtual void Do(const heron::Tuple& in) = 0;

 protected:
  heron::BoltContext* context_ = nullptr;

 private:
  bool trouble_;
  bool for_ever_;
  std::set<int64_t> failed_;
  std::deque<heron::HeldTuple> held_;
};

class Split : public Troublesome {
 public:
  using Troublesome::Troublesome;
  void Prepare(heron::BoltContext& context) override {
    Troublesome::Prepare(context);
    out_ = context.Output<int64_t, int64_t>("id", "part");
  }
  void Do(const heron::Tuple& in) override {
    for (int64_t part : {0, 1}) out_.Emit(in.Int64(0), part);
  }

 private:
  heron::Output<int64_t, int64_t> out_;
};

class Seen : public Troublesome {
 public:
  Seen(const std::string& mode, std::string folder) : Troublesome(mode), folder_(std::move(folder)) {}
  void Prepare(heron::BoltContext& context) override {
    Troublesome::Prepare(context);
    const std::string path = folder_ + "/seen-" + std::to_string(context.index());
    file_ = open(path.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
  }
  void Do(const heron::Tuple& in) override {
    const std::string line = std::to_string(in.Int64(0)) + " " + std::to_string(in.Int64(1)) + "\n";
    if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  }

 private:
  std::string folder_;
  int file_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  if (args.size() < 3) {
    std::cerr << "reliable IDS PAUSE_US FOLDER [fail]; see the head of reliable.cc\n";
    return 2;
  }
  const int64_t ids = std::atoll(args[0].c_str()), pause_us = std::atoll(args[1].c_str());
  const std::string folder = args[2];
  const std::string mode = args.size() > 3 ? args[3] : "";
  heron::TopologyBuilder t("reliable");
  t.Config("topology.reliability.mode", "ATLEAST_ONCE");
  auto numbers = t.AddSpout("numbers", [=] { return Numbers(ids, pause_us, folder); })
                     .Parallelism(2)
                     .Bounded()
                     .Declares<int64_t>("id");
  auto split = t.AddBolt("split", [=] { return Split(mode); })
                   .Parallelism(3)
                   .Declares<int64_t, int64_t>("id", "part")
                   .Tick(std::chrono::milliseconds(20))
                   .Shuffle(numbers);
  t.AddBolt("seen", [=] { return Seen(mode, folder); })
      .Parallelism(2)
      .Tick(std::chrono::milliseconds(20))
      .Fields(split, "id");
  return heron::Main(argc, argv, t);
}
