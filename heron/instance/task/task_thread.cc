#include "heron/instance/task/task_thread.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <typeinfo>
#include <utility>

#include "heron/api/errors.h"
#include "heron/api/internal/builder_access.h"
#include "heron/api/internal/task_facts.h"
#include "heron/base/log_tail.h"
#include "heron/base/thread_name.h"
#include "heron/instance/log.h"

namespace heron::instance {

using heron::internal::BuilderAccess;

namespace {

TaskOutput::Options OutputOptions(const TaskThread::Options& options) {
  TaskOutput::Options output;
  output.batches = {.task = options.facts.task,
                    .epoch = options.epoch,
                    .routing_version = options.routing_version,
                    .batch_max_bytes = static_cast<size_t>(options.settings.batch_max_bytes),
                    .anchored = options.settings.acking()};
  output.message_timeout = options.settings.message_timeout();
  output.tuple_max_bytes = static_cast<size_t>(options.settings.tuple_max_bytes);
  output.batch_max_age = options.settings.batch_max_age();
  output.component = options.facts.component;
  for (const auto& declared : options.facts.outputs) output.streams.push_back(declared.stream);
  return output;
}

// "std::out_of_range: map::at".
std::string Describe(const std::exception& error) {
  int status = 0;
  char* name = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? name : typeid(error).name();
  std::free(name);
  return text + ": " + error.what();
}

// A program that does not fit its own declarations or settings fails again in the next life. Where
// the topology would end meanwhile, that must not look like a result; where it runs for ever, one
// rare tuple must not end it.
bool EndsByItself(const proto::Topology& topology) {
  for (const proto::Component& component : topology.components()) {
    if (component.kind() == proto::SPOUT && !component.bounded()) return false;
  }
  return true;
}

}  // namespace

// Outlives the task: users may keep it and wake a spout that is no more.
class TaskThread::SpoutWaker : public heron::internal::WakeTarget {
 public:
  explicit SpoutWaker(std::shared_ptr<heron::Wake> wake) : wake_(std::move(wake)) {}
  void Wake() override {
    woken_.store(true);
    wake_->Notify();
  }
  bool woken() const { return woken_.load(); }
  bool Take() { return woken_.load() && woken_.exchange(false); }

 private:
  std::atomic<bool> woken_{false};
  const std::shared_ptr<heron::Wake> wake_;
};

// Nobody is left waiting for a task that ends, however it ends: a component's destructor may join
// threads that do.
class TaskThread::CallsEnd {
 public:
  explicit CallsEnd(CallQueue* calls) : calls_(calls) {}
  ~CallsEnd() { calls_->Close(); }
  CallsEnd(const CallsEnd&) = delete;
  CallsEnd& operator=(const CallsEnd&) = delete;

