// What an instance decides: the life of its task from registration to the end of the stream, as
// heron/docs/life_of_a_topology.md says ("End of stream"). Knows no sockets, threads or clocks; the gateway feeds it
// events and carries out its Effects.
//
//   REGISTERED --opened--> RUNNING --all inputs ended and executed--> FINISH_REQUESTED --grant--> FINISHING --> FINISHED
//
// A spout goes from RUNNING to FINISHING on its own. A task whose grant says `finished` starts in FINISHING and runs no
// user code. A grant of an earlier life means that Finish ran then: it is not run again, and the loss is reported.
//
// Everything that it is told is state and may be repeated; bytes of peers never fail a CHECK here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/ids.h"
#include "heron/instance/core/channel_tracker.h"
#include "heron/instance/core/end_announcer.h"
#include "heron/instance/core/end_of_stream.h"
#include "heron/model/tuple_batch.h"
#include "proto/plan.pb.h"
#include "proto/state.pb.h"
#include "proto/stream.pb.h"

namespace heron::instance {

// Why tuples of this task went nowhere.
enum class DropReason {
  kTooLarge,       // emitted beyond topology.tuple.max.bytes
  kRefused,        // emitted with the wrong number or types of fields, or to a task that is no destination
  kStray,          // received, but not for this task or from no upstream task
  kTooOld,         // received from a life of the source that is long gone
  kTaskFinished,   // received after Finish had run or the task had ended
  kDamaged,        // received, but not readable
};
inline constexpr size_t kDropReasons = 6;
std::string_view DropReasonName(DropReason reason);  // "too_large"

// What the task thread counts; snapshots of it travel to the gateway.
struct TaskCounters {
  uint64_t emitted = 0;
  uint64_t executed = 0;
  std::array<uint64_t, kDropReasons> dropped{};
  uint64_t acked = 0;      // of a spout: tuples with a message id, and what became of them
  uint64_t failed = 0;
  uint64_t timed_out = 0;  // of those that failed
  uint64_t pending = 0;
  uint64_t held = 0;       // of a bolt: tuples that it holds and has not settled
  double progress = -1;  // of a bounded spout, 0 to 1; negative: not known

  friend bool operator==(const TaskCounters&, const TaskCounters&) = default;
};

struct TaskSetup {
  TaskId task = 0;
  Epoch epoch;
  bool spout = false;
};

class InstanceCore {
 public:
  class Effects {
   public:
    virtual ~Effects() = default;
    // The plan is there: run Open or Prepare. At most once; answered by OnOpened.
    virtual void StartTask() = 0;
    virtual void SetActive(bool active) = 0;
    // Answered by OnDrained(ticket) when every batch delivered before was executed.
    virtual void AskDrained(uint64_t ticket) = 0;
    // Run Finish (at most once), then as EndOutput.
    virtual void RunFinish() = 0;
    // Flush; a spout is not asked for more. Answered by OnOutputEnded behind the last batch.
    virtual void EndOutput() = 0;
    virtual void SendEnded(TaskId destination, uint64_t last_number) = 0;
    virtual void SendConfirmed(TaskId source, Epoch source_epoch) = 0;
    // Something that people or the master wait for: report soon.
    virtual void ReportChanged() = 0;
  };

  // `effects` must outlive it.
  InstanceCore(TaskSetup setup, Effects* effects);

  // From the stream manager.
  struct Routes {
    std::vector<TaskId> upstream;
    std::vector<TaskId> downstream;
  };
  void OnPlan(const Routes& routes, bool active, const proto::TaskGrant& grant, MonotonicTime now);
  void OnTaskStates(const proto::TaskStates& states, MonotonicTime now);
  // True: deliver it to the task. Counted otherwise.
  bool OnBatch(const model::BatchHeader& header);
  void OnDamagedFrame() { ++damaged_frames_; }
  void OnEnded(const proto::Ended& ended, MonotonicTime now);
  void OnConfirmed(const proto::EndedConfirmed& confirmed, MonotonicTime now);
  void OnSessionUp(MonotonicTime now);
  void OnSessionDown();

  // From the task thread.
  void OnOpened(MonotonicTime now);
  void OnDrained(uint64_t ticket, MonotonicTime now);
  // `last_numbers` by destination task.
  void OnOutputEnded(const std::map<TaskId, uint64_t>& last_numbers, MonotonicTime now);
  void OnCounters(const TaskCounters& counters) { counters_ = counters; }

  void Tick(MonotonicTime now);

  bool has_plan() const { return has_plan_; }
  proto::TaskStatus::Phase phase() const { return phase_; }
  proto::TaskStatus Status() const;
  uint64_t repeated_batches() const { return repeated_batches_; }
  uint64_t damaged_frames() const { return damaged_frames_; }

 private:
  void MergeGrant(const proto::TaskGrant& grant);
  void Advance(MonotonicTime now);
  void AdvanceBolt();
  void BeginFinishing();
  void SetPhase(proto::TaskStatus::Phase phase);
  void Announce(MonotonicTime now);
  bool ExecutedAll();
  uint64_t WaitingTuples() const;
  void Drop(DropReason reason, uint64_t tuples) { dropped_[static_cast<size_t>(reason)] += tuples; }

  const TaskSetup setup_;
  Effects* const effects_;

  proto::TaskStatus::Phase phase_ = proto::TaskStatus::REGISTERED;
  bool has_plan_ = false;
  bool session_up_ = false;
  bool active_ = false;
  bool started_ = false;
  bool opened_ = false;
  bool end_asked_ = false;  // of a spout that is finished already
  bool finish_lost_ = false;

  bool has_grant_ = false;
  Epoch granted_;
  bool finished_elsewhere_ = false;  // stored before this task finished in this life

  ChannelTracker channels_;
  EndOfStream inputs_;
  EndAnnouncer announcer_;
  uint64_t delivered_ = 0;         // batches
  uint64_t delivered_tuples_ = 0;
  bool drain_asked_ = false;
  uint64_t drain_ticket_ = 0;  // what was delivered when it was asked for
  bool drained_ = false;       // up to drain_ticket_

  TaskCounters counters_;
  std::array<uint64_t, kDropReasons> dropped_{};  // by the gateway
  uint64_t repeated_batches_ = 0;
  uint64_t damaged_frames_ = 0;
};

}  // namespace heron::instance
