// A topology whose behaviour is chosen by its first argument; for tests of the engine with real processes.
//
//   probe endless                      an endless spout, a bolt
//   probe many                         the same with ten bolts more
//   probe bounded key=value...         numbers 0..tuples-1, shuffled to "work", all sums to "total"
//       tuples=N  pause_us=N (per tuple)  work_us=N (of "work", per tuple)  finish_ms=N (how long Finish takes)  out=FILE (total, sum; by rename)
//       marks=FILE (a line per start, finish begin and finish end of each task)
//       throw_once=N ("work" throws at its Nth tuple, once in this process)
//       throw=type (Execute of "work" reads a number as text) | throw=close (Close, Cleanup of all)
//   probe loop key=value...            numbers 0..tuples-1, each going `hops` times round a cycle of two bolts
//   probe throw-open | hang-open | throw-execute | unrecoverable | exit-execute | segv-execute
//   probe stuck-execute | stuck-or-unrecoverable (does not return; with another task that gives up then)
//   probe crash-describe | hang-describe | rubbish-describe | silent-describe | differs
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "heron/heron.h"

namespace {

std::map<std::string, std::string> options;

int64_t Number(const std::string& key, int64_t fallback) {
  auto it = options.find(key);
  return it == options.end() ? fallback : std::atoll(it->second.c_str());
}

void Pause(std::chrono::microseconds time) {
  if (time.count() > 0) std::this_thread::sleep_for(time);
}

// One line, appended at once, so that lines of several processes do not mix.
void Mark(const std::string& text) {
  auto it = options.find("marks");
  if (it == options.end()) return;
  int fd = open(it->second.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
  std::string line = text + " pid=" + std::to_string(getpid()) + "\n";
  if (write(fd, line.data(), line.size()) < 0) std::perror("mark");
  close(fd);
}

void ThrowAtTheEnd() {
  if (options["throw"] == "close") throw std::runtime_error("the connection was lost");
}

class Numbers : public heron::Spout {
 public:
  Numbers(int64_t count, int64_t pause_us) : count_(count), pause_(pause_us) {}
  void Open(heron::SpoutContext& context) override {
    auto slice = context.Slice();
    next_ = count_ * slice.index / slice.count;
    end_ = count_ * (slice.index + 1) / slice.count;
    out_ = context.Output<int64_t>("n");
    Mark("start " + context.component() + "[" + std::to_string(context.index()) + "]");
  }
  heron::Next NextTuple() override {
    if (next_ >= end_) return heron::Next::Ended();
    Pause(pause_);
    out_.Emit(next_++);
    return heron::Next::More();
  }
  void Close() override { ThrowAtTheEnd(); }

 private:
  int64_t count_;
  std::chrono::microseconds pause_;
  int64_t next_ = 0, end_ = 0;
  heron::Output<int64_t> out_;
};

class Sum : public heron::Bolt {
 public:
  explicit Sum(std::string out_file) : out_file_(std::move(out_file)) {}
  void Prepare(heron::BoltContext& context) override {
    name_ = context.component() + "[" + std::to_string(context.index()) + "]";
    if (out_file_.empty()) out_ = context.Output<int64_t, int64_t>("tuples", "sum");
    Mark("start " + name_);
  }
  void Execute(const heron::Tuple& in) override {
    static std::atomic<int64_t> executed{0};
    if (out_file_.empty() && ++executed == Number("throw_once", -1)) {
      throw std::runtime_error("only once");
    }
    if (out_file_.empty()) Pause(std::chrono::microseconds(Number("work_us", 0)));
    if (in.size() == 1 && options["throw"] == "type") name_ = in.String(0);
    tuples_ += in.size() == 1 ? 1 : in.Int64(0);
    sum_ += in.Int64(in.size() - 1);
  }
  void Finish() override {
    Mark("finish-begin " + name_);
    Pause(std::chrono::milliseconds(Number("finish_ms", 0)));
    if (out_file_.empty()) {
      out_.Emit(tuples_, sum_);
    } else {
      std::ofstream(out_file_ + ".part") << tuples_ << " " << sum_ << "\n";
      std::rename((out_file_ + ".part").c_str(), out_file_.c_str());
    }
    Mark("finish-end " + name_);
  }
  void Cleanup() override { ThrowAtTheEnd(); }

 private:
  std::string out_file_;
  std::string name_;
  int64_t tuples_ = 0, sum_ = 0;
  heron::Output<int64_t, int64_t> out_;
};

class Endless : public heron::Spout {
 public:
  void Open(heron::SpoutContext& context) override { out_ = context.Output<int64_t>("n"); }
  heron::Next NextTuple() override {
    out_.Emit(n_++);
    return n_ % 64 == 0 ? heron::Next::Idle(std::chrono::milliseconds(1)) : heron::Next::More();
  }

 private:
  int64_t n_ = 0;
  heron::Output<int64_t> out_;
};

// Gives a number its hops, or passes on what is left of them.
class There : public heron::Bolt {
 public:
  explicit There(int64_t hops) : hops_(hops) {}
  void Prepare(heron::BoltContext& context) override { out_ = context.Output<int64_t>("hops"); }
  void Execute(const heron::Tuple& in) override {
    out_.Emit(in.component() == "numbers" ? hops_ : in.Int64(0));
  }

 private:
  int64_t hops_;
  heron::Output<int64_t> out_;
};

class Back : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override { out_ = context.Output<int64_t>("hops"); }
  void Execute(const heron::Tuple& in) override {
    if (in.Int64(0) > 1) out_.Emit(in.Int64(0) - 1);
  }

 private:
  heron::Output<int64_t> out_;
};

class Misbehaving : public heron::Bolt {
 public:
  explicit Misbehaving(std::string mode) : mode_(std::move(mode)) {}
  void Prepare(heron::BoltContext& context) override {
    index_ = context.index();
    if (mode_ == "throw-open") throw std::runtime_error("the licence server said no");
    while (mode_ == "hang-open") pause();
    if (mode_ == "unrecoverable") throw heron::Unrecoverable("table users does not exist");
  }
  void Execute(const heron::Tuple& in) override {
    if (mode_ == "throw-execute") throw std::runtime_error("cannot parse 17");
    if (mode_ == "exit-execute") std::_Exit(3);
    if (mode_ == "stuck-execute" || (mode_ == "stuck-or-unrecoverable" && index_ == 1)) {
      stuck = true;
      std::fprintf(stderr, "stuck now\n");
      for (;;) pause();
    }
    if (mode_ == "stuck-or-unrecoverable" && stuck) throw heron::Unrecoverable("given up");
    if (mode_ == "segv-execute") {
      std::fprintf(stderr, "reading the map\n");
      std::raise(SIGSEGV);
    }
    count_ += in.size();
  }

