#include "heron/executor/executor_server.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "heron/base/exit_codes.h"
#include "heron/base/random.h"
#include "heron/executor/child_listener.h"
#include "heron/executor/core/executor_core.h"
#include "heron/executor/master_follower.h"
#include "heron/executor/supervisor_watch.h"
#include "heron/state/async_store.h"
#include "heron/state/store_look.h"

namespace heron::executor {
namespace {

constexpr Duration kStoreInterval = std::chrono::seconds(1);
constexpr Duration kKillAllTimeout = std::chrono::seconds(2);

link::SessionOptions Sessions(const Options& options) {
  link::SessionOptions session;
  session.heartbeat_interval = options.settings.heartbeat_interval();
  session.heartbeat_timeout = options.settings.heartbeat_timeout();
  return session;
}

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "localhost";
  return name;
}

}  // namespace

class ExecutorServer::Impl : public ExecutorCore::Effects {
 public:
  Impl(net::EventLoop& loop, Options options, std::string secret,
       std::shared_ptr<state::StateStore> store, const MakeChildren& make_children)
      : loop_(loop),
        credentials_{options.key.name, options.topology_id, std::move(secret)},
        store_(loop, std::move(store)),
        store_look_(store_, options.key, options.topology_id),
        core_({options.container, HostName(), getpid(), RandomBytes(16)}, this),
        children_(MakeChildrenOf(make_children)) {
    context_.options = std::move(options);
  }

  ~Impl() override { loop_.CancelTimer(deadline_timer_); }

  Status Start();
  void Terminate() {
    core_.OnTerminate(now());
    Settle();
  }
  int exit_code() const { return exit_code_; }

 private:
  // ExecutorCore::Effects
  Result<int64_t> StartChild(const Child& child) override;
  void SignalChild(const Child& child, int signo) override;
  void ReportChanged() override;
  void ChildUpdateChanged() override { listener_->SetUpdate(core_.child_update()); }
  void Exit(int code, const std::string& why) override;

  std::unique_ptr<Children> MakeChildrenOf(const MakeChildren& make);
  Status Listen();
  std::optional<link::Refusal> Admit(const proto::Identity& caller) const;
  void ReadTopology();
  void OnInterval();
  void LookAround();
  // After each event for the core: arms the timer of its next deadline.
  void Settle();
  MonotonicTime now() const { return loop_.clock().Now(); }

  net::EventLoop& loop_;
  const link::TopologyCredentials credentials_;
  state::AsyncStore store_;
  state::StoreLook store_look_;
  ChildContext context_;
  ExecutorCore core_;
  const std::unique_ptr<Children> children_;
  std::unique_ptr<ChildListener> listener_;
  std::unique_ptr<MasterFollower> master_;
  std::unique_ptr<SupervisorWatch> supervisor_;
  net::TimerId deadline_timer_ = 0;
  bool topology_read_ = false;
  bool report_posted_ = false;
  int exit_code_ = kExitError;
};

Status ExecutorServer::Impl::Start() {
  const std::string& folder = context_.options.container_folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return ErrnoStatus(error.value(), "cannot make the container folder " + folder);

  HERON_RETURN_IF_ERROR(Listen());

  MasterFollower::Callbacks master;
  master.connected = [this] { master_->Send(core_.Report()); };
  master.plan = [this](const proto::ContainerPlan& plan) {
    core_.OnContainerPlan(plan, now());
    Settle();
  };
  master_ = std::make_unique<MasterFollower>(
      loop_, store_,
      MasterFollower::Options{context_.options.key, context_.options.container, credentials_,
                              Sessions(context_.options)},
      std::move(master));

  const Options& options = context_.options;
  if (!options.supervisor_folder.empty()) {
    supervisor_ = std::make_unique<SupervisorWatch>(
        loop_, store_,
        SupervisorWatch::Options{options.supervisor_folder,
                                 options.engine_folder + "/heron-supervisor", options.key,
                                 options.topology_id, options.container},
        [this] { return core_.ending(); });
  }

  loop_.RunEvery(context_.options.settings.heartbeat_interval(), [this] { OnInterval(); });
  loop_.RunEvery(kStoreInterval, [this] { LookAround(); });
  LOG(INFO) << "executor of container " << context_.options.container << " of "
            << context_.options.topology_id << " listens on port " << context_.port;
  core_.Start(now());
  Settle();
  ReadTopology();
  return Status::Ok();
}

std::unique_ptr<Children> ExecutorServer::Impl::MakeChildrenOf(const MakeChildren& make) {
  Children::Callbacks callbacks;
  callbacks.ended = [this](const ChildKey& key, const ChildEnd& end) {
    LOG(INFO) << ToString(key) << " " << end.description;
    core_.OnChildEnded(key, end, now());
    Settle();
  };
  callbacks.has_session = [this](const ChildKey& key) { return listener_->HasSession(key); };
  return make(loop_, std::move(callbacks));
}

