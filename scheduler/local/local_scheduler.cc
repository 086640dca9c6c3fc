#include "scheduler/local/local_scheduler.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <thread>

#include "heron/base/log_tail.h"
#include "heron/base/process.h"
#include "scheduler/local/container_list.h"
#include "scheduler/local/process_sweep.h"
#include "scheduler/local/supervisor_file.h"

namespace scheduler::local {

namespace fs = std::filesystem;
using heron::Duration;
using heron::ErrnoStatus;
using heron::InvalidArgument;
using heron::Result;
using heron::Status;
using heron::state::TopologyKey;

namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(2);
constexpr int kLogLines = 5;
constexpr size_t kLogBytes = 1000;

bool PollUntil(Duration timeout, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

Status CheckName(const char* what, const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '@';
  };
  if (!name.empty() && name != "." && name != ".." &&
      std::all_of(name.begin(), name.end(), plain)) {
    return Status::Ok();
  }
  return InvalidArgument(std::string(what) + " '" + name +
                         "' must be made of letters, digits, '_', '-', '.' and '@'");
}

// They become folder names: nothing may lead elsewhere.
Status CheckNames(const TopologyKey& key, const std::string& topology_id) {
  HERON_RETURN_IF_ERROR(CheckName("role", key.role));
  HERON_RETURN_IF_ERROR(CheckName("environment", key.env));
  HERON_RETURN_IF_ERROR(CheckName("topology name", key.name));
  return CheckName("topology id", topology_id);
}

std::string Entry(const std::string& topology_id) { return "HERON_TOPOLOGY_ID=" + topology_id; }

// "sm.log", and what it was rotated into: "sm.log.1".
bool IsLog(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".log") return true;
  const bool numbered =
      extension.size() > 1 && std::all_of(extension.begin() + 1, extension.end(),
                                          [](char c) { return c >= '0' && c <= '9'; });
  return numbered && file.stem().extension() == ".log";
}

std::string SecretFile(const std::string& folder) { return folder + "/secret"; }
std::string SupervisorFilePath(const std::string& folder) { return folder + "/supervisor.pid"; }
std::string SupervisorLog(const std::string& folder) { return folder + "/supervisor.log"; }

heron::SpawnOptions SupervisorCommand(const LaunchRequest& request, const std::string& folder) {
  std::vector<heron::ContainerId> containers = {0};
  for (const auto& container : request.packing_plan.containers()) {
    if (container.container() != 0) containers.push_back(container.container());
  }
  heron::SpawnOptions spawn;
  spawn.argv = {request.engine_folder + "/heron-supervisor",
                "--topology=" + request.key.name,
                "--topology_id=" + request.topology_id,
                "--role=" + request.key.role,
                "--env=" + request.key.env,
                "--state=" + request.state_url,
                "--secret_file=" + SecretFile(folder),
                "--engine_folder=" + request.engine_folder,
                "--program=" + request.program_path,
                "--topology_folder=" + folder,
                "--containers=" + FormatContainers(containers)};
  spawn.environment = heron::OwnEnvironment();
  spawn.environment["HERON_TOPOLOGY"] = request.key.name;
  spawn.environment["HERON_TOPOLOGY_ID"] = request.topology_id;
  // Inherited by all; the submitter's own, should it run inside of a topology, must not be.
  spawn.environment["HERON_SETTINGS"] = request.process_settings;
  spawn.working_folder = folder;
  spawn.log_file = SupervisorLog(folder);
  spawn.die_with_parent = false;
  spawn.new_session = true;
  return spawn;
}

}  // namespace

LocalScheduler::LocalScheduler(Options options) : options_(std::move(options)) {}

std::string LocalScheduler::LogFolder(const TopologyKey& key, const std::string& topology_id) {
  return options_.cluster_folder + "/topologies/" + key.ToString() + "/" + topology_id;
}

Status LocalScheduler::Launch(const LaunchRequest& request) {
  HERON_RETURN_IF_ERROR(CheckNames(request.key, request.topology_id));
  if (request.secret.size() != 32) return InvalidArgument("the topology's secret has 32 bytes");
  const std::string folder = LogFolder(request.key, request.topology_id);
  if (Supervised(folder, request.topology_id)) return Status::Ok();
  // What an earlier try may have left.
  HERON_RETURN_IF_ERROR(EndAllProcesses(Entry(request.topology_id), options_.kill_timeout));
  Status launched = MakeFolder(request, folder);
  if (launched.ok()) launched = RunSupervisor(request, folder);
  if (launched.ok()) return launched;
  const Status killed = EndAllProcesses(Entry(request.topology_id), options_.kill_timeout);
  CleanUp(request.key, request.topology_id, false)
      .IgnoreError();  // the first error is the one to tell
  if (!killed.ok()) {
    return Status(launched.code(), launched.message() + "; moreover " + killed.message());
  }
  return launched;
}

