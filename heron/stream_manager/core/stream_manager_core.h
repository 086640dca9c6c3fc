// The stream manager without its sockets: takes events, tells Effects what to do. Life of data: Router. What masters said:
// MasterView. What is known of tasks: TaskBoard, TaskReports. This class decides what is said to whom and when.
//
// Plain object: no threads, no clock. One thread, the owner's; `now` never goes back. The owner calls OnTimer at NextWake()
// or later; it may be called early.
//
// Sessions are named by task (instances) and container (peers): when one was replaced by a newer session, the owner
// reports the newer one as up and never the older one as down.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "heron/base/buffer.h"
#include "heron/base/clock.h"
#include "heron/base/ids.h"
#include "heron/stream_manager/core/counters.h"
#include "heron/stream_manager/core/effects.h"
#include "heron/stream_manager/core/master_view.h"
#include "heron/stream_manager/core/router.h"
#include "heron/stream_manager/core/settings.h"
#include "heron/stream_manager/core/task_board.h"
#include "heron/stream_manager/core/task_reports.h"
#include "proto/stream.pb.h"

namespace heron::stream_manager {

struct CoreIdentity {
  std::string topology_id;
  ContainerId container = 0;
  Epoch epoch;
  std::string host;  // where this stream manager listens
  uint16_t port = 0;
};

class StreamManagerCore {
 public:
  // Reads the settings of the topology; called once, when it becomes known.
  using ReadSettings = std::function<CoreSettings(const proto::SubmittedTopology&)>;

  StreamManagerCore(CoreIdentity identity, CoreSettings settings, ReadSettings read_settings,
                    Effects* effects, MonotonicTime now);

  // Why a caller has no business here, for people. Everybody is admitted while there is no plan; who turns out to be
  // wrong is closed when it comes.
  std::optional<std::string> RefuseInstance(TaskId task) const;
  std::optional<std::string> RefusePeer(ContainerId container) const;  // one that dials this one

  void OnMasterUp(MonotonicTime now);
  void OnMasterDown(MonotonicTime now);
  void OnMasterFrame(uint16_t type, const BufferSlice& frame, MonotonicTime now);

  void OnInstanceUp(TaskId task, Epoch epoch, MonotonicTime now);
  void OnInstanceDown(TaskId task, MonotonicTime now);
  void OnInstanceFrame(TaskId task, proto::Lane lane, uint16_t type, BufferSlice frame,
                       MonotonicTime now);
  void OnInstanceWritable(TaskId task, MonotonicTime now);

  void OnPeerUp(ContainerId container, Epoch epoch, MonotonicTime now);
  void OnPeerDown(ContainerId container, MonotonicTime now);
  void OnPeerFrame(ContainerId container, proto::Lane lane, uint16_t type, BufferSlice frame,
                   MonotonicTime now);
  void OnPeerWritable(ContainerId container, MonotonicTime now);

  void OnTimer(MonotonicTime now);
  MonotonicTime NextWake() const;

  const Counters& counters() const { return counters_; }
  const Router& router() const { return router_; }
  const MasterView& master() const { return master_; }
  const CoreSettings& settings() const { return settings_; }

 private:
  struct Instance {
    Epoch epoch;
    bool topology_sent = false;
    bool plan_due = true;
  };

  void OnMasterUpdate(const proto::MasterUpdate& update, MonotonicTime now);
  void OnPlan(MonotonicTime now);
  void CloseUnwanted(MonotonicTime now);
  void FollowAddresses();
  void ApplyStopped(const proto::TaskStates& states);
  void OnTaskReport(TaskId task, const Instance& instance, const BufferSlice& frame);
  void OnTaskStates(ContainerId container, const BufferSlice& frame);

  // Says what has changed to those who should know; at the end of each event.
  void Flush(MonotonicTime now);
  void SendStatesToPeers();
  void SendStatesToPeer(ContainerId container);
  void SendStatesToInstances(MonotonicTime now);
  void SendDuePlans();
  void SendPlan(TaskId task, Instance& instance);
  void SendReport(MonotonicTime now);

  const CoreIdentity identity_;
  CoreSettings settings_;
  const ReadSettings read_settings_;
  Effects* const effects_;
  Counters counters_;
  MasterView master_;
  Router router_;
  TaskBoard board_;
  TaskReports reports_;
  TaskBoard::IsStopped is_stopped_;

  bool settings_read_ = false;
  bool master_up_ = false;
  std::map<TaskId, Instance> instances_;  // those with a session
  std::map<ContainerId, Epoch> peers_;    // those with a session
  std::set<ContainerId> targets_;         // dialled

  bool states_due_ = false;           // peers should hear of local tasks
  bool instance_states_due_ = false;  // instances should hear of tasks
  bool plans_due_ = false;            // some instance has plan_due
  bool report_due_ = false;
  MonotonicTime next_interval_;
  MonotonicTime last_instance_states_{};
  MonotonicTime last_report_{};
};

}  // namespace heron::stream_manager
