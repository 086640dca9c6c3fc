#include "heron/topology_master/core/execution_state_builder.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "heron/base/exit_codes.h"

namespace heron::topology_master {

using proto::ExecutionState;
using proto::ProcessFailure;
using proto::TaskStatus;

namespace {

constexpr char kInstanceProcess[] = "instance";
constexpr size_t kMaxNamesShown = 5;
constexpr size_t kMaxReasonBytes = 500;  // of each task's last failure

std::string Cause(const ProcessFailure& failure) {
  if (!failure.reason().empty()) return failure.reason();
  if (failure.signal() != 0) return "killed by signal " + std::to_string(failure.signal());
  return "exited with code " + std::to_string(failure.exit_code());
}

// "a, b, c and 4 more".
std::string Join(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < kMaxNamesShown; ++i) {
    if (i > 0) out += ", ";
    out += names[i];
  }
  if (names.size() > kMaxNamesShown) {
    out += " and " + std::to_string(names.size() - kMaxNamesShown) + " more";
  }
  return out;
}

bool AllSpoutsBounded(const proto::Topology& topology) {
  bool any = false;
  for (const proto::Component& component : topology.components()) {
    if (component.kind() != proto::SPOUT) continue;
    any = true;
    if (!component.bounded()) return false;
  }
  return any;
}

bool IsSpout(const model::TaskLayout& layout, TaskId task) {
  const model::TaskInfo* info = layout.Find(task);
  return info != nullptr && layout.topology().components(info->component).kind() == proto::SPOUT;
}

}  // namespace

bool SameFailure(const ProcessFailure& a, const ProcessFailure& b) {
  return a.number() == b.number() && a.container() == b.container() &&
         a.process() == b.process() && a.task() == b.task() && a.at_unix_ms() == b.at_unix_ms() &&
         EpochOf(a.epoch()) == EpochOf(b.epoch());
}

bool ExecutionStateBuilder::AllRegistered(const model::TaskLayout& layout,
                                          const ExecutionState& state) {
  std::set<TaskId> registered;
  for (const TaskStatus& status : state.tasks()) {
    if (HasRegistered(status) && layout.Find(status.task()) != nullptr) {
      registered.insert(status.task());
    }
  }
  return registered.size() == layout.tasks().size();
}

ExecutionState ExecutionStateBuilder::Build() {
  if (in_.stored != nullptr) {
    next_ = *in_.stored;
  } else {
    next_.set_topology_id(in_.topology_id);
    EnterState(ExecutionState::STARTING);
  }
  next_.set_mastership_epoch(in_.mastership_epoch);
  next_.set_physical_plan_version(in_.physical_plan_version);
  next_.set_updated_unix_ms(in_.unix_ms);
  if (HasEnded(next_)) {
    Containers();
    return next_;
  }
  if (in_.layout == nullptr) {
    Fail(in_.plan_error);
    return next_;
  }
  incomplete_ = IncompleteReasons(next_.incomplete());
  for (const proto::TaskGrant& grant : next_.grants()) grants_[grant.task()] = grant;
  was_active_ = in_.stored != nullptr && AllRegistered(*in_.layout, *in_.stored);

  Grants();
  Containers();
  Tasks();
  Failures();
  Facts();
  incomplete_.WriteTo(next_.mutable_incomplete());
  if (!HasEnded(next_)) State();
  return next_;
}

void ExecutionStateBuilder::Containers() {
  std::map<ContainerId, uint64_t> stored;
  for (const proto::ContainerStatus& status : next_.containers()) {
    stored[status.container()] = status.incarnation();
  }
  const bool ended = HasEnded(next_);
  next_.clear_containers();
  for (const auto& [container, view] : in_.containers) {
    proto::ContainerStatus* status = next_.add_containers();
    status->set_container(container);
    status->set_host(view.host);
    status->set_executor_connected(view.executor_connected);
    status->set_stream_manager_connected(view.stream_manager_connected);
    status->set_incarnation(view.incarnation);
    status->set_executor_pid(view.executor_pid);
    // A new incarnation that this state does not know yet: its executor died, and everything in it.
    // Before the first one nothing ran.
    const uint64_t before = stored[container];
    if (ended || view.incarnation <= before) continue;
    const uint64_t times = before == 0 ? view.incarnation - 1 : view.incarnation - before;
    if (times == 0) continue;
    next_.set_restarts(next_.restarts() + times);
    if (was_active_ && HadUnfinishedTask(container, view.incarnation - 1)) {
      incomplete_.Happened("container " + std::to_string(container) + " was restarted",
                           "its executor died",
                           "what its stream manager and tasks held in memory was lost, and its "
                           "spouts read their input again",
                           times);
    }
  }
}