 private:
  CallQueue* const calls_;
};

Result<std::unique_ptr<TaskThread>> TaskThread::Make(Options options, TaskLink* link,
                                                     const Clock* clock) {
  routing::StreamRouter::Options router_options;
  router_options.layout = options.layout;
  router_options.source_component = options.layout->ComponentIndex(options.facts.component);
  router_options.container = options.facts.container;
  router_options.seed = static_cast<uint64_t>(options.facts.index);
  auto router = routing::StreamRouter::Make(router_options, options.key_groups);
  if (!router.ok()) return router.status();
  return std::unique_ptr<TaskThread>(
      new TaskThread(std::move(options), std::move(router).value(), link, clock));
}

TaskThread::TaskThread(Options options, std::unique_ptr<routing::StreamRouter> router,
                       TaskLink* link, const Clock* clock)
    : options_(std::move(options)),
      link_(link),
      output_(OutputOptions(options_), std::move(router), link, clock),
      waker_(std::make_shared<SpoutWaker>(link->task_wake)),
      calls_(std::make_shared<CallQueue>(TaskRunner::kMaxWaiting, link->task_wake)),
      window_(static_cast<size_t>(options_.settings.max_spout_pending),
              options_.settings.message_timeout(), clock->Now()) {
  const proto::Topology& topology = options_.layout->topology();
  origins_.resize(static_cast<size_t>(topology.components_size()));
  const int self = options_.layout->ComponentIndex(options_.facts.component);
  for (const proto::InputStream& input : topology.components(self).inputs()) {
    const int index = options_.layout->ComponentIndex(input.component());
    if (index < 0) continue;
    const proto::Component& source = topology.components(index);
    auto& origins = origins_[static_cast<size_t>(index)];
    origins.resize(static_cast<size_t>(source.outputs_size()));
    for (int stream = 0; stream < source.outputs_size(); ++stream) {
      if (source.outputs(stream).name() != input.stream()) continue;
      origins[static_cast<size_t>(stream)] =
          heron::internal::OriginOf(source, stream, options_.facts.component);
    }
  }
}

TaskThread::~TaskThread() {
  if (thread_.joinable()) thread_.join();
}

void TaskThread::Start() {
  thread_ = std::thread([this, label = LogLabel()] {
    SetLogLabel(label);
    SetThreadName(options_.facts.component + "[" + std::to_string(options_.facts.index) + "]");
    Run();
  });
}

std::shared_ptr<heron::internal::WakeTarget> TaskThread::wake_target() { return waker_; }

const heron::TopologyInfo& TaskThread::topology_info() {
  if (!topology_info_) topology_info_ = heron::internal::InfoOf(*options_.layout);
  return *topology_info_;
}

TaskFailure TaskThread::Failure(const std::string& what, bool unrecoverable) const {
  // It goes into messages and onto people's screens.
  constexpr size_t kMaxTextBytes = 4096;
  std::string text = PrintableText(std::string_view(what).substr(0, kMaxTextBytes));
  if (what.size() > kMaxTextBytes) text += "... (" + std::to_string(what.size()) + " bytes)";
  return {.text = "component '" + options_.facts.component + "', task " +
                  std::to_string(options_.facts.task) + ", " + method_ + ": " + text,
          .unrecoverable = unrecoverable};
}

void TaskThread::Run() {
  heron::internal::current_emitter = &output_;
  calls_->SetTaskThread();
  output_.BindToThisThread();
  std::optional<TaskFailure> failure;
  try {
    PrepareGroupings();
    if (options_.spout) {
      RunSpout();
    } else {
      RunBolt();
    }
    method_ = "the destructor of a custom grouping";
    output_.DropGroupings();
  } catch (const Unrecoverable& error) {
    failure = Failure(error.what(), true);
  } catch (const TypeError& error) {
    failure = Failure(Describe(error), EndsByItself(options_.layout->topology()));
  } catch (const ConfigError& error) {
    failure = Failure(Describe(error), EndsByItself(options_.layout->topology()));
  } catch (const std::exception& error) {
    failure = Failure(Describe(error), false);
  } catch (...) {
    failure = Failure("threw something that is no std::exception", false);
  }
  link_->SetEnded(std::move(failure));
}

void TaskThread::PrepareGroupings() {
  method_ = "factory or Prepare of a custom grouping";
  Status prepared = output_.PrepareGroupings([this](const std::string& reader,
                                                    const std::string& stream) {
    return BuilderAccess::MakeGrouping(*options_.builder, reader, options_.facts.component, stream);
  });
  if (!prepared.ok()) throw Unrecoverable(prepared.message());
  method_ = "its factory";
}

void TaskThread::RunSpout() {
  SpoutContext context(options_.facts, *this);  // outlives the component
  std::unique_ptr<Spout> spout =
      BuilderAccess::MakeSpout(*options_.builder, options_.facts.component);
  if (spout == nullptr) throw Unrecoverable("gave no spout");
  const CallsEnd calls_end(calls_.get());
  method_ = "Open";
  spout->Open(context);
  output_.SendEvent(TaskEvent::Kind::kOpened);
  heron::internal::reader_progress = &output_.counters().progress;
  SpoutLoop(*spout);
  heron::internal::reader_progress = nullptr;
  RunCalls();
  calls_->Close();
  output_.Flush();
  CallLast("Close", [&] { spout->Close(); });
  if (!link_->stop()) output_.End();
  AwaitStop();
  method_ = "its destructor";
  spout.reset();
}

// The gateway has said that this task is finished already.
bool TaskThread::EndWanted() {
  bool wanted = false;
  while (auto input = link_->data_in.TryPop()) {
    if (input->kind == TaskInput::Kind::kEndOutput) wanted = true;
  }
  return wanted;
}

bool TaskThread::FollowActive(Spout& spout, bool& activated) {
  const bool active = link_->active();
  if (active == activated) return active;
  activated = active;
  if (active) {
    method_ = "Activate";
    spout.Activate();
  } else {
    method_ = "Deactivate";
    spout.Deactivate();
  }
  return active;
}

std::optional<MonotonicTime> TaskThread::NextExpiry() {
  return output_.trees() == nullptr ? std::nullopt : output_.trees()->roots().NextExpiry();
}

// A root that was emitted before a loss has a few latencies more, not the whole timeout: at worst it is
// emitted twice.
void TaskThread::NoteLosses() {
  const uint64_t losses = link_->losses();
  if (losses == losses_seen_) return;
  losses_seen_ = losses;
  const Duration timeout = options_.settings.message_timeout();
  const Duration patience = std::clamp<Duration>(
      4 * latency_peak_.peak(), std::min<Duration>(std::chrono::milliseconds(500), timeout), timeout);
  output_.trees()->roots().ExpectLossBy(output_.now() + patience);
}

bool TaskThread::SettleUntracked(Spout& spout) {
  if (output_.untracked().empty()) return false;
  untracked_.clear();
  untracked_.swap(output_.untracked());
  method_ = "Ack";
  for (const MessageId& id : untracked_) {
    ++output_.counters().acked;
    spout.Ack(id);
  }
  return false;
}

bool TaskThread::Settle(Spout& spout) {
  TupleTrees* const trees = output_.trees();
  if (trees == nullptr) return SettleUntracked(spout);
  output_.FoldAcks();
  NoteLosses();
  PendingRoots& roots = trees->roots();
  const MonotonicTime now = output_.recent();
  roots.Expire(now);
  window_.Update(now);
  TaskCounters& counters = output_.counters();
  counters.pending = roots.pending();
  if (roots.outcomes().empty()) return false;
  outcomes_.clear();
  outcomes_.swap(roots.outcomes());
  bool failed = false;
  for (const PendingRoots::Outcome& outcome : outcomes_) {
    if (link_->stop()) break;
    if (outcome.acked) {
      ++counters.acked;
      window_.OnAcked(outcome.latency);
      latency_peak_.Add(outcome.latency, now);
      method_ = "Ack";
      spout.Ack(outcome.id);
    } else {
      failed = true;
      ++counters.failed;
      if (outcome.why == FailReason::kTimeout) {
        ++counters.timed_out;
        window_.OnExpired();
      }
      method_ = "Fail";
      spout.Fail(outcome.id, outcome.why);
    }
  }
  output_.Tick();
  return failed;
}

void TaskThread::SpoutLoop(Spout& spout) {
  bool activated = false;
  bool ended = false;  // it has said so, and nothing failed since
  while (!link_->stop()) {
    if (!link_->data_in.Empty() && EndWanted()) return;
    RunCalls();
    if (Settle(spout)) ended = false;
    const size_t pending = output_.trees() == nullptr ? 0 : output_.trees()->roots().pending();
    if (!FollowActive(spout, activated)) {
      output_.Idle(NextExpiry(), [this] {
        return link_->active() || !link_->data_in.Empty() || calls_->waiting() || AcksWait();
      });
      continue;
    }
    if (ended && pending == 0) return;
    if (ended || pending >= window_.limit()) {
      output_.Idle(NextExpiry(), [this] {
        return AcksWait() || calls_->waiting() || !link_->active() || !link_->data_in.Empty() ||
               link_->losses() != losses_seen_;
      });
      continue;
    }
    method_ = "NextTuple";
    const Next next = spout.NextTuple();
    output_.Tick();
    switch (next.kind()) {
      case Next::Kind::kMore:
        continue;
      case Next::Kind::kEnded:
        ended = true;
        continue;
      case Next::Kind::kIdle:
      case Next::Kind::kWaiting:
        break;
    }
    std::optional<MonotonicTime> until;
    if (next.kind() == Next::Kind::kIdle) until = output_.now() + next.idle_time();
    AwaitTuple(spout, until);
  }
}

// The spout has nothing: until this time, a wake-up, or something else to do.
void TaskThread::AwaitTuple(Spout& spout, std::optional<MonotonicTime> until) {
  for (;;) {
    if (Settle(spout)) return;
    std::optional<MonotonicTime> deadline = NextExpiry();
    if (until && (!deadline || *until < *deadline)) deadline = until;
    output_.Idle(deadline, [this] {
      return waker_->woken() || calls_->waiting() || !link_->active() || !link_->data_in.Empty() ||
             AcksWait() || link_->losses() != losses_seen_;
    });
    const bool other = waker_->woken() || calls_->waiting() || !link_->active() ||
                       !link_->data_in.Empty() || link_->stop();
    if (other || (until && output_.recent() >= *until)) break;
  }
  waker_->Take();
}

void TaskThread::RunBolt() {
  BoltContext context(options_.facts, *this);  // outlives the component
  std::unique_ptr<Bolt> bolt = BuilderAccess::MakeBolt(*options_.builder, options_.facts.component);
  if (bolt == nullptr) throw Unrecoverable("gave no bolt");
  const CallsEnd calls_end(calls_.get());
  method_ = "Prepare";
  bolt->Prepare(context);
  StartTicks();
  output_.SendEvent(TaskEvent::Kind::kOpened);
  BoltLoop(*bolt);
  AwaitStop();
  method_ = "its destructor";
  bolt.reset();
}

void TaskThread::StartTicks() {
  const int self = options_.layout->ComponentIndex(options_.facts.component);
  const proto::Component& component = options_.layout->topology().components(self);
  if (!component.has_tick_interval_us()) return;
  ticks_.Start(std::chrono::microseconds(component.tick_interval_us()), output_.now());
}

bool TaskThread::RunWaitingCalls() {
  method_ = "a function of RunInTask";
  const bool ran = calls_->RunWaiting([this] { return !link_->stop(); });
  output_.Tick();
  return ran;
}

void TaskThread::RunTick(Bolt& bolt) {
  if (link_->stop()) return;
  method_ = "Tick";
  bolt.Tick(ticks_.Take(output_.now()));
  output_.Tick();
}

void TaskThread::BoltLoop(Bolt& bolt) {
  while (!link_->stop()) {
    std::optional<TaskInput> input = link_->data_in.TryPop();
    if (!input) {
      output_.Idle(ticks_.next(), [this] { return calls_->waiting() || !link_->data_in.Empty(); });
      RunBetween(bolt);
      continue;
    }
    // Ticks are to be on time although this batch's tuples may be slower than the last one's.
    if (ticks_.started()) output_.RestartClock();
    switch (input->kind) {
      case TaskInput::Kind::kBatch:
        ExecuteBatch(bolt, *input);
        break;
      case TaskInput::Kind::kDrain:
        output_.SendEvent(TaskEvent::Kind::kDrained, input->ticket);
        break;
      case TaskInput::Kind::kFinish:
        EndBolt(bolt, true);
        return;
      case TaskInput::Kind::kEndOutput:
        EndBolt(bolt, false);
        return;
      case TaskInput::Kind::kNone:
        break;
    }
  }
  calls_->Close();
  CallLast("Cleanup", [&] { bolt.Cleanup(); });
}

// All output is made: what user code throws now is told, but makes nothing undone. A restart would
// only do everything again.
void TaskThread::CallLast(const char* method, const std::function<void()>& call) {
  method_ = method;
  try {
    call();
    return;
  } catch (const std::exception& error) {
    link_->SetComplaint(Failure(Describe(error), false).text);
  } catch (...) {
    link_->SetComplaint(Failure("threw something that is no std::exception", false).text);
  }
  Log(LogLevel::kError, link_->complaint());
}

void TaskThread::EndBolt(Bolt& bolt, bool finish) {
  if (finish) {
    RunCalls();
    calls_->StopWaiting();
    method_ = "Finish";
    bolt.Finish();
    RunCalls();
  }
  calls_->Close();
  CallLast("Cleanup", [&] { bolt.Cleanup(); });
  output_.End();
}

void TaskThread::ExecuteBatch(Bolt& bolt, const TaskInput& input) {
  const model::BatchHeader& header = input.batch.header;
  const model::TaskInfo* source = options_.layout->Find(header.source_task);
  const heron::internal::TupleOrigin* origin = nullptr;
  if (source != nullptr) {
    const auto& origins = origins_[static_cast<size_t>(source->component)];
    if (header.stream < origins.size()) origin = &origins[header.stream];
  }
  TaskCounters& counters = output_.counters();
  if (origin == nullptr || origin->reader.empty()) {
    counters.dropped[static_cast<size_t>(DropReason::kStray)] += header.tuple_count;
    return;
  }
  reader_.Start(input.batch.payload, *origin, header.source_task, header.edge_base);
  TupleTrees* const trees = output_.trees();
  uint64_t executed = 0;
  while (const Tuple* tuple = reader_.Next()) {
    if (link_->stop()) [[unlikely]]
      return;
    method_ = "Execute";
    if (trees == nullptr) {
      bolt.Execute(*tuple);
    } else {
      trees->BeginInput(reader_.anchors());
      bolt.Execute(*tuple);
      trees->EndInput();
      output_.AcksAdded();
    }
    ++executed;
    ++counters.executed;
    output_.Tick();
    RunBetween(bolt);
  }
  if (reader_.damage() == nullptr) return;
  const uint64_t lost = header.tuple_count > executed ? header.tuple_count - executed : 1;
  counters.dropped[static_cast<size_t>(DropReason::kDamaged)] += lost;
  if (std::exchange(damage_logged_, true)) return;
  Log(LogLevel::kError, "a batch from task " + std::to_string(header.source_task) +
                            " is damaged at byte " + std::to_string(reader_.offset()) + ": " +
                            reader_.damage() + "; its tuples from there on are dropped");
}

void TaskThread::AwaitStop() {
  while (!link_->stop()) output_.Idle(std::nullopt, [] { return false; });
}

}  // namespace heron::instance
