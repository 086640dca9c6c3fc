// One event loop = one thread. Everything in heron/net belongs to the loop it was made with and is
// used in its thread only, except where a method says "any thread".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heron/base/clock.h"

namespace heron::net {

using TimerId = uint64_t;  // 0 is never a timer

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until Stop(). The calling thread becomes the loop's thread.
  void Run();
  // Any thread. Run() returns after the handler that runs now.
  void Stop();
  // Any thread. Runs `fn` in the loop's thread, in order of posting.
  void Post(std::function<void()> fn);

  // One-shot and periodic timers. A periodic timer that was late does not fire twice to catch up.
  TimerId RunAfter(Duration delay, std::function<void()> fn);
  TimerId RunEvery(Duration period, std::function<void()> fn);
  // Afterwards `fn` is not called any more. Unknown ids and 0 are ignored.
  void CancelTimer(TimerId id);

  // Calls `fn` whenever `fd` is readable until the watch is destroyed; `fn` must read the fd
  // (level-triggered). The fd stays the caller's and must outlive the watch.
  class FdWatch {
   public:
    virtual ~FdWatch() = default;
  };
  std::unique_ptr<FdWatch> WatchReadable(int fd, std::function<void()> fn);

  // Delivers `signo` in the loop's thread. At most one handler per signal and process.
  void HandleSignal(int signo, std::function<void()> fn);

  // True in the thread that runs Run(), and everywhere while nobody does (construction, tests).
  bool InLoopThread() const;
  const Clock& clock() const;

  // For heron/net only.
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace heron::net
