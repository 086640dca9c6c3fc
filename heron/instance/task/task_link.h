// What the two threads of an instance share: five bounded queues and a few flags. The gateway (the event loop) and the
// task thread (all user code) touch each other through it and nowhere else.
//
//   data-in      gateway -> task     batches, and commands in their place in the stream
//   data-out     task -> gateway     batches, and the end of the output behind the last of them
//   acks-in      gateway -> task     acknowledgements for the roots of a spout
//   acks-out     task -> gateway     acknowledgements by a bolt; never behind data
//   metrics-out  task -> gateway     what happened, with a snapshot of the counters
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "heron/base/buffer.h"
#include "heron/base/spsc_queue.h"
#include "heron/base/wake.h"
#include "heron/instance/core/instance_core.h"
#include "heron/model/tuple_batch.h"

namespace heron::instance {

struct TaskInput {
  enum class Kind { kNone, kBatch, kDrain, kFinish, kEndOutput };
  Kind kind = Kind::kNone;
  BufferSlice bytes;       // kBatch: keeps what `batch` points into alive
  model::BatchView batch;  // kBatch
  uint64_t ticket = 0;     // kDrain
};

// A frame of type ACK_BATCH for this task's roots.
struct AckInput {
  BufferSlice frame;
};

struct TaskOutputEnd {
  std::map<TaskId, uint64_t> last_numbers;
  TaskCounters counters;
};

struct TaskOutputItem {
  BufferSlice frame;                   // a whole TUPLE_BATCH, or
  std::unique_ptr<TaskOutputEnd> end;  // the end of the output
};

struct TaskEvent {
  enum class Kind { kCounters, kOpened, kDrained };
  Kind kind = Kind::kCounters;
  uint64_t ticket = 0;
  TaskCounters counters;
};

// What user code threw.
struct TaskFailure {
  std::string text;  // "component 'count', task 5, Execute: std::out_of_range: map::at"
  bool unrecoverable = false;
};

// Made before and destroyed after both threads.
class TaskLink {
 public:
  TaskLink()
      : task_wake(std::make_shared<Wake>()),
        data_in({.slots = 1024}, task_wake.get(), &gateway_wake),
        data_out({.slots = 1024}, &gateway_wake, task_wake.get()),
        acks_in({.slots = 1024}, task_wake.get(), &gateway_wake),
        acks_out({.slots = 1024}, &gateway_wake, task_wake.get()),
        metrics_out({.slots = 64, .min_bytes = 1u << 20, .max_bytes = 1u << 20}, &gateway_wake,
                    task_wake.get()) {}

  // Shared with the wakers that users keep.
  const std::shared_ptr<Wake> task_wake;
  Wake gateway_wake;

  SpscQueue<TaskInput> data_in;
  SpscQueue<TaskOutputItem> data_out;
  SpscQueue<AckInput> acks_in;
  SpscQueue<BufferSlice> acks_out;
  SpscQueue<TaskEvent> metrics_out;

  // Gateway.
  void SetActive(bool active) {
    active_.store(active);
    task_wake->Notify();
  }
  // Something on the way of this task's tuples was lost, and is back.
  void NoteLoss() {
    losses_.fetch_add(1);
    task_wake->Notify();
  }
  // The task thread calls Close or Cleanup and returns as soon as user code lets it.
  void RequestStop() {
    stop_.store(true);
    task_wake->Notify();
  }
  // The task thread is about to return; `failure` says why if user code threw.
  bool task_ended() const { return task_ended_.load(); }
  std::optional<TaskFailure> failure() {
    std::lock_guard<std::mutex> lock(mutex_);
    return failure_;
  }

  // What user code threw when it had nothing left to do; empty: nothing.
  std::string complaint() {
    std::lock_guard<std::mutex> lock(mutex_);
    return complaint_;
  }

  // Task thread.
  bool active() const { return active_.load(); }
  bool stop() const { return stop_.load(); }
  uint64_t losses() const { return losses_.load(); }
  // Before the end of the output, so that it travels with FINISHED.
  void SetComplaint(std::string text) {
    std::lock_guard<std::mutex> lock(mutex_);
    complaint_ = std::move(text);
  }
  void SetEnded(std::optional<TaskFailure> failure) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      failure_ = std::move(failure);
    }
    task_ended_.store(true);
    gateway_wake.Notify();
  }

 private:
  std::atomic<bool> active_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> task_ended_{false};
  std::atomic<uint64_t> losses_{0};
  std::mutex mutex_;
  std::optional<TaskFailure> failure_;  // guarded by mutex_
  std::string complaint_;               // guarded by mutex_
};

}  // namespace heron::instance