Status LocalScheduler::MakeFolder(const LaunchRequest& request, const std::string& folder) const {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return ErrnoStatus(error.value(), "cannot make the topology folder " + folder);
  fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return ErrnoStatus(error.value(), "cannot set the mode of " + folder);
  fs::remove(SupervisorFilePath(folder), error);
  return WriteFileAtomically(SecretFile(folder), request.secret, 0600);
}

// The process that is started here goes when the supervisor, which is its grandchild, has started
// all executors.
Status LocalScheduler::RunSupervisor(const LaunchRequest& request,
                                     const std::string& folder) const {
  const int64_t log_offset = heron::FileSize(SupervisorLog(folder));
  const Result<heron::ProcessIdentity> starter =
      heron::SpawnProcess(SupervisorCommand(request, folder));
  if (!starter.ok()) return starter.status().WithContext("cannot start the supervisor");
  int wait_status = 0;
  bool reaped = false;
  const bool ended = PollUntil(options_.launch_timeout, [&] {
    const pid_t pid = waitpid(starter->pid, &wait_status, WNOHANG);
    reaped = pid == starter->pid;
    return reaped || (pid < 0 && errno == ECHILD);
  });
  if (!ended) {
    heron::SignalProcess(*starter, SIGKILL).IgnoreError();  // not reaped: it is this child
    while (waitpid(starter->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  // Ready; a short topology may have ended since.
  if (reaped && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return Status::Ok();
  if (ended && Supervised(folder, request.topology_id)) return Status::Ok();
  std::string message =
      ended ? "the supervisor did not start" : "the supervisor did not start its executors in time";
  const std::string tail = heron::LogTail(SupervisorLog(folder), log_offset, kLogLines, kLogBytes);
  if (!tail.empty()) message += "; its log ends with: " + tail;
  return heron::Unavailable(message);
}

bool LocalScheduler::Supervised(const std::string& folder, const std::string& topology_id) const {
  const Result<SupervisorFile> file = ReadSupervisorFile(SupervisorFilePath(folder));
  return file.ok() && file->topology_id == topology_id && heron::IsAlive(file->supervisor);
}

Status LocalScheduler::Kill(const TopologyKey& key, const std::string& topology_id) {
  HERON_RETURN_IF_ERROR(CheckNames(key, topology_id));
  StopSupervisor(LogFolder(key, topology_id), topology_id);
  return EndAllProcesses(Entry(topology_id), options_.kill_timeout);
}

// The orderly way first: the supervisor stops its executors, they stop their children.
void LocalScheduler::StopSupervisor(const std::string& folder,
                                    const std::string& topology_id) const {
  const Result<SupervisorFile> file = ReadSupervisorFile(SupervisorFilePath(folder));
  if (!file.ok() || file->topology_id != topology_id) return;
  if (!heron::SignalProcess(file->supervisor, SIGTERM).ok()) return;
  if (PollUntil(options_.stop_timeout, [&] { return !heron::IsAlive(file->supervisor); })) return;
  heron::SignalProcess(file->supervisor, SIGKILL).IgnoreError();
}

Status LocalScheduler::CleanUp(const TopologyKey& key, const std::string& topology_id,
                               bool keep_logs) {
  HERON_RETURN_IF_ERROR(CheckNames(key, topology_id));
  const fs::path folder = LogFolder(key, topology_id);
  std::error_code error;
  if (!keep_logs) {
    fs::remove_all(folder, error);
    if (error) return ErrnoStatus(error.value(), "cannot remove " + folder.string());
    // NAME, ENV, ROLE as far as they are empty now.
    fs::path parent = folder.parent_path();
    for (int i = 0; i < 3 && fs::remove(parent, error) && !error; ++i) {
      parent = parent.parent_path();
    }
    return Status::Ok();
  }
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const bool is_folder = at->is_directory(error) && !at->is_symlink(error);
    if (!is_folder && !IsLog(at->path())) files.push_back(at->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return ErrnoStatus(error.value(), "cannot read " + folder.string());
  }
  for (const fs::path& file : files) {
    error.clear();
    fs::remove(file, error);
    if (error) return ErrnoStatus(error.value(), "cannot remove " + file.string());
  }
  return Status::Ok();
}

Result<std::vector<ProcessInfo>> LocalScheduler::Processes(const std::string& topology_id) {
  HERON_RETURN_IF_ERROR(CheckName("topology id", topology_id));
  std::vector<ProcessInfo> processes;
  for (const heron::FoundProcess& process : heron::FindProcesses(Entry(topology_id))) {
    if (process.identity.pid == getpid()) continue;
    processes.push_back({process.identity.pid, DescribeProcess(process.command_line),
                         process.stat.state});
  }
  return processes;
}

}  // namespace scheduler::local
