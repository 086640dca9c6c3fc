#include "heron/instance/task/task_output.h"

#include <cstring>
#include <utility>

#include "heron/instance/log.h"
#include "heron/model/ack_batch.h"
#include "heron/model/tuple_codec.h"
#include "heron/net/frame.h"

namespace heron::instance {

using heron::internal::EmitOptions;

namespace {

constexpr int kRefusalsLogged = 3;

std::string_view ReasonOf(EmitResult result) {
  switch (result) {
    case EmitResult::kWrongValues:
      return "the number or types of its values differ from the declaration";
    case EmitResult::kUnknownStream:
      return "there is no such stream";
    case EmitResult::kNotATask:
      return "it is to go to a task that does not read the stream by this grouping";
    case EmitResult::kTooLarge:
      return "it is too large";
    case EmitResult::kTooManyAnchors:
      return "it comes of more than 255 tuples of spouts";
    case EmitResult::kWrongThread:
    case EmitResult::kOk:
      break;
  }
  return "unknown reason";
}

}  // namespace

TaskOutput::TaskOutput(Options options, std::unique_ptr<routing::StreamRouter> router,
                       TaskLink* link, const Clock* clock)
    : options_(std::move(options)),
      router_(std::move(router)),
      link_(link),
      clock_(clock),
      writer_(options_.batches, this),
      pacer_(clock_.now(), options_.batch_max_age),
      snapshot_at_(clock_.now()),
      refusals_logged_(options_.streams.size()),
      too_large_logged_(options_.streams.size()) {
  if (!options_.batches.anchored) return;
  trees_ = std::make_unique<TupleTrees>(
      TupleTrees::Options{.task = options_.batches.task,
                          .epoch = options_.batches.epoch,
                          .timeout = options_.message_timeout},
      &writer_);
}

template <typename Route>
EmitResult TaskOutput::Send(uint32_t stream, std::span<const FieldView> values, Route route,
                            const EmitOptions& options) {
  if (OfOtherThread()) [[unlikely]]
    return RefuseOtherThread();
  if (link_->stop()) [[unlikely]]
    return EmitResult::kOk;
  const size_t bytes = model::EncodedTupleBytes(values);
  if (bytes == 0 || bytes > options_.tuple_max_bytes) [[unlikely]]
    return Impossible(TooLarge(stream, bytes), options);
  targets_.clear();
  const routing::RouteResult routed = route();
  if (routed != routing::RouteResult::kOk) [[unlikely]] {
    const EmitResult result = NotRouted(stream, routed);
    if (result != EmitResult::kOk) return Impossible(result, options);
  }
  if (trees_ == nullptr) {
    for (TaskId task : targets_) {
      model::EncodeTuple(values, writer_.Reserve(stream, task, bytes));
      writer_.Commit();
    }
  } else if (trees_->BeginEmit(options, clock_.now())) {
    WriteTracked(stream, values, bytes);
  } else {
    return Impossible(RefusedHere(stream, EmitResult::kTooManyAnchors), options);
  }
  ++counters_.emitted;
  if (Unsent()) {
    pacer_.OnOpened(clock_.now());
  } else {
    pacer_.OnFlushed();
  }
  Tick();
  return EmitResult::kOk;
}

EmitResult TaskOutput::Emit(uint32_t stream, std::span<const FieldView> values) {
  return Send(stream, values, [&] { return router_->Route(stream, values, targets_); }, EmitOptions());
}

EmitResult TaskOutput::EmitWith(uint32_t stream, std::span<const FieldView> values,
                                const EmitOptions& options) {
  if (trees_ == nullptr && options.id != nullptr) {
    if (!std::exchange(untracked_logged_, true)) {
      Log(LogLevel::kWarning,
          "component '" + options_.component +
              "': emits tuples with message ids, which are acknowledged at once: nothing is tracked "
              "unless topology.reliability.mode is ATLEAST_ONCE");
    }
    untracked_.push_back(*options.id);
  }
  return Send(stream, values, [&] { return router_->Route(stream, values, targets_); }, options);
}

void TaskOutput::WriteTracked(uint32_t stream, std::span<const FieldView> values, size_t bytes) {
  const size_t room = trees_->AnchorRoom();
  for (TaskId task : targets_) {
    char* out = writer_.Reserve(stream, task, room + bytes);
    const size_t anchors = trees_->WriteAnchors(out);
    model::EncodeTuple(values, out + anchors);
    writer_.Commit(anchors + bytes);
  }
  trees_->EndEmit();
}

EmitResult TaskOutput::Impossible(EmitResult why, const EmitOptions& options) {
  if (trees_ != nullptr) trees_->EmitImpossible(options, clock_.now());
  return why;
}

void TaskOutput::AcksAdded() {
  counters_.held = trees_->held();
  if (!Unsent()) return;
  pacer_.OnOpened(clock_.now());
  if (trees_->acks().full()) FlushAcks();
}

void TaskOutput::FlushAcks() {
  trees_->acks().TakeFrames(ack_frames_);
  for (BufferSlice& frame : ack_frames_) {
    const size_t weight = frame.size();
    PushWaiting(link_->acks_out, std::move(frame), weight);
  }
  ack_frames_.clear();
}

void TaskOutput::FoldAcks() {
  if (trees_ == nullptr) return;
  while (std::optional<AckInput> input = link_->acks_in.TryPop()) {
    Result<model::AckView> acks =
        model::DecodeAckBatch(input->frame.view().substr(net::kFrameHeaderBytes));
    if (acks.ok()) trees_->Fold(*acks, clock_.now());
  }
}

EmitResult TaskOutput::EmitTo(uint32_t stream, int32_t task, std::span<const FieldView> values) {
  return Send(stream, values, [&] { return router_->RouteTo(stream, task, targets_); }, EmitOptions());
}

EmitResult TaskOutput::NotRouted(uint32_t stream, routing::RouteResult result) {
  switch (result) {
    case routing::RouteResult::kShortTuple:
      return RefusedHere(stream, EmitResult::kWrongValues);
    case routing::RouteResult::kUnknownStream:
      return RefusedHere(stream, EmitResult::kUnknownStream);
    case routing::RouteResult::kNotATask:
      return RefusedHere(stream, EmitResult::kNotATask);
    case routing::RouteResult::kPartlyRefused:
      // The tuple is good for its other tasks; what was refused is counted by task.
      for (size_t i = 0; i < router_->refused(); ++i) Refused(stream, EmitResult::kNotATask);
      return EmitResult::kOk;
    case routing::RouteResult::kOk:
      break;
  }
  return EmitResult::kOk;
}

EmitResult TaskOutput::TooLarge(uint32_t stream, size_t bytes) {
  Count(DropReason::kTooLarge);
  if (stream < too_large_logged_.size() && !too_large_logged_[stream]) {
    too_large_logged_[stream] = true;
    std::string what = bytes == 0 ? "has too many fields, or lists that are nested too deep"
                                  : "has " + std::to_string(bytes) + " bytes";
    Log(LogLevel::kError,
        "component '" + options_.component + "', stream '" + StreamName(stream) + "': a tuple " +
            what + "; the limit is " + std::to_string(options_.tuple_max_bytes) +
            " bytes. It was dropped, and further ones will be; raise topology.tuple.max.bytes or "
            "emit smaller tuples");
  }
  return EmitResult::kTooLarge;
}

EmitResult TaskOutput::RefusedHere(uint32_t stream, EmitResult why) {
  Refused(stream, why);
  return why;
}

void TaskOutput::Refused(uint32_t stream, EmitResult why) {
  if (why == EmitResult::kOk) return;
  if (OfOtherThread()) {
    RefuseOtherThread();
    return;
  }
  Count(DropReason::kRefused);
  if (stream == heron::internal::kNoStream && !std::exchange(unbound_logged_, true)) {
    Log(LogLevel::kError, "component '" + options_.component +
                              "': emits on an Output that no context made, which goes nowhere; assign it in Open or "
                              "Prepare: out_ = context.Output<...>(...)");
  }
  if (stream >= refusals_logged_.size() || refusals_logged_[stream] >= kRefusalsLogged) return;
  ++refusals_logged_[stream];
  Log(LogLevel::kError, "component '" + options_.component + "', stream '" + StreamName(stream) +
                            "': an emitted tuple was refused: " + std::string(ReasonOf(why)));
}

EmitResult TaskOutput::RefuseOtherThread() {
  of_other_threads_.fetch_add(1);
  if (!other_thread_logged_.exchange(true)) {
    Log(LogLevel::kError,
        "component '" + options_.component +
            "': emits from a thread of its own, which goes nowhere; hand it to the task's thread: "
            "context.RunInTask([this, value] { out_.Emit(value); })");
  }
  link_->task_wake->Notify();
  return EmitResult::kWrongThread;
}

void TaskOutput::CountOtherThreads() {
  if (of_other_threads_.load(std::memory_order_relaxed) == 0) return;
  counters_.dropped[static_cast<size_t>(DropReason::kRefused)] += of_other_threads_.exchange(0);
}

std::string TaskOutput::StreamName(uint32_t stream) const {
  return stream < options_.streams.size() ? options_.streams[stream] : std::to_string(stream);
}

void TaskOutput::OnClockRead() {
  const MonotonicTime now = clock_.now();
  CountOtherThreads();
  if (pacer_.Aged(now)) Flush();
  if (now - snapshot_at_ >= kSnapshotEvery) SendSnapshot();
}

void TaskOutput::SendSnapshot() {
  snapshot_at_ = clock_.now();
  TaskEvent event;
  event.counters = counters_;
  // The next snapshot says the same and more: this one may go if the gateway is behind.
  if (link_->metrics_out.TryPush(event, 1)) sent_counters_ = counters_;
}

std::optional<MonotonicTime> TaskOutput::IdleDuties(MonotonicTime now) {
  CountOtherThreads();
  // Held tuples are settled at any time.
  if (trees_ != nullptr) counters_.held = trees_->held();
  if (Unsent()) pacer_.OnOpened(now);
  if (pacer_.TakeIdleFlush(now)) Flush();
  std::optional<MonotonicTime> deadline = pacer_.NextIdleFlush();
  if (counters_ != sent_counters_) {
    if (now - snapshot_at_ >= kSnapshotEvery) SendSnapshot();
    const MonotonicTime due = snapshot_at_ + kSnapshotEvery;
    if (counters_ != sent_counters_ && (!deadline || due < *deadline)) deadline = due;
  }
  return deadline;
}

void TaskOutput::SleepUntil(std::optional<MonotonicTime> deadline) {
  if (!deadline) {
    link_->task_wake->Wait(Duration(-1));
    return;
  }
  const Duration left = *deadline - clock_.Read();
  if (left > Duration::zero()) link_->task_wake->Wait(left);
}

void TaskOutput::Flush() {
  writer_.CloseAll();
  if (trees_ != nullptr && !trees_->acks().empty()) FlushAcks();
  pacer_.OnFlushed();
}

void TaskOutput::End() {
  CountOtherThreads();
  Flush();
  TaskOutputItem item;
  item.end = std::make_unique<TaskOutputEnd>();
  item.end->last_numbers = writer_.last_numbers();
  item.end->counters = counters_;
  Push(std::move(item), 0);
}

void TaskOutput::OnBatch(BufferSlice frame) {
  const size_t weight = frame.size();
  TaskOutputItem item;
  item.frame = std::move(frame);
  Push(std::move(item), weight);
}

void TaskOutput::Push(TaskOutputItem item, size_t weight) {
  PushWaiting(link_->data_out, std::move(item), weight);
}

template <typename Queue, typename Item>
void TaskOutput::PushWaiting(Queue& queue, Item item, size_t weight) {
  while (!link_->stop()) {
    if (queue.TryPush(item, weight)) return;
    // A spout never waits on itself: its acknowledgements are taken while it waits for room.
    FoldAcks();
    link_->task_wake->Arm();
    const bool pushed = queue.TryPush(item, weight);
    if (!pushed && !link_->stop() && (trees_ == nullptr || link_->acks_in.Empty())) {
      link_->task_wake->Wait(Duration(-1));
    }
    link_->task_wake->Disarm();
    if (pushed) return;
  }
}

void TaskOutput::SendEvent(TaskEvent::Kind kind, uint64_t ticket) {
  TaskEvent event;
  event.kind = kind;
  event.ticket = ticket;
  event.counters = counters_;
  while (!link_->stop()) {
    if (link_->metrics_out.TryPush(event, 1)) {
      sent_counters_ = counters_;
      return;
    }
    link_->task_wake->Arm();
    if (!link_->metrics_out.HasRoom() && !link_->stop()) link_->task_wake->Wait(Duration(-1));
    link_->task_wake->Disarm();
  }
}

}  // namespace heron::instance
