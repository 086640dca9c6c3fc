#include "heron/executor/child_processes.h"

#include <glog/logging.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "heron/base/log_tail.h"

namespace heron::executor {
namespace {

constexpr Duration kCheckInterval = std::chrono::milliseconds(5);
constexpr Duration kGroupTimeout = std::chrono::seconds(5);

}  // namespace

ChildProcesses::ChildProcesses(net::EventLoop& loop, Callbacks callbacks)
    : loop_(loop), callbacks_(std::move(callbacks)) {
  loop_.HandleSignal(SIGCHLD, [this] { Reap(); });
}

ChildProcesses::~ChildProcesses() { loop_.CancelTimer(check_timer_); }

Result<int64_t> ChildProcesses::Start(const ChildKey& key, const SpawnOptions& spawn,
                                      const std::string& marker) {
  Running process{key, marker, spawn.log_file, FileSize(spawn.log_file)};
  process.log_offset += static_cast<int64_t>(spawn.log_headline.size());
  const Result<ProcessIdentity> identity = SpawnProcess(spawn);
  if (!identity.ok()) {
    return Status(identity.status().code(), PrintableText(identity.status().message()));
  }
  running_[identity->pid] = std::move(process);
  return static_cast<int64_t>(identity->pid);
}

void ChildProcesses::Signal(const ChildKey& key, int signo) {
  for (const auto& [pid, process] : running_) {
    // Not reaped yet, so the group is still this child's.
    if (process.key != key) continue;
    const Status status = SignalGroup(pid, signo);
    LOG_IF(WARNING, !status.ok()) << ToString(key) << ": " << status.ToString();
  }
}

void ChildProcesses::Reap() {
  while (true) {
    const auto ended = ReapChild([this](pid_t pid) {
      if (running_.count(pid) > 0) SignalGroup(pid, SIGKILL).IgnoreError();
    });
    if (!ended.has_value()) break;
    const auto at = running_.find(ended->pid);
    if (at == running_.end()) continue;  // an adopted one
    ended_.push_back({std::move(at->second), *ended, loop_.clock().Now()});
    running_.erase(at);
  }
  CheckEnded();
}

void ChildProcesses::OnSessionGone() {
  if (!ended_.empty()) CheckEnded();
}

void ChildProcesses::CheckEnded() {
  loop_.CancelTimer(check_timer_);
  check_timer_ = 0;
  std::vector<Ended> told;
  for (auto at = ended_.begin(); at != ended_.end();) {
    const bool may_talk =
        callbacks_.has_session(at->process.key) && loop_.clock().Now() - at->at < kLastWordsTimeout;
    if (KillLeftOvers(*at) || may_talk) {
      ++at;
      continue;
    }
    told.push_back(std::move(*at));
    at = ended_.erase(at);
  }
  if (!ended_.empty()) {
    check_timer_ = loop_.RunAfter(kCheckInterval, [this] { CheckEnded(); });
  }
  // Posted: a session's end may have called this.
  for (const Ended& ended : told) {
    loop_.Post([ended = callbacks_.ended, key = ended.process.key, end = Describe(ended)] {
      ended(key, end);
    });
  }
}

// Members of its group, and daemons of it that this process has adopted.
bool ChildProcesses::KillLeftOvers(Ended& ended) const {
  bool dying = false;
  for (const ProcessStat& stat : ListProcesses()) {
    if (!stat.alive() || running_.count(stat.pid) > 0) continue;
    const bool in_group = stat.group == ended.how.pid;
    if (!in_group && stat.parent != getpid()) continue;
    const ProcessIdentity identity{stat.pid, stat.start_ticks, BootId()};
    if (std::count(ended.killed.begin(), ended.killed.end(), identity) > 0) continue;
    if (HasEnvironmentEntry(stat.pid, ended.process.marker)) {
      SignalProcess(identity, SIGKILL).IgnoreError();  // gone is fine
      ended.killed.push_back(identity);
    } else if (in_group && loop_.clock().Now() - ended.at < kGroupTimeout) {
      // Killed before the leader was reaped, and dying: it has no environment any more. After the
      // timeout the number is taken for a stranger's.
      dying = true;
    }
  }
  return dying || std::any_of(ended.killed.begin(), ended.killed.end(), IsAlive);
}

ChildEnd ChildProcesses::Describe(const Ended& ended) const {
  ChildEnd end;
  end.exit_code = ended.how.exit_code;
  end.signal = ended.how.signal;
  end.description = DescribeEnd(ended.how);
  // Behind the headline's text comes the pid, a line of its own.
  const int64_t offset =
      ended.process.log_offset + static_cast<int64_t>(std::to_string(ended.how.pid).size()) + 1;
  end.last_output = LogTail(ended.process.log_file, offset);
  end.at_unix_ms = loop_.clock().UnixMillis();
  return end;
}

bool ChildProcesses::KillAll(Duration timeout) {
  const MonotonicTime deadline = loop_.clock().Now() + timeout;
  while (true) {
    while (ReapChild().has_value()) {
    }
    bool left = false;
    for (const ProcessStat& stat : ListChildren(getpid())) {
      // A supervisor that this executor has started is not of this container.
      if (HasEnvironmentEntry(stat.pid, "HERON_PROCESS=supervisor")) continue;
      left = true;
      if (stat.alive()) {
        SignalProcess({stat.pid, stat.start_ticks, BootId()}, SIGKILL).IgnoreError();
      }
    }
    if (!left) return true;
    if (loop_.clock().Now() >= deadline) return false;
    std::this_thread::sleep_for(kCheckInterval);
  }
}

}  // namespace heron::executor