void ExecutionStateBuilder::Tasks() {
  std::unordered_map<TaskId, const TaskStatus*> before;
  if (in_.stored != nullptr) {
    for (const TaskStatus& status : in_.stored->tasks()) before[status.task()] = &status;
  }
  static const TaskStatus kNone;
  next_.mutable_tasks()->Clear();
  next_.mutable_tasks()->Reserve(static_cast<int>(in_.layout->tasks().size()));
  for (const model::TaskInfo& info : in_.layout->tasks()) {
    const TaskRecord* record = in_.board->Find(info.task);
    TaskStatus* status = next_.add_tasks();
    if (record != nullptr) *status = record->status;
    status->set_task(info.task);
    auto it = before.find(info.task);
    NoteLosses(it == before.end() ? kNone : *it->second, *status);
    TakeComplaint(it == before.end() ? kNone : *it->second, *status);
    auto view = in_.containers.find(info.container);
    // Its executor has died meanwhile.
    if (HasRegistered(*status) && view != in_.containers.end() &&
        status->epoch().incarnation() < view->second.incarnation) {
      status->set_phase(TaskStatus::DOWN);
    }
    if (in_.settled && HasRegistered(*status) && view != in_.containers.end() &&
        !view->second.stream_manager_connected) {
      status->set_phase(TaskStatus::DOWN);
    }
  }
}

void ExecutionStateBuilder::Facts() {
  std::unordered_map<TaskId, const TaskStatus*> status_before;
  std::unordered_map<TaskId, proto::TaskFacts> facts;
  if (in_.stored != nullptr) {
    for (const TaskStatus& status : in_.stored->tasks()) status_before[status.task()] = &status;
    for (const proto::TaskFacts& fact : in_.stored->facts()) facts[fact.task()] = fact;
  }
  for (const ProcessFailure& failure : in_.failures) {
    if (failure.process() != kInstanceProcess) continue;
    proto::TaskFacts& fact = facts[failure.task()];
    fact.set_failures(fact.failures() + 1);
    fact.set_failures_in_a_row(
        failure.had_progress()
            ? 1
            : std::max(fact.failures_in_a_row() + 1, failure.failures_in_a_row()));
    *fact.mutable_last_failure() = failure;
    if (failure.reason().size() > kMaxReasonBytes) {
      // The whole text is in `failures`; a character must not be cut.
      size_t end = kMaxReasonBytes;
      while (end > 0 && (static_cast<unsigned char>(failure.reason()[end]) & 0xC0) == 0x80) --end;
      fact.mutable_last_failure()->set_reason(failure.reason().substr(0, end) + "...");
    }
  }
  next_.clear_facts();
  for (const TaskStatus& status : next_.tasks()) {
    proto::TaskFacts fact = facts[status.task()];
    fact.set_task(status.task());
    auto it = status_before.find(status.task());
    const TaskStatus* before = it == status_before.end() ? nullptr : it->second;
    const bool same_life = before != nullptr && EpochOf(before->epoch()) == EpochOf(status.epoch());
    if (!same_life || before->phase() != status.phase() || fact.phase_since_unix_ms() == 0) {
      fact.set_phase_since_unix_ms(in_.unix_ms);
    }
    if (!same_life || before->emitted() != status.emitted() ||
        before->executed() != status.executed() || fact.counted_since_unix_ms() == 0) {
      fact.set_counted_since_unix_ms(in_.unix_ms);
    }
    // It has got on in the life after its last failure.
    if (status.emitted() + status.executed() > 0 &&
        EpochOf(fact.last_failure().epoch()) < EpochOf(status.epoch())) {
      fact.set_failures_in_a_row(0);
    }
    fact.clear_pid();
    const model::TaskInfo* info = in_.layout->Find(status.task());
    auto view = in_.containers.find(info->container);
    if (view != in_.containers.end()) {
      auto pid = view->second.task_pids.find(status.task());
      if (pid != view->second.task_pids.end()) fact.set_pid(pid->second);
    }
    *next_.add_facts() = std::move(fact);
  }
}

