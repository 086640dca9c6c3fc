#include "scheduler/local/process_sweep.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "heron/base/process.h"

namespace scheduler::local {

using heron::Duration;
using heron::FoundProcess;
using heron::ProcessIdentity;
using heron::ProcessStat;
using heron::Status;

namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(2);
constexpr int kMaxFreezeRounds = 100;

// The value of "NAME=value" among the arguments, or "?".
std::string Argument(const std::vector<std::string>& command_line, const std::string& name) {
  for (const std::string& argument : command_line) {
    if (argument.rfind(name + "=", 0) == 0) return argument.substr(name.size() + 1);
  }
  return "?";
}

int Number(const std::string& text, int otherwise) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

class Sweep {
 public:
  Sweep(std::string_view entry, Duration timeout)
      : entry_(entry), deadline_(std::chrono::steady_clock::now() + timeout) {}

  Status Run() {
    while (Search()) {
      Freeze();
      for (const auto& [pid, process] : found_) Signal(process, SIGKILL);
      while (AnyAlive()) {
        if (Late()) return LeftOvers();
        std::this_thread::sleep_for(kPollInterval);
      }
      found_.clear();
      if (Late()) return LeftOvers();
    }
    return Status::Ok();
  }

 private:
  struct Member {
    ProcessIdentity identity;
    bool frozen = false;
  };

  bool Late() const { return std::chrono::steady_clock::now() >= deadline_; }

  static void Signal(const Member& member, int signo) {
    // Gone is fine; a stranger's process (setuid) shows as left over.
    heron::SignalProcess(member.identity, signo).IgnoreError();
  }

  void Add(pid_t pid, uint64_t start_ticks) {
    if (pid == getpid() || pid <= 1) return;
    found_.try_emplace(pid, Member{{pid, start_ticks, heron::BootId()}, false});
  }

  // Adds those that carry the entry and all their descendants, which may have cleared their
  // environment. True when there are any that were not known before.
  bool Search() {
    const size_t before = found_.size();
    for (const FoundProcess& process : heron::FindProcesses(entry_)) {
      Add(process.identity.pid, process.identity.start_ticks);
    }
    const std::vector<ProcessStat> all = heron::ListProcesses();
    for (bool grown = true; grown;) {
      const size_t size = found_.size();
      for (const ProcessStat& stat : all) {
        if (stat.alive() && found_.count(stat.parent) > 0) Add(stat.pid, stat.start_ticks);
      }
      grown = found_.size() > size;
    }
    return found_.size() > before;
  }

  void Freeze() {
    for (int round = 0; round < kMaxFreezeRounds && !Late(); ++round) {
      for (auto& [pid, member] : found_) {
        if (!member.frozen) Signal(member, SIGSTOP);
        member.frozen = true;
      }
      if (!Search()) return;
    }
  }

  bool AnyAlive() const {
    return std::any_of(found_.begin(), found_.end(),
                       [](const auto& entry) { return heron::IsAlive(entry.second.identity); });
  }

  Status LeftOvers() {
    std::string names;
    for (const FoundProcess& process : heron::FindProcesses(entry_)) {
      if (process.identity.pid == getpid()) continue;
      if (!names.empty()) names += ", ";
      names += std::to_string(process.identity.pid) + " (" +
               DescribeProcess(process.command_line).what + ")";
    }
    for (const auto& [pid, member] : found_) {
      if (heron::IsAlive(member.identity) && names.find(std::to_string(pid)) == std::string::npos) {
        names += (names.empty() ? "" : ", ") + std::to_string(pid);
      }
    }
    if (names.empty()) return Status::Ok();
    return heron::DeadlineExceeded("processes that do not end even by SIGKILL: " + names);
  }

  const std::string entry_;
  const heron::MonotonicTime deadline_;
  std::map<pid_t, Member> found_;
};

}  // namespace

ProcessInfo DescribeProcess(const std::vector<std::string>& command_line) {
  ProcessInfo info;
  info.what = "unknown";
  if (command_line.empty()) return info;
  const std::string file = std::filesystem::path(command_line[0]).filename().string();
  const auto named = [&info](ProcessKind kind, const std::string& what) {
    info.kind = kind;
    info.what = what;
    return info;
  };
  if (file == "heron-supervisor") return named(ProcessKind::kSupervisor, "supervisor");
  if (file == "heron-topology-master") {
    info.container = 0;
    return named(ProcessKind::kTopologyMaster, "topology master");
  }
  if (file == "heron-executor" || file == "heron-stream-manager") {
    const std::string container = Argument(command_line, "--container");
    info.container = Number(container, -1);
    return file == "heron-executor"
               ? named(ProcessKind::kExecutor, "executor " + container)
               : named(ProcessKind::kStreamManager, "stream manager " + container);
  }
  if (std::count(command_line.begin(), command_line.end(), "--heron-instance") > 0) {
    const std::string task = Argument(command_line, "--heron-task");
    info.container = Number(Argument(command_line, "--heron-container"), -1);
    info.task = Number(task, 0);
    return named(ProcessKind::kInstance, "instance " + Argument(command_line, "--heron-component") +
                                             "[" + Argument(command_line, "--heron-index") +
                                             "] (task " + task + ")");
  }
  return named(ProcessKind::kOther, file + ", started by user code");
}

Status EndAllProcesses(std::string_view entry, Duration timeout) {
  return Sweep(entry, timeout).Run();
}

}  // namespace scheduler::local
