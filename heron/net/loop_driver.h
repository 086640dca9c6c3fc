// For tests: runs an event loop in the calling thread until something has come true.
#pragma once

#include <functional>

#include "heron/net/event_loop.h"

namespace heron::net {

class LoopDriver {
 public:
  explicit LoopDriver(EventLoop& loop) : loop_(loop) {}

  // True as soon as `done` is; false when it was not within `limit`, which only bounds a failing
  // test.
  bool RunUntil(const std::function<bool()>& done, Duration limit = std::chrono::seconds(30)) {
    bool result = done();
    if (result) return true;
    const TimerId poll = loop_.RunEvery(std::chrono::milliseconds(1), [&] {
      result = done();
      if (result) loop_.Stop();
    });
    const TimerId end = loop_.RunAfter(limit, [this] { loop_.Stop(); });
    loop_.Run();
    loop_.CancelTimer(poll);
    loop_.CancelTimer(end);
    return result || done();
  }

  // Lets the loop work for a time, to see that something does not happen.
  void RunFor(Duration time) {
    loop_.RunAfter(time, [this] { loop_.Stop(); });
    loop_.Run();
  }

 private:
  EventLoop& loop_;
};

}  // namespace heron::net