void ExecutionStateBuilder::NoteLosses(const TaskStatus& before, const TaskStatus& now) {
  NoteWorkAfterTheEnd(before, now);
  if (now.lost_batches() == 0 && now.dropped_tuples() == 0 && !now.finish_lost()) return;
  const bool same_life = EpochOf(before.epoch()) == EpochOf(now.epoch());
  const std::string task = TaskAndPlace(*in_.layout, now.task());
  const std::string life = task + ", life " + EpochOf(now.epoch()).ToString();
  if (now.lost_batches() > 0 && !in_.tracked) {
    incomplete_.Note(life + ", lost batches",
                     std::to_string(now.lost_batches()) + " on the way to it",
                     !same_life || before.lost_batches() == 0);
  }
  if (now.dropped_tuples() > 0) {
    std::vector<std::string> reasons;
    std::map<std::string, uint64_t> sorted(now.drop_reasons().begin(), now.drop_reasons().end());
    for (const auto& [reason, count] : sorted) {
      reasons.push_back(std::to_string(count) + " " + reason);
    }
    std::string text = std::to_string(now.dropped_tuples());
    if (!reasons.empty()) text += " (" + Join(reasons) + ")";
    incomplete_.Note(life + ", dropped tuples", text, !same_life || before.dropped_tuples() == 0);
  }
  if (now.finish_lost()) {
    incomplete_.Note(task + ", Finish", "the task died while it ran; it is not run again",
                     !before.finish_lost());
  }
}

// Shown among the failures; nothing has been lost or restarted.
void ExecutionStateBuilder::TakeComplaint(const TaskStatus& before, const TaskStatus& now) {
  if (now.complaint().empty()) return;
  if (EpochOf(before.epoch()) == EpochOf(now.epoch()) && !before.complaint().empty()) return;
  const model::TaskInfo* info = in_.layout->Find(now.task());
  ProcessFailure& failure = *next_.add_failures();
  failure.set_process(kInstanceProcess);
  failure.set_container(info->container);
  failure.set_component(in_.layout->topology().components(info->component).name());
  failure.set_task(now.task());
  *failure.mutable_epoch() = now.epoch();
  failure.set_reason(now.complaint() + "; its output is complete all the same");
  failure.set_at_unix_ms(in_.unix_ms);
  failure.set_had_progress(true);
  failure.set_survived(true);
}

// A life after the one that finished runs no user code, once it has been told; until then it may have
// done work a second time.
void ExecutionStateBuilder::NoteWorkAfterTheEnd(const TaskStatus& before, const TaskStatus& now) {
  auto it = grants_.find(now.task());
  if (it == grants_.end() || !it->second.finished() ||
      EpochOf(now.epoch()) <= EpochOf(it->second.finished_epoch()) ||
      now.emitted() + now.executed() == 0) {
    return;
  }
  const bool same_life = EpochOf(before.epoch()) == EpochOf(now.epoch());
  incomplete_.Note(TaskAndPlace(*in_.layout, now.task()) + ", life " +
                       EpochOf(now.epoch()).ToString() + ", after it had finished",
                   "restarted, it emitted " + std::to_string(now.emitted()) + " and executed " +
                       std::to_string(now.executed()) + " tuples again",
                   !same_life || before.emitted() + before.executed() == 0);
}

