// What an EventLoop is made of. For heron/net only: nobody else sees asio.
#pragma once

#include <asio/basic_waitable_timer.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>

#include "heron/net/event_loop.h"

namespace heron::net {

struct EventLoop::Impl {
  using Executor = asio::io_context::executor_type;
  using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                           asio::wait_traits<std::chrono::steady_clock>, Executor>;
  using SignalSet = asio::basic_signal_set<Executor>;

  struct TimerEntry {
    explicit TimerEntry(asio::io_context& io) : timer(io) {}
    Timer timer;
    Duration period{0};  // 0: one-shot
    std::function<void()> fn;
  };

  Impl() : work(asio::make_work_guard(io)) {}
  ~Impl() {
    // Handlers that die with `io` may still cancel timers: the map is there, and empty.
    timers.clear();
    signals.clear();
  }

  void Arm(TimerId id, const std::shared_ptr<TimerEntry>& entry);
  void ArmSignal(int signo, SignalSet& set, const std::shared_ptr<std::function<void()>>& fn);

  SystemClock clock;
  TimerId next_timer = 1;
  std::unordered_map<TimerId, std::shared_ptr<TimerEntry>> timers;
  std::map<int, std::unique_ptr<SignalSet>> signals;
  std::atomic<std::thread::id> thread{};
  asio::io_context io{1};
  asio::executor_work_guard<Executor> work;
};

}  // namespace heron::net
