// Runs the user's component: factory, Open or Prepare, NextTuple or Execute and Tick, what its own threads want run, Finish,
// Close or Cleanup - all of it on one thread and inside one try block, like the custom groupings of its streams. Whatever user code throws ends
// the thread with a TaskFailure that names component, task and method.
//
// Close and Cleanup are called once: when the output has ended (so that what a sink writes there is complete before the
// task counts as finished), or when the process is told to stop. Finish runs when the gateway says so and never else.
//
// Made, started and joined by the gateway; the rest runs on the task thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heron/api/component.h"
#include "heron/api/internal/progress.h"
#include "heron/api/internal/task_runtime.h"
#include "heron/api/internal/tuple_reader.h"
#include "heron/api/topology_builder.h"
#include "heron/api/topology_info.h"
#include "heron/base/clock.h"
#include "heron/instance/ack/latency_peak.h"
#include "heron/instance/ack/pending_roots.h"
#include "heron/instance/ack/spout_window.h"
#include "heron/instance/task/call_queue.h"
#include "heron/instance/task/task_link.h"
#include "heron/instance/task/task_output.h"
#include "heron/instance/task/tick_schedule.h"
#include "heron/model/task_layout.h"
#include "heron/settings/topology_settings.h"

namespace heron::instance {

class TaskThread : private heron::internal::TaskRuntime {
 public:
  struct Options {
    const TopologyBuilder* builder = nullptr;  // outlives it
    heron::internal::TaskFacts facts;
    std::shared_ptr<const model::TaskLayout> layout;
    Epoch epoch;
    uint64_t routing_version = 0;
    bool spout = false;
    settings::TopologySettings settings;
    heron::routing::StreamRouter::KeyGroups key_groups;
  };

  // InvalidArgument if no router can be made for the topology.
  static Result<std::unique_ptr<TaskThread>> Make(Options options, TaskLink* link,
                                                  const Clock* clock);
  ~TaskThread() override;  // joins: ask for a stop first

  void Start();

 private:
  class SpoutWaker;
  class CallsEnd;

  TaskThread(Options options, std::unique_ptr<routing::StreamRouter> router, TaskLink* link,
             const Clock* clock);

  heron::internal::Emitter& emitter() override { return output_; }
  std::shared_ptr<heron::internal::Held> HoldTuple() override {
    return output_.trees() == nullptr ? nullptr : output_.trees()->Hold();
  }
  void FailTuple() override {
    if (output_.trees() != nullptr) output_.trees()->FailInput();
  }
  const heron::TopologyInfo& topology_info() override;
  void SetProgress(double fraction) override {
    heron::internal::reader_progress = nullptr;
    output_.counters().progress = fraction;
  }
  std::shared_ptr<heron::internal::WakeTarget> wake_target() override;
  std::shared_ptr<heron::internal::CallTarget> call_target() override { return calls_; }

  void Run();
  void PrepareGroupings();
  void RunSpout();
  void SpoutLoop(Spout& spout);
  void AwaitTuple(Spout& spout, std::optional<MonotonicTime> until);
  bool FollowActive(Spout& spout, bool& activated);
  void RunBolt();
  void StartTicks();
  // Between two calls of the component: functions of its own threads. True if any ran.
  bool RunCalls() { return calls_->waiting() && RunWaitingCalls(); }
  bool RunWaitingCalls();
  // The same for a bolt, and its tick if it is due.
  void RunBetween(Bolt& bolt) {
    RunCalls();
    if (ticks_.Due(output_.recent())) [[unlikely]]
      RunTick(bolt);
  }
  void RunTick(Bolt& bolt);
  void BoltLoop(Bolt& bolt);
  void ExecuteBatch(Bolt& bolt, const TaskInput& input);
  void EndBolt(Bolt& bolt, bool finish);
  void CallLast(const char* method, const std::function<void()>& call);
  bool EndWanted();
  // Of a spout: takes acks and timeouts, and tells it what became of its tuples. True if any failed.
  bool Settle(Spout& spout);
  bool SettleUntracked(Spout& spout);
  void NoteLosses();
  bool AcksWait() const { return output_.trees() != nullptr && !link_->acks_in.Empty(); }
  std::optional<MonotonicTime> NextExpiry();
  void AwaitStop();
  TaskFailure Failure(const std::string& what, bool unrecoverable) const;

  const Options options_;
  TaskLink* const link_;
  TaskOutput output_;
  const std::shared_ptr<SpoutWaker> waker_;
  const std::shared_ptr<CallQueue> calls_;
  TickSchedule ticks_;  // of a bolt
  SpoutWindow window_;
  LatencyPeak latency_peak_;
  uint64_t losses_seen_ = 0;
  std::vector<PendingRoots::Outcome> outcomes_;  // being told
  std::vector<MessageId> untracked_;             // being told
  // By component index, then stream; only those that are subscribed to have a reader.
  std::vector<std::vector<heron::internal::TupleOrigin>> origins_;
  heron::internal::TupleReader reader_;
  std::optional<heron::TopologyInfo> topology_info_;  // once somebody has asked
  const char* method_ = "its factory";  // that runs now
  bool damage_logged_ = false;
  std::thread thread_;
};

}  // namespace heron::instance