void ExecutionStateBuilder::Grants() {
  for (const auto& [task, record] : in_.board->records()) {
    if (!record.fresh) continue;
    const TaskStatus::Phase phase = record.status.phase();
    // Only the life that exists now may run Finish. That a life had finished stays true when it has
    // died since.
    const bool requested = phase == TaskStatus::FINISH_REQUESTED && record.current();
    const bool finished = phase == TaskStatus::FINISHED;
    if (!requested && !finished) continue;
    // A deactivated topology does not end: what is asked for is granted when it is activated.
    if (requested && in_.desire == proto::DesiredState::INACTIVE) continue;
    const bool spout = IsSpout(*in_.layout, task);
    if (requested && spout) continue;
    proto::TaskGrant& grant = grants_[task];
    grant.set_task(task);
    // A bolt without a grant that is finished: the store was set back. The life that ran Finish is
    // put on record.
    if (!spout && !grant.has_finish_grant()) {
      SetEpoch(record.epoch(), grant.mutable_finish_granted());
      grant.set_has_finish_grant(true);
    }
    if (finished && !grant.finished()) {
      grant.set_finished(true);
      SetEpoch(record.epoch(), grant.mutable_finished_epoch());
    }
  }
  next_.clear_grants();
  for (const auto& [task, grant] : grants_) *next_.add_grants() = grant;
}

bool ExecutionStateBuilder::IsFinished(TaskId task) const {
  auto it = grants_.find(task);
  return it != grants_.end() && it->second.finished();
}

// What is told of a life may come late, when a later one has finished already.
bool ExecutionStateBuilder::HadFinished(TaskId task, Epoch life) const {
  auto it = grants_.find(task);
  return it != grants_.end() && it->second.finished() &&
         EpochOf(it->second.finished_epoch()) <= life;
}

bool ExecutionStateBuilder::HadUnfinishedTask(ContainerId container, uint64_t incarnation) const {
  for (const model::TaskInfo& info : in_.layout->tasks()) {
    const Epoch last{.incarnation = incarnation, .restart = UINT64_MAX};
    if (info.container == container && !HadFinished(info.task, last)) return true;
  }
  return false;
}

void ExecutionStateBuilder::Failures() {
  for (const ProcessFailure& failure : in_.failures) TakeFailure(failure);
  if (next_.failures_size() > kMaxStoredFailures) {
    next_.mutable_failures()->DeleteSubrange(0, next_.failures_size() - kMaxStoredFailures);
  }
}

// How often the task died without progress up to and with this failure, over all incarnations.
uint32_t ExecutionStateBuilder::FailuresInARow(const ProcessFailure& failure) const {
  if (failure.had_progress()) return 0;
  uint32_t count = 1;
  const TaskRecord* record = in_.board->Find(failure.task());
  for (int i = next_.failures_size() - 1; i >= 0; --i) {
    const ProcessFailure& earlier = next_.failures(i);
    if (earlier.process() != kInstanceProcess || earlier.task() != failure.task()) continue;
    if (earlier.had_progress()) break;
    if (record != nullptr && EpochOf(earlier.epoch()) <= record->progress) break;
    ++count;
  }
  return std::max(count, failure.failures_in_a_row());
}

void ExecutionStateBuilder::TakeFailure(const ProcessFailure& failure) {
  const bool instance = failure.process() == kInstanceProcess;
  const model::TaskInfo* info = instance ? in_.layout->Find(failure.task()) : nullptr;
  const uint32_t in_a_row = info == nullptr ? 0 : FailuresInARow(failure);
  *next_.add_failures() = failure;
  next_.set_restarts(next_.restarts() + 1);
  if (info == nullptr) return;

  const bool finished = IsFinished(failure.task());
  const std::string where =
      "component \"" + in_.layout->topology().components(info->component).name() + "\" task " +
      std::to_string(info->task) + " (index " + std::to_string(info->component_index) + ")";
  if (failure.exit_code() == kExitDefinitionDiffers) {
    Fail(where + ": " + Cause(failure) +
         "; the program built another topology in the container than at submit");
  } else if (failure.unrecoverable() || failure.exit_code() == kExitUnrecoverable) {
    Fail(where + ": " + Cause(failure) + "; unrecoverable");
  } else if (!finished && in_a_row >= static_cast<uint32_t>(in_.task_max_restarts) &&
             AllSpoutsBounded(in_.layout->topology())) {
    Fail(where + ": " + Cause(failure) + "; died " + std::to_string(in_a_row) +
         " times in a row without progress");
  }
  if (was_active_ && !HadFinished(failure.task(), EpochOf(failure.epoch()))) {
    incomplete_.Happened(TaskAndPlace(*in_.layout, failure.task()) + " was restarted in the middle",
                         Cause(failure),
                         IsSpout(*in_.layout, failure.task()) ? "its input was read again"
                                                              : "tuples in its memory were lost");
  }
}

