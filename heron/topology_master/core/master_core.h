// The brain of the topology master, free of I/O: it takes events and answers with Effects.
//
// It changes something only while it holds the lease and has read everything since it got it; each
// change is a conditional write, and nobody is told of a change before its write succeeded. Without
// the lease it only repeats what it had said. The next plan and the next state are always made from
// what is stored plus the latest reports (Incarnations::Issue, ExecutionStateBuilder): a write that
// lost or whose fate is unknown costs nothing but reading again.
//
// Thread: the master's event loop. Time comes with each event.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/base/status.h"
#include "heron/topology_master/core/effects.h"
#include "heron/topology_master/core/execution_state_builder.h"
#include "heron/topology_master/core/executors.h"
#include "heron/topology_master/core/incarnations.h"
#include "heron/topology_master/core/stored_nodes.h"
#include "heron/topology_master/core/stream_managers.h"
#include "heron/topology_master/core/task_board.h"
#include "heron/topology_master/core/topology_record.h"

namespace heron::topology_master {

class MasterCore {
 public:
  struct Options {
    std::string topology_id;
    Duration heartbeat_interval = std::chrono::milliseconds(500);
  };
  // Least time between two writes of a node, and between two rounds of messages on account of
  // changes.
  static constexpr Duration kUrgentPause = std::chrono::milliseconds(20);
  // The same for changes that only people wait for.
  static constexpr Duration kShownPause = std::chrono::milliseconds(250);
  static constexpr Duration kCountersPause = std::chrono::seconds(1);
  static constexpr Duration kDesiredPollInterval = std::chrono::seconds(2);
  // How long the executor of container 0 waits for the others before it is told to stop.
  static constexpr Duration kStopGrace = std::chrono::seconds(2);

  // `effects` must outlive it.
  MasterCore(Options options, Effects* effects);

  void OnLeaseGained(Moment m, uint64_t epoch);
  void OnLeaseLost(Moment m);
  void OnRead(Moment m, uint64_t request, Result<StoredValue> result);  // kNotFound: no node
  void OnWritten(Moment m, uint64_t request, const Result<int64_t>& result);
  void OnDesiredChanged(Moment m);  // a hint: /desired is read again

  void OnExecutorUp(Moment m, SessionId id, ContainerId container);
  void OnExecutorReport(Moment m, SessionId id, proto::ExecutorReport report);
  void OnExecutorDown(Moment m, SessionId id);
  void OnStreamManagerUp(Moment m, SessionId id, ContainerId container);
  void OnStreamManagerReport(Moment m, SessionId id, proto::StreamManagerReport report);
  void OnStreamManagerDown(Moment m, SessionId id);

  // From taking office until then nobody is called missing: they need time to find this master.
  static constexpr Duration kSettleTime = std::chrono::seconds(3);

  // Every 20 ms or so.
  void OnTick(Moment m);

  // It holds the lease and knows what is stored.
  bool acting() const { return lease_epoch_ != 0 && nodes_.complete() && record_.has_value(); }
  bool exited() const { return exited_; }
  // As far as it knows; STATE_UNSPECIFIED before it read one.
  proto::ExecutionState::State state() const;

 private:
  void Exit(int code, const std::string& why);
  void AdoptStored(Moment m);
  void ReadDesired(Moment m);
  void OnDesiredRead(Moment m, const Result<StoredValue>& result);
  void TakeExecutorReport(Moment m, const ExecutorSession& session);
  void TakeStreamManagerReport(Moment m, const StreamManagerSession& session);
  void NoteEnd(Moment m);
  bool Ended() const;

  void Flush(Moment m);
  void WritePlan(Moment m);
  void WriteState(Moment m);
  void StateDue(Moment m, Duration pause);
  std::map<ContainerId, ContainerView> ContainerViews() const;
  void UsePlan();
  void UseState();

  void SendViews(Moment m);
  proto::ContainerPlan PlanFor(Moment m, const ExecutorSession& session) const;
  proto::MasterUpdate UpdateFor(ContainerId container) const;
  void AddGrants(ContainerId container,
                 google::protobuf::RepeatedPtrField<proto::TaskGrant>* out) const;
  bool OthersHaveStopped(Moment m) const;

  const Options options_;
  Effects* const effects_;
  StoredNodes nodes_;
  Incarnations incarnations_;
  Executors executors_;
  StreamManagers stream_managers_;
  TaskBoard board_;

  bool exited_ = false;
  uint64_t lease_epoch_ = 0;  // 0: not held

  // As stored, and the epoch under which it was read. Stays when the lease is lost.
  std::optional<TopologyRecord> record_;
  uint64_t record_epoch_ = 0;
  MonotonicTime office_since_{};
  bool settled_ = false;
  proto::DesiredState::Desire desire_ = proto::DesiredState::DESIRE_UNSPECIFIED;
  std::map<ContainerId, int> plan_index_;  // in record_->plan.containers
  bool all_registered_ = false;  // by the stored state
  std::map<TaskId, proto::TaskGrant> grants_;  // by the stored state

  // Under way to the store.
  proto::PhysicalPlan pending_plan_;
  std::vector<ExecutorClaim> pending_claims_;
  proto::ExecutionState pending_state_;
  std::vector<Executors::FailureMark> pending_marks_;

  std::optional<MonotonicTime> state_due_;
  MonotonicTime state_written_at_{};
  MonotonicTime plan_written_at_{};
  bool views_changed_ = false;
  MonotonicTime views_sent_at_{};
  uint64_t desired_request_ = 0;
  MonotonicTime desired_due_{};

  std::optional<MonotonicTime> ended_at_;  // since when this process knows it
  std::set<ContainerId> stopped_;          // told to stop by this process, and gone since
};

}  // namespace heron::topology_master
