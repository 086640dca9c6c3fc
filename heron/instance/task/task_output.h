// Where emitted tuples go: the router says to which tasks, they are written into the open batches, closed batches enter
// data-out. Blocks while data-out has no room; a stop lets it go (what is emitted from then on goes nowhere).
//
// Thread: the task's. Lives as long as the component.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heron/api/internal/emitter.h"
#include "heron/api/internal/task_runtime.h"
#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/instance/task/batch_writer.h"
#include "heron/instance/task/clock_budget.h"
#include "heron/instance/task/flush_pacer.h"
#include "heron/instance/task/task_link.h"
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
  };

  // `link` and `clock` must outlive it.
  TaskOutput(Options options, std::unique_ptr<routing::StreamRouter> router, TaskLink* link,
             const Clock* clock);

  // Makes and prepares the custom groupings, and destroys them: user code, which may throw.
  Status PrepareGroupings(const routing::StreamRouter::MakeGrouping& make) {
    return router_->PrepareGroupings(make);
  }
  void DropGroupings() { router_->DropGroupings(); }

  EmitResult Emit(uint32_t stream, std::span<const FieldView> values) override;
  EmitResult EmitTo(uint32_t stream, int32_t task, std::span<const FieldView> values) override;
  void Refused(uint32_t stream, EmitResult why) override;

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
  EmitResult Send(uint32_t stream, std::span<const FieldView> values, Route route);
  EmitResult NotRouted(uint32_t stream, routing::RouteResult result);
  EmitResult TooLarge(uint32_t stream, size_t bytes);
  EmitResult RefusedHere(uint32_t stream, EmitResult why);
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
