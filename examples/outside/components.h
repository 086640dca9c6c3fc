// What the topology is made of. Each task has an object of its own, in a process of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <iostream>

#include "heron/heron.h"

// A source: 1, 2, ... up to `last`, or for ever if that is 0. Its tasks take turns.
class Numbers : public heron::Spout {
 public:
  explicit Numbers(int64_t last) : last_(last) {}

  void Open(heron::SpoutContext& context) override {
    out_ = context.Output<int64_t>("n");
    next_ = 1 + context.index();
    step_ = context.parallelism();
  }

  heron::Next NextTuple() override {
    if (last_ > 0 && next_ > last_) return heron::Next::Ended();
    out_.Emit(next_);
    next_ += step_;
    return last_ > 0 ? heron::Next::More() : heron::Next::Idle(std::chrono::milliseconds(10));
  }

 private:
  int64_t last_;
  int64_t next_ = 0;
  int64_t step_ = 1;
  heron::Output<int64_t> out_;
};

// An operator: a square for each number.
class Squares : public heron::Bolt {
 public:
  void Prepare(heron::BoltContext& context) override { out_ = context.Output<int64_t>("square"); }
  void Execute(const heron::Tuple& in) override { out_.Emit(in.Int64(0) * in.Int64(0)); }

 private:
  heron::Output<int64_t> out_;
};

// The end of the line: what it prints is in its log.
class Sum : public heron::Bolt {
 public:
  void Execute(const heron::Tuple& in) override { sum_ += in.Int64(0); }
  void Finish() override { std::cout << "the sum of the squares is " << sum_ << std::endl; }

 private:
  int64_t sum_ = 0;
};
