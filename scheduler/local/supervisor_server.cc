#include "scheduler/local/supervisor_server.h"

#include <glog/logging.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "heron/base/exit_codes.h"
#include "heron/base/log_rotation.h"
#include "heron/base/process.h"
#include "heron/base/process_table.h"
#include "heron/state/async_store.h"
#include "heron/state/store_look.h"
#include "scheduler/local/process_sweep.h"
#include "scheduler/local/supervisor_core.h"

namespace scheduler::local {

using heron::ContainerId;
using heron::Duration;
using heron::EndedChild;
using heron::MonotonicTime;
using heron::Status;

namespace {

constexpr Duration kCheckInterval = std::chrono::milliseconds(5);
// What a dead executor left behind and does not die of SIGKILL holds its restart for this long.
constexpr Duration kLeftOverTimeout = std::chrono::seconds(5);
constexpr Duration kKillAllTimeout = std::chrono::seconds(2);
// Between looks at the adopted, whose ends nobody tells.
constexpr Duration kAdoptedInterval = std::chrono::milliseconds(100);

}  // namespace

class SupervisorServer::Impl : public SupervisorCore::Effects {
 public:
  Impl(heron::net::EventLoop& loop, SupervisorOptions options,
       std::shared_ptr<heron::state::StateStore> store)
      : loop_(loop),
        options_(std::move(options)),
        store_(loop, std::move(store)),
        store_look_(store_, options_.key, options_.topology_id),
        core_(options_.containers, this),
        logs_(
            {options_.settings.log_max_bytes, static_cast<int>(options_.settings.log_max_files)}) {}

  Status Start();
  int exit_code() const { return exit_code_; }

 private:
  struct Ended {
    ContainerId container;
    int exit_code;
    MonotonicTime at;
    bool adopted = false;
  };

  // SupervisorCore::Effects
  Status StartExecutor(ContainerId container) override;
  void SignalExecutor(ContainerId container, int signo) override;
  void AskStore() override;
  void Exit(int code, const std::string& why) override;

  heron::SpawnOptions ExecutorCommand(ContainerId container) const;
  void Adopt();
  void LookAtAdopted();
  void Reap();
  void CheckEnded();
  // True when some are still alive.
  bool KillOrphans() const;
  bool KillContainer(ContainerId container) const;
  bool KillAll();
  void Settle();
  MonotonicTime now() const { return loop_.clock().Now(); }

