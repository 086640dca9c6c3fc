#include "heron/instance/task/call_queue.h"

#include <utility>

namespace heron::instance {

bool CallQueue::Post(std::unique_ptr<heron::internal::Call> call, bool wait) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (wait) {
      room_.wait(lock, [this] { return closed_ || calls_.size() < max_waiting_ || !MayWait(); });
    }
    if (closed_ || calls_.size() >= max_waiting_) return false;
    calls_.push_back(std::move(call));
    waiting_.store(true);
  }
  task_wake_->Notify();
  return true;
}

CallQueue::Calls CallQueue::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  waiting_.store(false);
  room_.notify_all();
  return std::exchange(calls_, {});
}

void CallQueue::SetTaskThread() {
  std::lock_guard<std::mutex> lock(mutex_);
  task_thread_ = std::this_thread::get_id();
}

void CallQueue::StopWaiting() {
  std::lock_guard<std::mutex> lock(mutex_);
  may_wait_ = false;
  room_.notify_all();
}

void CallQueue::Close() {
  Calls dropped;  // destroyed without the lock: user code
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  waiting_.store(false);
  room_.notify_all();
  dropped.swap(calls_);
}

}  // namespace heron::instance
