#include "heron/instance/gateway.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "heron/api/internal/builder_access.h"
#include "heron/api/internal/task_facts.h"
#include "heron/base/exit_codes.h"
#include "heron/base/random.h"
#include "heron/instance/log.h"
#include "heron/model/ack_batch.h"
#include "heron/model/anchors.h"
#include "heron/model/described.h"
#include "heron/model/tuple_batch.h"
#include "heron/settings/topology_settings.h"

namespace heron::instance {

namespace {

// A tuple of the highest limit and what surrounds it: the stream manager holds the secret, the topology's own limit is
// kept by the emitting side.
constexpr size_t kMaxBodyBytes = 65u << 20;
constexpr int kFramesPerTurn = 256;
// After the kernel took the last words: closing earlier could reset the connection before the executor has read them.
constexpr Duration kLinger = std::chrono::milliseconds(50);

proto::Identity SelfOf(const Gateway::Options& options) {
  return link::MakeIdentity(proto::INSTANCE, options.container, options.task, options.epoch);
}

link::SessionOptions Sessions(const Gateway::Options& options) {
  link::SessionOptions session;
  session.heartbeat_interval = options.settings.heartbeat_interval();
  session.heartbeat_timeout = options.settings.heartbeat_timeout();
  return session;
}

ExecutorLink::Options ExecutorOptions(const Gateway::Options& options) {
  return {.credentials = options.credentials,
          .session = Sessions(options),
          .self = SelfOf(options),
          .host = options.executor_host,
          .port = options.executor_port,
          .component = options.component};
}

bool IsSpout(const Gateway::Options& options) {
  const proto::Topology& topology = heron::internal::BuilderAccess::Definition(*options.builder);
  for (const proto::Component& component : topology.components()) {
    if (component.name() == options.component) return component.kind() == proto::SPOUT;
  }
  return false;
}

}  // namespace

Gateway::Gateway(net::EventLoop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      core_(TaskSetup{options_.task, options_.epoch, IsSpout(options_)}, this),
      executor_(loop, ExecutorOptions(options_), this) {
  link::SessionDialer::Options dial;
  dial.self = SelfOf(options_);
  dial.callee = link::MakeIdentity(proto::STREAM_MANAGER, options_.container, 0, Epoch{});
  dial.credentials = options_.credentials;
  dial.session = Sessions(options_);
  dial.session.connection.max_body_bytes = kMaxBodyBytes;
  dial.lanes = {proto::CONTROL, proto::DATA, proto::ACK};
  dial.on_refused = [this](const proto::Refused& refused) { OnRefused(refused); };
  stream_manager_ = link::SessionDialer::Make(loop_, std::move(dial), this);
  wake_watch_ = loop_.WatchReadable(link_.gateway_wake.fd(), [this] { Pump(); });
  timers_.push_back(
      loop_.RunEvery(options_.settings.heartbeat_interval(), [this] { SendReport(); }));
  timers_.push_back(loop_.RunEvery(kTickEvery, [this] {
    core_.Tick(Now());
    SendReportIfDue();
  }));
  link_.gateway_wake.Arm();
}

Gateway::~Gateway() {
  for (net::TimerId timer : timers_) loop_.CancelTimer(timer);
  link_.RequestStop();
  task_.reset();
}

int Gateway::Run() {
  loop_.Run();
  return exit_code_;
}

// ---- The stream manager's session.

void Gateway::OnStreamManagerAt(uint16_t port, Epoch epoch) {
  if (port == 0) {
    stream_manager_->ClearTarget();
    return;
  }
  stream_manager_->SetTarget(
      options_.executor_host, port,
      link::MakeIdentity(proto::STREAM_MANAGER, options_.container, 0, epoch));
}

void Gateway::OnRefused(const proto::Refused& refused) {
  if (refused.reason() == proto::FENCED) {
    Log(LogLevel::kError, "a newer life of task " + std::to_string(options_.task) +
                              " is running: " + refused.text());
    BeginExit(kExitFenced);
    return;
  }
  // Dialling goes on; the same reason is said once.
  if (last_refusal_ == refused.text()) return;
  last_refusal_ = refused.text();
  Log(LogLevel::kWarning, "refused: " + refused.text());
}

void Gateway::OnSessionUp(link::Session& session) {
  // A batch must not overtake the first plan, which says who sends here; nor enter a queue that is full.
  if (!prepared_ || reading_paused_) session.PauseReading(proto::DATA);
  if (acks_paused_) session.PauseReading(proto::ACK);
  if (losses_.OnSessionUp()) link_.NoteLoss();
  core_.OnSessionUp(Now());
  SendReport();
  Pump();
}

void Gateway::OnSessionDown(link::Session&, const Status& why) {
  Log(LogLevel::kWarning, "lost the stream manager: " + why.ToString());
  core_.OnSessionDown();
}

void Gateway::OnWritable(link::Session&, proto::Lane lane) {
  if (lane == proto::DATA || lane == proto::ACK) Pump();
}

template <typename Message>
bool Gateway::Parse(const net::Frame& frame, Message& message) {
  const Status parsed = net::ParseBody(frame.body(), message);
  if (parsed.ok()) return true;
  core_.OnDamagedFrame();
  if (!std::exchange(damage_logged_, true)) {
    Log(LogLevel::kWarning, "from the stream manager: " + parsed.ToString());
  }
  return false;
}

void Gateway::OnFrame(link::Session&, proto::Lane, net::Frame frame) {
  switch (frame.type) {
    case proto::TUPLE_BATCH:
      OnBatch(std::move(frame));
      break;
    case proto::ENDED: {
      proto::Ended ended;
      if (Parse(frame, ended)) core_.OnEnded(ended, Now());
      break;
    }
    case proto::ENDED_CONFIRMED: {
      proto::EndedConfirmed confirmed;
      if (Parse(frame, confirmed)) core_.OnConfirmed(confirmed, Now());
      break;
    }
    case proto::INSTANCE_PLAN: {
      proto::InstancePlan plan;
      if (Parse(frame, plan)) OnPlan(plan);
      break;
    }
    case proto::TASK_STATES: {
      proto::TaskStates states;
      if (!Parse(frame, states)) break;
      core_.OnTaskStates(states, Now());
      if (losses_.OnTaskStates(states)) link_.NoteLoss();
      break;
    }
    case proto::ACK_BATCH:
      OnAcks(std::move(frame));
      break;
    default:
      core_.OnDamagedFrame();  // of a newer version, perhaps
  }
  SendReportIfDue();
}

void Gateway::OnBatch(net::Frame frame) {
  Result<model::BatchView> batch = model::DecodeBatch(frame.body());
  if (!batch.ok()) {
    core_.OnDamagedFrame();
    if (!std::exchange(damage_logged_, true)) {
      Log(LogLevel::kWarning, "from the stream manager: " + batch.status().ToString());
    }
    return;
  }
  if (!core_.OnBatch(batch->header)) return;
  TaskInput input;
  input.kind = TaskInput::Kind::kBatch;
  input.batch = *batch;
  const size_t weight = frame.bytes.size();
  input.bytes = std::move(frame.bytes);
  PushIn(std::move(input), weight);
}

void Gateway::OnAcks(net::Frame frame) {
  Result<model::AckView> acks = model::DecodeAckBatch(frame.body());
  if (!acks.ok()) {
    core_.OnDamagedFrame();
    return;
  }
  // Of an earlier life, or for somebody else: of no meaning here.
  if (acks->header.destination_task != options_.task ||
      acks->header.life != model::LifeTag(options_.epoch)) {
    return;
  }
  staged_acks_.push_back({std::move(frame.bytes)});
  PumpAcks();
}

// Both ways. What does not fit stays on the lane, and in the end with who acknowledges.
void Gateway::PumpAcks() {
  while (!staged_acks_.empty() &&
         link_.acks_in.TryPush(staged_acks_.front(), staged_acks_.front().frame.size())) {
    staged_acks_.pop_front();
  }
  link::Session* session = stream_manager_->session();
  const bool pause = !staged_acks_.empty();
  if (pause != acks_paused_) {
    acks_paused_ = pause;
    if (session != nullptr && pause) session->PauseReading(proto::ACK);
    if (session != nullptr && !pause) session->ResumeReading(proto::ACK);
  }
  while (MaySendAcks()) {
    std::optional<BufferSlice> frame = link_.acks_out.TryPop();
    if (!frame) break;
    session->SendFrame(proto::ACK, *std::move(frame));
  }
}

void Gateway::OnPlan(const proto::InstancePlan& plan) {
  if (exiting_) return;
  if (!prepared_) {
    if (!plan.has_topology() || !plan.has_plan()) return;
    const Status status = Prepare(plan);
    if (!status.ok()) {
      const bool differs = status.code() == StatusCode::kFailedPrecondition;
      Fail(differs ? kExitDefinitionDiffers : kExitError, status.message(), differs);
      return;
    }
    prepared_ = true;
  }
  core_.OnPlan(routes_, plan.active(), plan.grant(), Now());
  FollowRoom();
  if (!reading_paused_ && stream_manager_->session() != nullptr) {
    stream_manager_->session()->ResumeReading(proto::DATA);
  }
}

Status Gateway::Prepare(const proto::InstancePlan& plan) {
  const proto::SubmittedTopology& submitted = plan.topology();
  const std::string own = model::DescribedSha256(
      heron::internal::BuilderAccess::Definition(*options_.builder));
  if (own != submitted.described_sha256()) {
    return FailedPrecondition(
        "the program builds another topology here than it described at submit (sha256 " +
        ToHex(own) + ", submitted " + ToHex(submitted.described_sha256()) +
        "): what main() builds must depend on the arguments after -- only");
  }
  auto layout = model::TaskLayout::Make(submitted.topology(), plan.plan().containers());
  if (!layout.ok()) return Internal("the plan is wrong: " + layout.status().message());
  const int component = (*layout)->ComponentIndex(options_.component);
  const model::TaskInfo* task = (*layout)->Find(options_.task);
  if (component < 0 || task == nullptr || task->component != component) {
    return Internal("the plan has no task " + std::to_string(options_.task) + " of component '" +
                    options_.component + "'");
  }
  auto settings = settings::ParseTopologySettings(submitted.topology().config());
  if (!settings.ok()) return Internal("configuration: " + settings.status().message());

  const proto::Topology& topology = (*layout)->topology();
  task_options_.builder = options_.builder;
  task_options_.facts = heron::internal::FactsOf(topology, topology.components(component));
  task_options_.facts.topology = submitted.name();
  task_options_.facts.topology_id = submitted.topology_id();
  task_options_.facts.task = options_.task;
  task_options_.facts.index = options_.index;
  task_options_.facts.container = options_.container;
  task_options_.facts.arguments = options_.arguments;
  task_options_.facts.container_folder = options_.container_folder;
  std::error_code error;  // a folder that was deleted has no name
  task_options_.facts.working_folder = std::filesystem::current_path(error).string();
  task_options_.epoch = options_.epoch;
  task_options_.routing_version = plan.plan().version();
  task_options_.spout = topology.components(component).kind() == proto::SPOUT;
  task_options_.settings = *settings;
  task_options_.key_groups = submitted.key_groups();
  for (int upstream : (*layout)->Upstream(component)) {
    for (TaskId id : (*layout)->TasksOf(upstream)) routes_.upstream.push_back(id);
  }
  for (int downstream : (*layout)->Downstream(component)) {
    for (TaskId id : (*layout)->TasksOf(downstream)) routes_.downstream.push_back(id);
  }
  task_options_.layout = *std::move(layout);
  return Status::Ok();
}

// ---- What the core wants.

void Gateway::StartTask() {
  auto task = TaskThread::Make(task_options_, &link_, &loop_.clock());
  if (!task.ok()) {
    Fail(kExitError, "component '" + options_.component + "': " + task.status().message(), false);
    return;
  }
  task_ = std::move(task).value();
  task_->Start();
}

void Gateway::AskDrained(uint64_t ticket) {
  TaskInput input;
  input.kind = TaskInput::Kind::kDrain;
  input.ticket = ticket;
  PushIn(std::move(input), 0);
}

void Gateway::RunFinish() {
  TaskInput input;
  input.kind = TaskInput::Kind::kFinish;
  PushIn(std::move(input), 0);
}

void Gateway::EndOutput() {
  TaskInput input;
  input.kind = TaskInput::Kind::kEndOutput;
  PushIn(std::move(input), 0);
}

void Gateway::SendEnded(TaskId destination, uint64_t last_number) {
  link::Session* session = stream_manager_->session();
  if (session == nullptr) return;
  proto::Ended ended;
  ended.set_source_task(options_.task);
  link::SetEpoch(options_.epoch, ended.mutable_source_epoch());
  ended.set_destination_task(destination);
  ended.set_last_number(last_number);
  ended.set_routing_version(task_options_.routing_version);
  session->Send(proto::DATA, proto::ENDED, ended);
}

void Gateway::SendConfirmed(TaskId source, Epoch source_epoch) {
  link::Session* session = stream_manager_->session();
  if (session == nullptr) return;
  proto::EndedConfirmed confirmed;
  confirmed.set_source_task(source);
  link::SetEpoch(source_epoch, confirmed.mutable_source_epoch());
  confirmed.set_destination_task(options_.task);
  link::SetEpoch(options_.epoch, confirmed.mutable_destination_epoch());
  session->Send(proto::ACK, proto::ENDED_CONFIRMED, confirmed);
}

void Gateway::SendReport() {
  report_due_ = false;
  link::Session* session = stream_manager_->session();
  if (session == nullptr) return;
  proto::TaskReport report;
  *report.mutable_status() = core_.Status();
  report.mutable_status()->set_complaint(link_.complaint());
  session->Send(proto::CONTROL, proto::TASK_REPORT, report);
}

// ---- Queues.

void Gateway::Pump() {
  link_.gateway_wake.Disarm();
  for (;;) {
    if (!PumpOnce()) {
      if (!std::exchange(pump_posted_, true)) {
        loop_.Post([this] {
          pump_posted_ = false;
          Pump();
        });
      }
      break;
    }
    link_.gateway_wake.Arm();
    if (!HasWork()) break;
    link_.gateway_wake.Disarm();
  }
  SendReportIfDue();
}

bool Gateway::MaySend() {
  link::Session* session = stream_manager_->session();
  return session != nullptr && session->QueuedBytes(proto::DATA) < kMaxQueuedBytes;
}

bool Gateway::MaySendAcks() {
  link::Session* session = stream_manager_->session();
  return session != nullptr && session->QueuedBytes(proto::ACK) < kMaxQueuedBytes;
}

bool Gateway::HasWork() {
  return (!staged_acks_.empty() && link_.acks_in.HasRoom()) ||
         (MaySendAcks() && !link_.acks_out.Empty()) ||
         !link_.metrics_out.Empty() || (MaySend() && !link_.data_out.Empty()) ||
         ((!staged_.empty() || reading_paused_) && link_.data_in.HasRoom()) ||
         (link_.task_ended() && !task_end_seen_);
}

bool Gateway::PumpOnce() {
  TakeEvents();
  PumpAcks();
  MoveStaged();
  FollowRoom();
  int frames = 0;
  while (MaySend() && frames++ < kFramesPerTurn) {
    std::optional<TaskOutputItem> item = link_.data_out.TryPop();
    if (!item) break;
    if (item->end != nullptr) {
      core_.OnCounters(item->end->counters);
      core_.OnOutputEnded(item->end->last_numbers, Now());
    } else {
      stream_manager_->session()->SendFrame(proto::DATA, std::move(item->frame));
    }
  }
  OnTaskEnded();
  return frames <= kFramesPerTurn;
}

void Gateway::TakeEvents() {
  while (std::optional<TaskEvent> event = link_.metrics_out.TryPop()) {
    core_.OnCounters(event->counters);
    if (event->counters.emitted > 0 || event->counters.executed > 0) executor_.SetProgress();
    if (event->kind == TaskEvent::Kind::kOpened) core_.OnOpened(Now());
    if (event->kind == TaskEvent::Kind::kDrained) core_.OnDrained(event->ticket, Now());
  }
}

void Gateway::PushIn(TaskInput input, size_t weight) {
  if (!staged_.empty() || !link_.data_in.TryPush(input, weight)) {
    staged_.push_back({std::move(input), weight});
  }
  FollowRoom();
}

void Gateway::MoveStaged() {
  while (!staged_.empty() && link_.data_in.TryPush(staged_.front().input, staged_.front().weight)) {
    staged_.pop_front();
  }
}

void Gateway::FollowRoom() {
  const bool pause = !staged_.empty() || !link_.data_in.HasRoom();
  if (pause == reading_paused_) return;
  reading_paused_ = pause;
  link::Session* session = stream_manager_->session();
  if (session == nullptr || !prepared_) return;
  if (pause) {
    session->PauseReading(proto::DATA);
  } else {
    session->ResumeReading(proto::DATA);
  }
}

// ---- How the process ends.

void Gateway::OnTaskEnded() {
  if (!link_.task_ended() || std::exchange(task_end_seen_, true)) return;
  std::optional<TaskFailure> failure = link_.failure();
  if (!failure) return;
  Fail(failure->unrecoverable ? kExitUnrecoverable : kExitUserError, failure->text,
       failure->unrecoverable);
}

void Gateway::Fail(int exit_code, const std::string& message, bool unrecoverable) {
  Log(LogLevel::kError, message);
  if (!std::exchange(has_error_, true)) {
    executor_.SetError(message, unrecoverable);
    report_deadline_ = Now() + kReportTimeout;
    if (exiting_) exit_code_ = exit_code;
  }
  BeginExit(exit_code);
}

void Gateway::Stop(int exit_code) { BeginExit(exit_code); }

void Gateway::BeginExit(int exit_code) {
  if (exiting_) return;
  exiting_ = true;
  exit_code_ = exit_code;
  stop_deadline_ = Now() + options_.stop_timeout;
  link_.RequestStop();
  timers_.push_back(loop_.RunEvery(std::chrono::milliseconds(5), [this] { CheckExit(); }));
}

void Gateway::CheckExit() {
  OnTaskEnded();
  const MonotonicTime now = Now();
  if (has_error_ && !error_sent_ && executor_.ErrorSent()) {
    error_sent_ = true;
    error_sent_at_ = now;
  }
  const bool said = !has_error_ || (error_sent_ && now - error_sent_at_ >= kLinger) ||
                    now >= report_deadline_;
  const bool ended = task_ == nullptr || link_.task_ended();
  if (!ended && now >= stop_deadline_) {
    Log(LogLevel::kWarning, "component '" + options_.component + "', task " +
                                std::to_string(options_.task) +
                                ": user code did not return in time; leaving without it");
    task_stuck_ = true;
    loop_.Stop();
    return;
  }
  if (ended && said) loop_.Stop();
}

}  // namespace heron::instance