  heron::net::EventLoop& loop_;
  const SupervisorOptions options_;
  heron::state::AsyncStore store_;
  heron::state::StoreLook store_look_;
  SupervisorCore core_;
  heron::LogRotation logs_;
  std::map<pid_t, ContainerId> executors_;  // children
  std::map<ContainerId, heron::ProcessIdentity> adopted_;
  std::vector<Ended> ended_;
  heron::net::TimerId check_timer_ = 0;
  heron::net::TimerId deadline_timer_ = 0;
  int exit_code_ = heron::kExitError;
};

Status SupervisorServer::Impl::Start() {
  loop_.HandleSignal(SIGCHLD, [this] { Reap(); });
  for (const int signo : {SIGTERM, SIGINT}) {
    loop_.HandleSignal(signo, [this] {
      core_.OnTerminate(now());
      Settle();
    });
  }
  // Executors see to the logs of their containers, their own included.
  logs_.Add(options_.topology_folder + "/supervisor.log");
  loop_.RunEvery(heron::LogRotation::kCheckInterval, [this] { logs_.Check(); });
  Adopt();
  std::set<ContainerId> running;
  for (const auto& [container, executor] : adopted_) running.insert(container);
  const Status started = core_.Start(running, now());
  if (!started.ok() && running.empty()) {
    KillAll();
    return started;
  }
  if (!running.empty()) loop_.RunEvery(kAdoptedInterval, [this] { LookAtAdopted(); });
  Settle();
  return Status::Ok();
}

// Found by what they are, not by a record: that cannot be missing or old.
void SupervisorServer::Impl::Adopt() {
  for (const heron::FoundProcess& found :
       heron::FindProcesses("HERON_TOPOLOGY_ID=" + options_.topology_id)) {
    const ProcessInfo process = DescribeProcess(found.command_line);
    if (process.kind != ProcessKind::kExecutor || process.container < 0) continue;
    heron::ProcessIdentity& executor = adopted_[process.container];
    // Should there be two, the topology master fences the older one.
    if (executor.pid == 0 || executor.start_ticks < found.identity.start_ticks) {
      executor = found.identity;
    }
  }
  for (const auto& [container, executor] : adopted_) {
    LOG(INFO) << "adopted executor " << container << ", process " << executor.pid;
  }
}

void SupervisorServer::Impl::LookAtAdopted() {
  bool any = false;
  for (auto at = adopted_.begin(); at != adopted_.end();) {
    if (heron::IsAlive(at->second)) {
      ++at;
      continue;
    }
    LOG(INFO) << "executor " << at->first << ", adopted as process " << at->second.pid
              << ", has ended";
    ended_.push_back({at->first, SupervisorCore::kUnknownExit, now(), true});
    at = adopted_.erase(at);
    any = true;
  }
  if (any) CheckEnded();
}

heron::SpawnOptions SupervisorServer::Impl::ExecutorCommand(ContainerId container) const {
  const std::string folder = options_.topology_folder + "/container-" + std::to_string(container);
  heron::SpawnOptions spawn;
  spawn.argv = {options_.engine_folder + "/heron-executor",
                "--topology=" + options_.key.name,
                "--topology_id=" + options_.topology_id,
                "--role=" + options_.key.role,
                "--env=" + options_.key.env,
                "--state=" + options_.state_url,
                "--container=" + std::to_string(container),
                "--secret_file=" + options_.secret_file,
                "--engine_folder=" + options_.engine_folder,
                "--program=" + options_.program,
                "--container_folder=" + folder,
                "--supervisor_folder=" + options_.topology_folder};
  spawn.environment = heron::OwnEnvironment();
  spawn.environment["HERON_TOPOLOGY"] = options_.key.name;
  spawn.environment["HERON_TOPOLOGY_ID"] = options_.topology_id;
  spawn.environment["HERON_PROCESS"] = "executor";
  spawn.environment["HERON_CONTAINER"] = std::to_string(container);
  spawn.working_folder = folder;
  spawn.log_file = folder + "/executor.log";
  spawn.log_headline = "--- started by heron executor " + std::to_string(container) + " pid ";
  spawn.die_with_parent = false;  // a topology outlives its supervisor
  return spawn;
}

Status SupervisorServer::Impl::StartExecutor(ContainerId container) {
  const heron::SpawnOptions spawn = ExecutorCommand(container);
  std::error_code error;
  std::filesystem::create_directories(spawn.working_folder, error);
  if (error) return heron::ErrnoStatus(error.value(), "cannot make " + spawn.working_folder);
  const auto started = heron::SpawnProcess(spawn);
  if (!started.ok()) {
    LOG(ERROR) << "executor " << container << ": " << started.status().ToString();
    return started.status();
  }
  LOG(INFO) << "started executor " << container << " as process " << started->pid;
  executors_[started->pid] = container;
  return Status::Ok();
}

void SupervisorServer::Impl::SignalExecutor(ContainerId container, int signo) {
  for (const auto& [pid, owner] : executors_) {
    // Not reaped yet, so the group is still this executor's.
    if (owner == container) heron::SignalGroup(pid, signo).IgnoreError();
  }
  // Its children die with it.
  const auto at = adopted_.find(container);
  if (at != adopted_.end()) heron::SignalProcess(at->second, signo).IgnoreError();
}

void SupervisorServer::Impl::Reap() {
  while (const auto ended = heron::ReapChild()) {
    const auto at = executors_.find(ended->pid);
    if (at == executors_.end()) continue;  // an orphan
    LOG(INFO) << "executor " << at->second << " " << heron::DescribeEnd(*ended);
    ended_.push_back({at->second, ended->exit_code, now()});
    executors_.erase(at);
  }
  CheckEnded();
}

// The end of an executor counts when what it left behind is dead.
void SupervisorServer::Impl::CheckEnded() {
  loop_.CancelTimer(check_timer_);
  check_timer_ = 0;
  const bool orphans = KillOrphans();
  std::vector<Ended> waiting, told;
  for (const Ended& ended : ended_) {
    const bool left = ended.adopted ? KillContainer(ended.container) : orphans;
    const bool waits = left && now() - ended.at < kLeftOverTimeout;
    (waits ? waiting : told).push_back(ended);
  }
  ended_ = std::move(waiting);
  if (!ended_.empty()) {
    check_timer_ = loop_.RunAfter(kCheckInterval, [this] { CheckEnded(); });
  }
  for (const Ended& ended : told) {
    core_.OnExecutorEnded(ended.container, ended.exit_code, now());
  }
  Settle();
}

// Executors are sub-reapers themselves: whatever becomes this process's child belongs to an
// executor that is dead.
bool SupervisorServer::Impl::KillOrphans() const {
  bool left = false;
  for (const heron::ProcessStat& stat : heron::ListChildren(getpid())) {
    if (!stat.alive() || executors_.count(stat.pid) > 0) continue;
    left = true;
    heron::SignalProcess({stat.pid, stat.start_ticks, heron::BootId()}, SIGKILL).IgnoreError();
  }
  return left;
}

// The orphans of an adopted executor are some other process's children now.
bool SupervisorServer::Impl::KillContainer(ContainerId container) const {
  const std::string entry = "HERON_CONTAINER=" + std::to_string(container);
  bool left = false;
  for (const heron::FoundProcess& found :
       heron::FindProcesses("HERON_TOPOLOGY_ID=" + options_.topology_id)) {
    const auto& environment = found.environment;
    if (std::find(environment.begin(), environment.end(), entry) == environment.end()) continue;
    left = true;
    heron::SignalProcess(found.identity, SIGKILL).IgnoreError();
  }
  return left;
}

bool SupervisorServer::Impl::KillAll() {
  executors_.clear();
  const MonotonicTime deadline = now() + kKillAllTimeout;
  while (true) {
    while (heron::ReapChild().has_value()) {
    }
    if (!KillOrphans()) return true;
    if (now() >= deadline) return false;
    std::this_thread::sleep_for(kCheckInterval);
  }
}

void SupervisorServer::Impl::AskStore() {
  store_look_.Read([this](heron::model::StoreVerdict verdict) {
    core_.OnStoreVerdict(verdict, now());
    Settle();
  });
}

void SupervisorServer::Impl::Exit(int code, const std::string& why) {
  LOG(INFO) << "ends: " << why;
  exit_code_ = code;
  if (!KillAll()) LOG(ERROR) << "some processes of this topology did not end after SIGKILL";
  loop_.Stop();
}

void SupervisorServer::Impl::Settle() {
  loop_.CancelTimer(deadline_timer_);
  deadline_timer_ = 0;
  const auto next = core_.NextDeadline();
  if (!next.has_value()) return;
  deadline_timer_ = loop_.RunAfter(std::max(*next - now(), Duration::zero()), [this] {
    core_.OnTime(now());
    Settle();
  });
}

SupervisorServer::SupervisorServer(heron::net::EventLoop& loop, SupervisorOptions options,
                                   std::shared_ptr<heron::state::StateStore> store)
    : impl_(std::make_unique<Impl>(loop, std::move(options), std::move(store))) {}
SupervisorServer::~SupervisorServer() = default;

Status SupervisorServer::Start() { return impl_->Start(); }
int SupervisorServer::exit_code() const { return impl_->exit_code(); }

}  // namespace scheduler::local
