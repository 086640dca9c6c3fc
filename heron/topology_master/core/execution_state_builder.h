// Makes the next ExecutionState from the stored one and from what is known now: statuses, grants,
// finished flags, failures, what was lost, the state itself. A pure function: after a failed write
// or a change of master it is simply called again with what was read, so that nothing is counted
// twice and nothing is lost.
//
// Thread: the master's event loop.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/model/task_layout.h"
#include "heron/topology_master/core/incomplete_reasons.h"
#include "heron/topology_master/core/task_board.h"
#include "proto/plan.pb.h"
#include "proto/state.pb.h"

namespace heron::topology_master {

inline constexpr int kMaxStoredFailures = 64;

// Of one container of the plan, or container 0.
struct ContainerView {
  std::string host;
  bool executor_connected = false;
  bool stream_manager_connected = false;
  uint64_t incarnation = 0;  // in the stored physical plan
  int64_t executor_pid = 0;
  // Of the tasks that the executor says it runs; empty while it is not connected.
  std::map<TaskId, int64_t> task_pids;
};

struct ExecutionInputs {
  const proto::ExecutionState* stored = nullptr;  // of this topology id; nullptr: none yet
  std::string topology_id;
  const model::TaskLayout* layout = nullptr;  // nullptr: the plan is unusable, see plan_error
  std::string plan_error;
  const TaskBoard* board = nullptr;
  std::map<ContainerId, ContainerView> containers;
  std::vector<proto::ProcessFailure> failures;  // that are not stored, oldest first
  proto::DesiredState::Desire desire = proto::DesiredState::ACTIVE;
  uint64_t mastership_epoch = 0;
  uint64_t physical_plan_version = 0;
  int task_max_restarts = 3;
  bool tracked = false;  // at-least-once: what is lost on the way comes again
  // This master has been in office long enough for everybody to have called: who is absent now is missing.
  bool settled = false;
  int64_t unix_ms = 0;
};

class ExecutionStateBuilder {
 public:
  explicit ExecutionStateBuilder(const ExecutionInputs& in) : in_(in) {}

  proto::ExecutionState Build();

  // Every task had registered, as the state says: from then on spouts may have emitted.
  static bool AllRegistered(const model::TaskLayout& layout, const proto::ExecutionState& state);

 private:
  using GrantMap = std::map<TaskId, proto::TaskGrant>;

  void Containers();
  void Tasks();
  void Facts();
  void TakeComplaint(const proto::TaskStatus& before, const proto::TaskStatus& now);
  void NoteLosses(const proto::TaskStatus& before, const proto::TaskStatus& now);
  void NoteWorkAfterTheEnd(const proto::TaskStatus& before, const proto::TaskStatus& now);
  void Grants();
  void Failures();
  void TakeFailure(const proto::ProcessFailure& failure);
  uint32_t FailuresInARow(const proto::ProcessFailure& failure) const;
  void Fail(const std::string& reason);
  void State();
  bool AllFinished() const;
  bool IsFinished(TaskId task) const;
  // In this life or before.
  bool HadFinished(TaskId task, Epoch life) const;
  // In this incarnation, or before.
  bool HadUnfinishedTask(ContainerId container, uint64_t incarnation) const;
  std::string WaitingFor() const;
  std::string Missing() const;
  void EnterState(proto::ExecutionState::State state);

  const ExecutionInputs& in_;
  proto::ExecutionState next_;
  IncompleteReasons incomplete_;
  GrantMap grants_;
  bool was_active_ = false;
};

inline bool HasEnded(const proto::ExecutionState& state) {
  return state.state() == proto::ExecutionState::FINISHED ||
         state.state() == proto::ExecutionState::FAILED;
}

// The same failure, told again.
bool SameFailure(const proto::ProcessFailure& a, const proto::ProcessFailure& b);

}  // namespace heron::topology_master
