#include "heron/topology_master/core/master_core.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "heron/base/exit_codes.h"

namespace heron::topology_master {

using proto::ExecutionState;
using proto::TaskStatus;

namespace {

// Equal for equal messages: the order of map fields is fixed.
std::string StableBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace

MasterCore::MasterCore(Options options, Effects* effects)
    : options_(std::move(options)), effects_(effects), nodes_(effects) {}

ExecutionState::State MasterCore::state() const {
  return record_ && record_->state ? record_->state->state() : ExecutionState::STATE_UNSPECIFIED;
}

bool MasterCore::Ended() const { return record_ && record_->state && HasEnded(*record_->state); }

void MasterCore::Exit(int code, const std::string& why) {
  exited_ = true;
  nodes_.Stop();
  effects_->Exit(code, why);
}

// ---- lease and store ----

void MasterCore::OnLeaseGained(Moment m, uint64_t epoch) {
  if (exited_) return;
  lease_epoch_ = epoch;
  office_since_ = m.now;
  settled_ = false;
  nodes_.ReadAll(m.now);
}

void MasterCore::OnLeaseLost(Moment) {
  if (exited_) return;
  lease_epoch_ = 0;
  nodes_.Stop();
}

void MasterCore::OnRead(Moment m, uint64_t request, Result<StoredValue> result) {
  if (exited_) return;
  if (request != 0 && request == desired_request_) {
    desired_request_ = 0;
    OnDesiredRead(m, result);
    return;
  }
  if (nodes_.OnRead(m.now, request, std::move(result))) AdoptStored(m);
}

void MasterCore::AdoptStored(Moment m) {
  Result<Wish> wish = ParseWish(nodes_.Get(Node::kDesired), options_.topology_id);
  if (!wish.ok()) {
    LOG(ERROR) << wish.status().ToString();
    nodes_.ReadAllLater(m.now);
    return;
  }
  if (wish->kind == Wish::Kind::kNotWanted) {
    Exit(kExitNotWanted, wish->text);
    return;
  }
  if (wish->kind == Wish::Kind::kWait) {
    nodes_.ReadAllLater(m.now);
    return;
  }
  Result<TopologyRecord> record = TopologyRecord::Parse(nodes_, options_.topology_id);
  if (!record.ok()) {
    LOG(ERROR) << "what the state store holds of the topology cannot be used: "
               << record.status().ToString();
    nodes_.ReadAllLater(m.now);
    return;
  }
  if (record->state && record->state->mastership_epoch() > lease_epoch_) {
    LOG(WARNING) << "the master of epoch " << record->state->mastership_epoch()
                 << " has written; this one has epoch " << lease_epoch_ << " and changes nothing";
    nodes_.ReadAllLater(m.now);
    return;
  }
  record_ = std::move(record).value();
  record_epoch_ = lease_epoch_;
  desire_ = wish->desire;
  desired_due_ = m.now + kDesiredPollInterval;
  UsePlan();
  if (record_->layout) {
    board_.Load(*record_->layout, record_->state ? &*record_->state : nullptr);
  }
  UseState();
  NoteEnd(m);
  for (const auto& [id, session] : executors_.sessions()) TakeExecutorReport(m, session);
  for (const auto& [id, session] : stream_managers_.sessions()) TakeStreamManagerReport(m, session);
  views_changed_ = true;
  StateDue(m, kUrgentPause);
  Flush(m);
}

void MasterCore::UsePlan() {
  incarnations_.SetPlan(record_->plan);
  plan_index_.clear();
  for (int i = 0; i < record_->plan.containers_size(); ++i) {
    plan_index_[record_->plan.containers(i).container()] = i;
  }
}

void MasterCore::UseState() {
  grants_.clear();
  if (!record_->state) {
    all_registered_ = false;
    return;
  }
  for (const proto::TaskGrant& grant : record_->state->grants()) grants_[grant.task()] = grant;
  all_registered_ = record_->layout != nullptr &&
                    ExecutionStateBuilder::AllRegistered(*record_->layout, *record_->state);
}

void MasterCore::NoteEnd(Moment m) {
  if (Ended() && !ended_at_) ended_at_ = m.now;
}

void MasterCore::OnWritten(Moment m, uint64_t request, const Result<int64_t>& result) {
  if (exited_) return;
  const std::optional<Node> node = nodes_.OnWritten(m.now, request, result);
  if (!node) return;
  if (*node == Node::kPhysicalPlan) {
    record_->plan = std::move(pending_plan_);
    record_->plan_stored = true;
    UsePlan();
    incarnations_.Displace(pending_claims_);
    pending_claims_.clear();
    // Failures and children of executors that hold their container only now.
    for (const auto& [id, session] : executors_.sessions()) TakeExecutorReport(m, session);
    StateDue(m, kUrgentPause);
  } else if (*node == Node::kExecutionState) {
    record_->state = std::move(pending_state_);
    executors_.MarkStored(pending_marks_);
    pending_marks_.clear();
    UseState();
    NoteEnd(m);
  }
  views_changed_ = true;
  Flush(m);
}

void MasterCore::ReadDesired(Moment m) {
  desired_due_ = m.now + kDesiredPollInterval;
  desired_request_ = nodes_.NewRequest();
  effects_->ReadNode(Node::kDesired, desired_request_);
}

void MasterCore::OnDesiredChanged(Moment m) {
  if (!exited_) ReadDesired(m);
}

void MasterCore::OnDesiredRead(Moment m, const Result<StoredValue>& result) {
  std::optional<StoredValue> value;
  if (result.ok()) {
    value = *result;
  } else if (result.status().code() != StatusCode::kNotFound) {
    return;  // a store that cannot be reached changes nothing
  }
  Result<Wish> wish = ParseWish(value, options_.topology_id);
  if (!wish.ok()) {
    LOG(ERROR) << wish.status().ToString();
    return;
  }
  if (wish->kind == Wish::Kind::kNotWanted) {
    Exit(kExitNotWanted, wish->text);
    return;
  }
  if (wish->kind != Wish::Kind::kRun) return;
  if (acting()) {
    if (desire_ == wish->desire) return;
    desire_ = wish->desire;
    views_changed_ = true;
    StateDue(m, kUrgentPause);
    Flush(m);
  } else if (lease_epoch_ != 0 && !record_) {
    nodes_.ReadAll(m.now);  // it waited for the submit
  }
}

// ---- executors and stream managers ----

void MasterCore::OnExecutorUp(Moment m, SessionId id, ContainerId container) {
  if (exited_) return;
  executors_.Up(id, container);
  Flush(m);
}

void MasterCore::OnExecutorReport(Moment m, SessionId id, proto::ExecutorReport report) {
  if (exited_) return;
  const ExecutorSession* session = executors_.Report(id, std::move(report));
  if (session == nullptr) return;
  if (session->container == 0 &&
      incarnations_.Judge(session->Claim()) == Incarnations::Verdict::kHolder) {
    for (const auto& [other_id, other] : executors_.sessions()) {
      if (other_id < id && other.container == 0 && other.report &&
          other.report->nonce() != session->report->nonce()) {
        incarnations_.Displace({other.Claim()});
        views_changed_ = true;
      }
    }
  }
  TakeExecutorReport(m, *session);
  Flush(m);
}

void MasterCore::TakeExecutorReport(Moment m, const ExecutorSession& session) {
  if (!acting() || !session.report) return;
  if (incarnations_.Judge(session.Claim()) != Incarnations::Verdict::kHolder) return;
  for (const proto::ChildState& child : session.report->children()) {
    if (child.task() != 0) board_.RaiseKnown(child.task(), EpochOf(child.epoch()));
  }
  for (const proto::ProcessFailure& failure : session.report->failures()) {
    if (failure.task() == 0) continue;
    Epoch next = EpochOf(failure.epoch());
    ++next.restart;
    board_.RaiseKnown(failure.task(), next);
  }
  StateDue(m, session.report->failures().empty() ? kShownPause : kUrgentPause);
}

void MasterCore::OnExecutorDown(Moment m, SessionId id) {
  if (exited_) return;
  auto it = executors_.sessions().find(id);
  if (it == executors_.sessions().end()) return;
  if (it->second.stop_sent) stopped_.insert(it->second.container);
  executors_.Down(id);
  views_changed_ = true;
  StateDue(m, kShownPause);
  Flush(m);
}

void MasterCore::OnStreamManagerUp(Moment m, SessionId id, ContainerId container) {
  if (exited_) return;
  stream_managers_.Up(id, container);
  Flush(m);
}

void MasterCore::OnStreamManagerReport(Moment m, SessionId id, proto::StreamManagerReport report) {
  if (exited_) return;
  const StreamManagerSession* session = stream_managers_.Report(id, std::move(report));
  if (session == nullptr) return;
  TakeStreamManagerReport(m, *session);
  Flush(m);
}

void MasterCore::TakeStreamManagerReport(Moment m, const StreamManagerSession& session) {
  if (!acting() || !record_->layout) return;
  bool address_changed = false;
  if (!stream_managers_.Accept(session, incarnations_, &address_changed)) return;
  if (address_changed) {
    views_changed_ = true;
    StateDue(m, kShownPause);
  }
  const bool registered = board_.AllRegistered(), opened = board_.AllOpened();
  for (const TaskStatus& status : session.report->tasks()) {
    const model::TaskInfo* info = record_->layout->Find(status.task());
    if (info == nullptr || info->container != session.container) continue;
    switch (board_.Report(status)) {
      case TaskBoard::Change::kNothing:
        break;
      case TaskBoard::Change::kCounters:
        StateDue(m, kCountersPause);
        break;
      case TaskBoard::Change::kPhase:
        StateDue(m, status.phase() == TaskStatus::FINISH_REQUESTED ||
                            status.phase() == TaskStatus::FINISHED
                        ? kUrgentPause
                        : kShownPause);
        break;
    }
  }
  if (registered != board_.AllRegistered() || opened != board_.AllOpened()) {
    StateDue(m, kUrgentPause);
  }
}

void MasterCore::OnStreamManagerDown(Moment m, SessionId id) {
  if (exited_) return;
  stream_managers_.Down(id);
  if (acting()) StateDue(m, kShownPause);
  Flush(m);
}

void MasterCore::OnTick(Moment m) {
  if (exited_) return;
  nodes_.OnTick(m.now);
  if (m.now >= desired_due_) ReadDesired(m);
  if (acting() && !settled_ && m.now >= office_since_ + kSettleTime) {
    settled_ = true;
    StateDue(m, kShownPause);
  }
  Flush(m);
}

// ---- writes ----

void MasterCore::StateDue(Moment m, Duration pause) {
  const MonotonicTime due = std::max(m.now, state_written_at_ + pause);
  state_due_ = state_due_ ? std::min(*state_due_, due) : due;
}

void MasterCore::Flush(Moment m) {
  if (acting()) {
    WritePlan(m);
    WriteState(m);
  }
  SendViews(m);
}

void MasterCore::WritePlan(Moment m) {
  if (!nodes_.CanWrite(Node::kPhysicalPlan) || Ended() || !record_->layout) return;
  if (m.now < plan_written_at_ + kUrgentPause) return;
  std::vector<ExecutorClaim> claims = executors_.Claims();
  std::erase_if(claims, [this](const ExecutorClaim& claim) {
    return incarnations_.Judge(claim) != Incarnations::Verdict::kCandidate;
  });
  std::optional<proto::PhysicalPlan> next = incarnations_.Issue(record_->plan, claims);
  if (!next && record_->plan_stored) return;
  pending_plan_ = next ? std::move(*next) : record_->plan;
  pending_claims_ = std::move(claims);
  plan_written_at_ = m.now;
  nodes_.Write(Node::kPhysicalPlan, pending_plan_.SerializeAsString());
}

std::map<ContainerId, ContainerView> MasterCore::ContainerViews() const {
  std::map<ContainerId, ContainerView> views;
  views[0];
  for (const auto& [container, index] : plan_index_) {
    views[container].incarnation = incarnations_.IncarnationOf(container);
  }
  if (record_->state) {
    for (const proto::ContainerStatus& status : record_->state->containers()) {
      auto it = views.find(status.container());
      if (it == views.end()) continue;
      it->second.host = status.host();
      it->second.executor_pid = status.executor_pid();
    }
  }
  for (const auto& [id, session] : executors_.sessions()) {
    auto it = views.find(session.container);
    if (it == views.end() || !session.report) continue;
    if (incarnations_.Judge(session.Claim()) != Incarnations::Verdict::kHolder) continue;
    it->second.executor_connected = true;
    it->second.host = session.report->host();
    it->second.executor_pid = session.report->pid();
    for (const proto::ChildState& child : session.report->children()) {
      if (child.task() != 0 && child.running()) it->second.task_pids[child.task()] = child.pid();
    }
  }
  for (const auto& [id, session] : stream_managers_.sessions()) {
    auto it = views.find(session.container);
    if (it != views.end() && stream_managers_.IsCurrent(session, incarnations_)) {
      it->second.stream_manager_connected = true;
    }
  }
  return views;
}

void MasterCore::WriteState(Moment m) {
  if (!state_due_ || m.now < *state_due_ || !nodes_.CanWrite(Node::kExecutionState)) return;
  // While a plan is under way the incarnations of this moment are not yet true; its answer brings
  // us back here.
  if (nodes_.writing(Node::kPhysicalPlan)) return;
  state_due_.reset();

  ExecutionInputs in;
  in.stored = record_->state ? &*record_->state : nullptr;
  in.topology_id = options_.topology_id;
  in.layout = record_->layout.get();
  in.plan_error = record_->plan_error;
  in.board = &board_;
  in.containers = ContainerViews();
  Executors::NewFailures failures = executors_.FailuresToStore(incarnations_, in.stored);
  in.failures = std::move(failures.failures);
  in.desire = desire_;
  in.mastership_epoch = lease_epoch_;
  in.physical_plan_version = record_->plan_stored ? record_->plan.version() : 0;
  in.task_max_restarts = record_->task_max_restarts;
  in.tracked = record_->tracked;
  in.settled = settled_;
  in.unix_ms = m.unix_ms;

  proto::ExecutionState next = ExecutionStateBuilder(in).Build();
  if (record_->state) {
    const int64_t updated = next.updated_unix_ms();
    next.set_updated_unix_ms(record_->state->updated_unix_ms());
    const bool same = StableBytes(next) == StableBytes(*record_->state);
    next.set_updated_unix_ms(updated);
    if (same) {
      if (!failures.marks.empty()) {  // told again what was stored before
        executors_.MarkStored(failures.marks);
        views_changed_ = true;
      }
      return;
    }
  }
  pending_state_ = std::move(next);
  pending_marks_ = std::move(failures.marks);
  state_written_at_ = m.now;
  nodes_.Write(Node::kExecutionState, pending_state_.SerializeAsString());
}

}  // namespace heron::topology_master