void ExecutionStateBuilder::Fail(const std::string& reason) {
  if (HasEnded(next_)) return;
  EnterState(ExecutionState::FAILED);
  next_.set_reason(reason);
  next_.clear_waiting_for();
}

void ExecutionStateBuilder::EnterState(ExecutionState::State state) {
  if (next_.state() == state) return;
  next_.set_state(state);
  next_.set_since_unix_ms(in_.unix_ms);
}

bool ExecutionStateBuilder::AllFinished() const {
  for (const model::TaskInfo& info : in_.layout->tasks()) {
    if (!IsFinished(info.task)) return false;
    const TaskRecord* record = in_.board->Find(info.task);
    if (record == nullptr || !record->fresh || !record->current() ||
        record->status.phase() != TaskStatus::FINISHED) {
      return false;
    }
    auto view = in_.containers.find(info.container);
    if (view != in_.containers.end() &&
        record->epoch().incarnation < view->second.incarnation) {
      return false;
    }
  }
  return true;
}

void ExecutionStateBuilder::State() {
  next_.clear_waiting_for();
  const bool inactive = in_.desire == proto::DesiredState::INACTIVE;
  if (AllFinished() && !inactive) {
    EnterState(ExecutionState::FINISHED);
    return;
  }
  if (next_.state() == ExecutionState::STARTING && !in_.board->AllOpened()) {
    next_.set_waiting_for(WaitingFor());
    return;
  }
  EnterState(inactive ? ExecutionState::INACTIVE : ExecutionState::RUNNING);
  if (in_.settled) next_.set_waiting_for(Missing());
}

// What a running topology lacks now; empty when everything is there.
std::string ExecutionStateBuilder::Missing() const {
  std::vector<std::string> missing, down;
  for (const auto& [container, view] : in_.containers) {
    if (container == 0) continue;  // this master is its child
    if (!view.executor_connected) {
      missing.push_back("container " + std::to_string(container) + " has no executor");
    } else if (!view.stream_manager_connected) {
      missing.push_back("container " + std::to_string(container) + " has no stream manager");
    }
  }
  for (const auto& [task, record] : in_.board->records()) {
    const model::TaskInfo* info = in_.layout->Find(task);
    auto view = in_.containers.find(info->container);
    const bool told = view == in_.containers.end() || !view->second.stream_manager_connected;
    if (!told && record.status.phase() == TaskStatus::DOWN) {
      down.push_back(DescribeTask(*in_.layout, task));
    }
  }
  if (!down.empty()) missing.push_back("not connected: " + Join(down));
  return Join(missing);
}

std::string ExecutionStateBuilder::WaitingFor() const {
  size_t containers = 0, connected = 0;
  std::vector<std::string> absent;
  for (const auto& [container, view] : in_.containers) {
    if (container == 0) continue;
    ++containers;
    if (view.executor_connected) {
      ++connected;
    } else {
      absent.push_back("container " + std::to_string(container));
    }
  }
  std::vector<std::string> unregistered, unopened;
  for (const auto& [task, record] : in_.board->records()) {
    if (!HasRegistered(record.status)) {
      unregistered.push_back(DescribeTask(*in_.layout, task));
    } else if (!record.opened) {
      unopened.push_back(DescribeTask(*in_.layout, task));
    }
  }
  std::string text = std::to_string(connected) + " of " + std::to_string(containers) +
                     " containers, " + std::to_string(in_.board->registered()) + " of " +
                     std::to_string(in_.board->records().size()) + " tasks registered";
  if (!absent.empty()) text += "; no executor: " + Join(absent);
  if (!unregistered.empty()) text += "; not registered: " + Join(unregistered);
  if (!unopened.empty()) text += "; Open or Prepare has not returned: " + Join(unopened);
  return text;
}

}  // namespace heron::topology_master
