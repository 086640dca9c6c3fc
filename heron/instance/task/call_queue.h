// Functions that other threads want run on the task thread: bounded, in order, and never waited for in vain. The rules
// that users see stand in heron/api/task_runner.h.
//
// Lives as long as the last handle of a user, which may be longer than the task. Thread: Post any, the rest the task's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "heron/api/internal/task_runtime.h"
#include "heron/base/wake.h"

namespace heron::instance {

class CallQueue : public heron::internal::CallTarget {
 public:
  // `task_wake`: wakes the task thread.
  CallQueue(size_t max_waiting, std::shared_ptr<Wake> task_wake)
      : max_waiting_(max_waiting), task_wake_(std::move(task_wake)) {}

  bool Post(std::unique_ptr<heron::internal::Call> call, bool wait) override;

  // Cheap enough for every tuple.
  bool waiting() const { return waiting_.load(); }
  // Runs what waits now, not what is added meanwhile, as long as `go_on()`; the rest is dropped. Throws what a
  // function throws. True if any ran.
  template <typename GoOn>
  bool RunWaiting(GoOn go_on);
  // The task thread is the caller's from now on: its own Post does not wait for itself.
  void SetTaskThread();
  // From now on nobody waits for room, since nobody may make it.
  void StopWaiting();
  // Drops what waits and refuses what comes.
  void Close();

 private:
  using Calls = std::deque<std::unique_ptr<heron::internal::Call>>;
  Calls Take();
  bool MayWait() const { return may_wait_ && std::this_thread::get_id() != task_thread_; }

  const size_t max_waiting_;
  const std::shared_ptr<Wake> task_wake_;
  std::atomic<bool> waiting_{false};
  std::mutex mutex_;
  std::condition_variable room_;
  // Guarded by mutex_.
  Calls calls_;
  std::thread::id task_thread_;
  bool may_wait_ = true;
  bool closed_ = false;
};

template <typename GoOn>
bool CallQueue::RunWaiting(GoOn go_on) {
  if (!waiting()) return false;
  Calls calls = Take();
  for (auto& call : calls) {
    if (!go_on()) break;
    call->Run();
    call.reset();
  }
  return true;
}

}  // namespace heron::instance
