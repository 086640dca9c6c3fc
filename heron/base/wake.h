// Wakes one thread that sleeps, and costs nothing but a load while it does not. Made for the two threads of an instance:
// the sleeper waits either in Wait() or in an event loop that watches fd().
//
// How to sleep without missing anything:
//   sleeper                                   the others
//     Arm();                                    change the state (a sequentially consistent store)
//     look at the state once more;              Notify();
//     if there is nothing to do: Wait(), or return to the event loop
//     Disarm();
// Arm() and the load in Notify() are sequentially consistent, so one of the two sides sees the other. A false wake-up
// is possible and harmless.
//
// Thread: Notify() any; the rest the sleeper's.
#pragma once

#include <atomic>

#include "heron/base/clock.h"

namespace heron {

class Wake {
 public:
  Wake();  // CHECKs that the kernel gives it an eventfd
  ~Wake();
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  // Any thread. Makes fd() readable if the sleeper is armed.
  void Notify() {
    if (armed_.load(std::memory_order_seq_cst)) WakeSleeper();
  }

  void Arm() { armed_.store(true, std::memory_order_seq_cst); }
  // Awake again: no wake-ups are wanted; fd() is not readable afterwards (a Notify() on its way may make it so again).
  void Disarm();

  // Blocks until notified or `timeout` has passed (at least one nanosecond is waited for; negative: for ever). Does not
  // disarm. True if notified.
  bool Wait(Duration timeout);

  // Readable after a Notify() of an armed sleeper, until Disarm().
  int fd() const { return fd_; }

 private:
  void WakeSleeper();

  int fd_;
  std::atomic<bool> armed_{false};
};

}  // namespace heron
