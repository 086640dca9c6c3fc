// Where emitted tuples go: the router says to which tasks, they are written into the open batches, closed batches enter
// data-out. Blocks while data-out has no room; a stop lets it go (what is emitted from then on goes nowhere).
//
// Thread: the task's. Lives as long as the component.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heron/api/internal/emitter.h"
#include "heron/api/internal/task_runtime.h"
#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/instance/task/batch_writer.h"
#include "heron/instance/task/clock_budget.h"
#include "heron/instance/task/flush_pacer.h"
#include "heron/instance/task/task_link.h"
#include "heron/instance/task/tuple_trees.h"
#include "heron/routing/router.h"

namespace heron::instance {

class TaskOutput : public heron::internal::Emitter, private BatchWriter::Sink {
 public:
  static constexpr Duration kSnapshotEvery = std::chrono::milliseconds(100);

  struct Options {
    BatchWriter::Options batches;
    size_t tuple_max_bytes = 8u << 20;
    Duration batch_max_age = std::chrono::milliseconds(1);
    std::string component;
    std::vector<std::string> streams;  // names, in declared order
    Duration message_timeout = std::chrono::seconds(30);  // with batches.anchored
  };

  // `link` and `clock` must outlive it.
  TaskOutput(Options options, std::unique_ptr<routing::StreamRouter> router, TaskLink* link,
             const Clock* clock);

  // From now on emits of other threads are refused. Before, nobody may emit but the caller.
  void BindToThisThread() { thread_ = std::this_thread::get_id(); }

  // Makes and prepares the custom groupings, and destroys them: user code, which may throw.
  Status PrepareGroupings(const routing::StreamRouter::MakeGrouping& make) {
    return router_->PrepareGroupings(make);
  }
  void DropGroupings() { router_->DropGroupings(); }

  EmitResult Emit(uint32_t stream, std::span<const FieldView> values) override;
  EmitResult EmitTo(uint32_t stream, int32_t task, std::span<const FieldView> values) override;
  EmitResult EmitWith(uint32_t stream, std::span<const FieldView> values,
                      const heron::internal::EmitOptions& options) override;
  void Refused(uint32_t stream, EmitResult why) override;

  // nullptr where tuples are not tracked.
  TupleTrees* trees() const { return trees_.get(); }
  // A bolt's tuple was executed: what it acknowledges leaves soon.
  void AcksAdded();
  // Takes what has come in acks-in. Also happens while an emit waits for room.
  void FoldAcks();
  // Where tuples are not tracked: ids that were emitted, acknowledged at once.
  std::vector<MessageId>& untracked() { return untracked_; }

  // Counts a call into user code; now and then sends what is too old, and a snapshot of the counters.
  void Tick() {
    if (clock_.Tick()) [[unlikely]]
      OnClockRead();
  }
  // With nothing to do: sends what should leave, then sleeps until woken, until `until`, or until `awake` says that
  // there is something to do. Returns at once if that holds already or the task is to stop.
  template <typename Awake>
  void Idle(std::optional<MonotonicTime> until, Awake awake);

  void Flush();
  // Everything emitted so far leaves, then the end of the output.
  void End();
  void SendEvent(TaskEvent::Kind kind, uint64_t ticket = 0);

  TaskCounters& counters() { return counters_; }
  MonotonicTime now() { return clock_.Read(); }
  // Before other work than the last, so that its calls are timed anew.
  void RestartClock() { clock_.Restart(); }
  // The last time that was read: under load some 100 us old.
  MonotonicTime recent() const { return clock_.now(); }

 private:
  void OnBatch(BufferSlice frame) override;
  void Push(TaskOutputItem item, size_t weight);
  // `route` fills targets_.
  template <typename Route>
  EmitResult Send(uint32_t stream, std::span<const FieldView> values, Route route,
                  const heron::internal::EmitOptions& options);
  void WriteTracked(uint32_t stream, std::span<const FieldView> values, size_t bytes);
  EmitResult Impossible(EmitResult why, const heron::internal::EmitOptions& options);
  void FlushAcks();
  bool Unsent() const { return writer_.HasOpen() || (trees_ != nullptr && !trees_->acks().empty()); }
  // Waits until the queue takes the item; folds acks meanwhile. Gives up on a stop.
  template <typename Queue, typename Item>
  void PushWaiting(Queue& queue, Item item, size_t weight);
  EmitResult NotRouted(uint32_t stream, routing::RouteResult result);
  EmitResult TooLarge(uint32_t stream, size_t bytes);
  EmitResult RefusedHere(uint32_t stream, EmitResult why);
  bool OfOtherThread() const {
    return std::this_thread::get_id() != thread_ && thread_ != std::thread::id();
  }
  // Any thread.
  EmitResult RefuseOtherThread();
  void CountOtherThreads();
  void OnClockRead();
  void SendSnapshot();
  // What Idle has to do before it sleeps; the time by which it must be awake again.
  std::optional<MonotonicTime> IdleDuties(MonotonicTime now);
  void SleepUntil(std::optional<MonotonicTime> deadline);
  std::string StreamName(uint32_t stream) const;
  void Count(DropReason reason) { ++counters_.dropped[static_cast<size_t>(reason)]; }

  const Options options_;
  const std::unique_ptr<routing::StreamRouter> router_;
  TaskLink* const link_;
  ClockBudget clock_;
  BatchWriter writer_;
  FlushPacer pacer_;
  TaskCounters counters_;
  TaskCounters sent_counters_;
  MonotonicTime snapshot_at_;
  std::vector<TaskId> targets_;         // of the tuple at hand
  std::vector<int> refusals_logged_;    // by stream
  std::vector<bool> too_large_logged_;  // by stream
  bool unbound_logged_ = false;
  bool untracked_logged_ = false;
  std::unique_ptr<TupleTrees> trees_;
  std::vector<BufferSlice> ack_frames_;  // on their way into acks-out
  std::vector<MessageId> untracked_;
  std::thread::id thread_;
  std::atomic<uint64_t> of_other_threads_{0};  // emits, not yet counted
  std::atomic<bool> other_thread_logged_{false};
};

template <typename Awake>
void TaskOutput::Idle(std::optional<MonotonicTime> until, Awake awake) {
  while (!link_->stop() && !awake()) {
    const MonotonicTime now = clock_.Read();
    if (until && now >= *until) return;
    std::optional<MonotonicTime> deadline = IdleDuties(now);
    if (until && (!deadline || *until < *deadline)) deadline = until;
    link_->task_wake->Arm();
    if (!link_->stop() && !awake()) SleepUntil(deadline);
    link_->task_wake->Disarm();
  }
  clock_.Read();
}

}  // namespace heron::instance