Status ExecutorServer::Impl::Listen() {
  ChildListener::Callbacks callbacks;
  callbacks.admit = [this](const proto::Identity& caller) { return Admit(caller); };
  callbacks.report = [this](const proto::Identity& child, const proto::ChildReport& report) {
    core_.OnChildReport(child, report, now());
    Settle();
  };
  callbacks.session_gone = [this] { children_->OnSessionGone(); };
  auto listener =
      ChildListener::Listen(loop_, context_.options.bind_host, context_.options.container,
                            credentials_, Sessions(context_.options), std::move(callbacks));
  if (!listener.ok()) return listener.status();
  listener_ = std::move(listener).value();
  context_.port = listener_->port();
  return Status::Ok();
}

std::optional<link::Refusal> ExecutorServer::Impl::Admit(const proto::Identity& caller) const {
  switch (core_.Admit(caller)) {
    case ExecutorCore::Admission::kAdmitted:
      return std::nullopt;
    case ExecutorCore::Admission::kFenced:
      return link::Refusal{proto::FENCED, "a later life of this process runs"};
    case ExecutorCore::Admission::kNotWanted:
      break;
  }
  return link::Refusal{proto::NOT_WANTED, "this executor has no such process"};
}

Result<int64_t> ExecutorServer::Impl::StartChild(const Child& child) {
  const Result<int64_t> pid = children_->Start(child, context_);
  if (pid.ok()) {
    LOG(INFO) << "started " << ToString(child.key) << " epoch " << child.epoch << " as process "
              << *pid;
  } else {
    LOG(ERROR) << ToString(child.key) << ": " << pid.status().ToString();
  }
  return pid;
}

void ExecutorServer::Impl::SignalChild(const Child& child, int signo) {
  children_->Signal(child.key, signo);
}

// Many changes of one moment become one report.
void ExecutorServer::Impl::ReportChanged() {
  if (report_posted_) return;
  report_posted_ = true;
  loop_.Post([this] {
    report_posted_ = false;
    if (master_ != nullptr) master_->Send(core_.Report());
  });
}

void ExecutorServer::Impl::Exit(int code, const std::string& why) {
  LOG(INFO) << "ends with exit code " << code << ": " << why;
  exit_code_ = code;
  if (!children_->KillAll(kKillAllTimeout)) {
    LOG(ERROR) << "some children of this container did not end after SIGKILL";
  }
  loop_.Stop();
}

// Instances need the submitter's arguments, so the topology master is called only when they are
// known.
void ExecutorServer::Impl::ReadTopology() {
  store_.Get(state::TopologyPath(context_.options.key), [this](Result<state::VersionedValue> read) {
    if (topology_read_) return;
    proto::SubmittedTopology topology;
    if (!read.ok()) {
      LOG_EVERY_N(WARNING, 10) << "cannot read the topology yet: " << read.status().ToString();
      return;
    }
    if (!topology.ParseFromString(read->value) ||
        topology.topology_id() != context_.options.topology_id) {
      LOG_EVERY_N(WARNING, 10) << "the store holds another topology under this name: "
                               << topology.topology_id();
      return;
    }
    topology_read_ = true;
    context_.topology = std::move(topology);
    master_->Start();
  });
}

void ExecutorServer::Impl::OnInterval() {
  master_->Send(core_.Report());
  listener_->Repeat();
}

// Each second without a topology master.
void ExecutorServer::Impl::LookAround() {
  if (master_->connected()) return;
  if (!topology_read_) ReadTopology();
  master_->Look();
  store_look_.Read([this](model::StoreVerdict verdict) {
    if (master_->connected()) return;
    core_.OnStoreVerdict(verdict, now());
    Settle();
  });
}

void ExecutorServer::Impl::Settle() {
  loop_.CancelTimer(deadline_timer_);
  deadline_timer_ = 0;
  const auto next = core_.NextDeadline();
  if (!next.has_value()) return;
  deadline_timer_ = loop_.RunAfter(std::max(*next - now(), Duration::zero()), [this] {
    core_.OnTime(now());
    Settle();
  });
}

ExecutorServer::ExecutorServer(net::EventLoop& loop, Options options, std::string secret,
                               std::shared_ptr<state::StateStore> store,
                               const MakeChildren& make_children)
    : impl_(std::make_unique<Impl>(loop, std::move(options), std::move(secret), std::move(store),
                                   make_children)) {}
ExecutorServer::~ExecutorServer() = default;

Status ExecutorServer::Start() { return impl_->Start(); }
void ExecutorServer::Terminate() { impl_->Terminate(); }
int ExecutorServer::exit_code() const { return impl_->exit_code(); }

}  // namespace heron::executor