 private:
  static inline std::atomic<bool> stuck{false};
  std::string mode_;
  int index_ = 0;
  size_t count_ = 0;
};

int DescribeBadly(const std::string& mode, int argc, char** argv) {
  if (mode == "crash-describe") std::raise(SIGSEGV);
  if (mode == "silent-describe") return 0;
  if (mode == "hang-describe") {
    for (;;) pause();
  }
  for (int i = 1; i < argc; ++i) {  // rubbish on the descriptor
    std::string flag = argv[i];
    if (flag.rfind("--heron-describe-fd=", 0) != 0) continue;
    int fd = std::atoi(flag.c_str() + 20);
    std::string rubbish(10000, '\xff');
    if (write(fd, rubbish.data(), rubbish.size()) < 0) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  heron::Args args(argc, argv);
  if (args.size() < 1) {
    std::fprintf(stderr, "probe MODE [key=value...]; see the head of probe.cc\n");
    return 2;
  }
  std::string mode = args[0];
  for (size_t i = 1; i < args.size(); ++i) {
    std::string a = args[i];
    options[a.substr(0, a.find('='))] = a.substr(a.find('=') + 1);
  }
  if (mode.ends_with("-describe")) return DescribeBadly(mode, argc, argv);

  heron::TopologyBuilder t("probe");
  if (mode == "bounded") {
    int64_t tuples = Number("tuples", 1000), pause_us = Number("pause_us", 0);
    auto numbers = t.AddSpout("numbers", [=] { return Numbers(tuples, pause_us); })
                       .Bounded()
                       .Declares<int64_t>("n");
    auto work = t.AddBolt("work", [] { return Sum(""); })
                    .Parallelism(2)
                    .Declares<int64_t, int64_t>("tuples", "sum")
                    .Shuffle(numbers);
    std::string out = options["out"];
    t.AddBolt("total", [=] { return Sum(out); }).Global(work);
  } else if (mode == "loop") {
    int64_t tuples = Number("tuples", 1000), hops = Number("hops", 1);
    auto numbers = t.AddSpout("numbers", [=] { return Numbers(tuples, 0); }).Declares<int64_t>("n");
    auto there = t.AddBolt("there", [=] { return There(hops); })
                     .Parallelism(2)
                     .Declares<int64_t>("hops")
                     .Shuffle(numbers);
    auto back = t.AddBolt("back", [] { return Back(); })
                    .Parallelism(2)
                    .Declares<int64_t>("hops")
                    .Shuffle(there);
    there.Shuffle(heron::Feedback(back));
  } else {
    auto numbers = t.AddSpout("numbers", [] { return Endless(); }).Declares<int64_t>("n");
    bool in_container = std::getenv("HERON_TOPOLOGY_ID") != nullptr;
    t.AddBolt(mode == "differs" && in_container ? "another" : "work",
              [=] { return Misbehaving(mode); })
        .Shuffle(numbers);
    for (int i = 0; mode == "many" && i < 10; ++i) {
      t.AddBolt("more-" + std::to_string(i), [=] { return Misbehaving(mode); }).Shuffle(numbers);
    }
  }
  return heron::Main(argc, argv, t);
}
