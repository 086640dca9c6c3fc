#include "scheduler/local/local_scheduler.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "heron/base/file_lock.h"
#include "heron/base/log_tail.h"
#include "heron/base/process.h"
#include "scheduler/local/container_list.h"
#include "scheduler/local/launch_file.h"
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

// So that two spellings of one folder are the same; it need not exist.
std::string Canonical(const std::string& folder) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(folder, error);
  return error ? folder : canonical.string();
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
std::string StoppedFile(const std::string& folder) { return folder + "/stopped"; }
std::string SupervisorLog(const std::string& folder) { return folder + "/supervisor.log"; }

std::string TimeText(int64_t unix_seconds) {
  const std::time_t seconds = static_cast<std::time_t>(unix_seconds);
  std::tm local = {};
  char text[32];
  localtime_r(&seconds, &local);
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

// "container 2 has", "containers 2 and 3 have", "containers 2, 3 and 4 more have".
std::string ContainersText(const std::vector<heron::ContainerId>& containers) {
  constexpr size_t kNamed = 3;
  std::string text = containers.size() == 1 ? "container " : "containers ";
  for (size_t i = 0; i < containers.size() && i < kNamed; ++i) {
    const bool last = i + 1 == containers.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(containers[i]);
  }
  if (containers.size() > kNamed) {
    text += " and " + std::to_string(containers.size() - kNamed) + " more";
  }
  return text + (containers.size() == 1 ? " has" : " have");
}

}  // namespace

LocalScheduler::LocalScheduler(Options options) : options_(std::move(options)) {}

std::string LocalScheduler::LogFolder(const TopologyKey& key, const std::string& topology_id) {
  return options_.cluster_folder + "/topologies/" + key.ToString() + "/" + topology_id;
}

heron::SpawnOptions LocalScheduler::SupervisorCommand(const LaunchRequest& request,
                                                      const std::string& folder) const {
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
  const Result<LaunchFile> before = ReadLaunchFile(folder);
  spawn.environment = before.ok() ? before->environment : heron::OwnEnvironment();
  // The submitter's own, should it run inside of a topology, must not be inherited.
  for (const char* name : {"HERON_CONTAINER", "HERON_COMPONENT", "HERON_TASK", "HERON_BOOT_ID"}) {
    spawn.environment.erase(name);
  }
  const char* boot_id = std::getenv("HERON_BOOT_ID");
  if (boot_id != nullptr) spawn.environment["HERON_BOOT_ID"] = boot_id;
  spawn.environment["HERON_PROCESS"] = "supervisor";
  spawn.environment["HERON_TOPOLOGY"] = request.key.name;
  spawn.environment["HERON_TOPOLOGY_ROLE"] = request.key.role;
  spawn.environment["HERON_TOPOLOGY_ENV"] = request.key.env;
  spawn.environment["HERON_TOPOLOGY_ID"] = request.topology_id;
  spawn.environment["HERON_CLUSTER_FOLDER"] = Canonical(options_.cluster_folder);
  spawn.environment["HERON_SETTINGS"] = request.process_settings;
  spawn.working_folder = folder;
  spawn.log_file = SupervisorLog(folder);
  spawn.die_with_parent = false;
  spawn.new_session = true;
  return spawn;
}

Status LocalScheduler::Launch(const LaunchRequest& request) {
  HERON_RETURN_IF_ERROR(CheckNames(request.key, request.topology_id));
  const std::string folder = LogFolder(request.key, request.topology_id);
  if (heron::IsLocked(SupervisorLockPath(folder))) return Status::Ok();
  const Status launched = Start(request, folder);
  if (!launched.ok()) {
    // The first error is the one to tell.
    CleanUp(request.key, request.topology_id, false).IgnoreError();
  }
  return launched;
}

Status LocalScheduler::Relaunch(const LaunchRequest& request) {
  HERON_RETURN_IF_ERROR(CheckNames(request.key, request.topology_id));
  HERON_RETURN_IF_ERROR(Kill(request.key, request.topology_id));
  return Start(request, LogFolder(request.key, request.topology_id));
}

Status LocalScheduler::Start(const LaunchRequest& request, const std::string& folder) const {
  if (request.secret.size() != 32) return InvalidArgument("the topology's secret has 32 bytes");
  // What an earlier try may have left.
  HERON_RETURN_IF_ERROR(EndAllProcesses(Entry(request.topology_id), options_.kill_timeout));
  Status launched = MakeFolder(request, folder);
  if (launched.ok()) launched = RunSupervisor(request, folder);
  if (launched.ok()) return launched;
  const Status killed = EndAllProcesses(Entry(request.topology_id), options_.kill_timeout);
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
  fs::remove(StoppedFile(folder), error);
  return WriteFileAtomically(SecretFile(folder), request.secret, 0600);
}

// The process that is started here goes when the supervisor, which is its grandchild, has started
// all executors.
Status LocalScheduler::RunSupervisor(const LaunchRequest& request,
                                     const std::string& folder) const {
  const int64_t log_offset = heron::FileSize(SupervisorLog(folder));
  const heron::SpawnOptions command = SupervisorCommand(request, folder);
  HERON_RETURN_IF_ERROR(WriteLaunchFile(folder, {command.argv, command.environment}));
  const Result<heron::ProcessIdentity> starter = heron::SpawnProcess(command);
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
  if (ended && heron::IsLocked(SupervisorLockPath(folder))) return Status::Ok();
  std::string message =
      ended ? "the supervisor did not start" : "the supervisor did not start its executors in time";
  const std::string tail = heron::LogTail(SupervisorLog(folder), log_offset, kLogLines, kLogBytes);
  if (!tail.empty()) message += "; its log ends with: " + tail;
  return heron::Unavailable(message);
}

Status LocalScheduler::Kill(const TopologyKey& key, const std::string& topology_id) {
  HERON_RETURN_IF_ERROR(CheckNames(key, topology_id));
  StopSupervisor(LogFolder(key, topology_id), topology_id);
  return EndAllProcesses(Entry(topology_id), options_.kill_timeout);
}

Status LocalScheduler::Stop(const TopologyKey& key, const std::string& topology_id) {
  HERON_RETURN_IF_ERROR(Kill(key, topology_id));
  const std::string folder = LogFolder(key, topology_id);
  std::error_code error;
  if (!fs::exists(folder, error)) return Status::Ok();  // nowhere to say it
  return WriteFileAtomically(StoppedFile(folder), TimeText(std::time(nullptr)), 0644);
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

Status LocalScheduler::RestartContainer(const std::string& topology_id,
                                        heron::ContainerId container) {
  return Tell(topology_id, "container " + std::to_string(container),
              [container](const ProcessInfo& process) {
                return process.kind == ProcessKind::kExecutor && process.container == container;
              });
}

Status LocalScheduler::RestartTask(const std::string& topology_id, int task) {
  return Tell(topology_id, "task " + std::to_string(task), [task](const ProcessInfo& process) {
    return process.kind == ProcessKind::kInstance && process.task == task;
  });
}

Status LocalScheduler::Tell(const std::string& topology_id, const std::string& what,
                            const std::function<bool(const ProcessInfo&)>& is_meant) const {
  HERON_RETURN_IF_ERROR(CheckName("topology id", topology_id));
  bool any = false;
  for (const heron::FoundProcess& process : heron::FindProcesses(Entry(topology_id))) {
    if (!is_meant(DescribeProcess(process.command_line))) continue;
    const Status told = heron::SignalProcess(process.identity, SIGTERM);
    if (!told.ok() && told.code() != heron::StatusCode::kNotFound) return told;
    any |= told.ok();
  }
  if (any) return Status::Ok();
  return heron::FailedPrecondition(what +
                                   " has no process now; it is being started, or its "
                                   "topology is lost");
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
    processes.push_back(DescribeProcess(process.command_line));
    processes.back().pid = process.identity.pid;
    processes.back().state = process.stat.state;
  }
  return processes;
}

Result<std::vector<RunningTopology>> LocalScheduler::Running() {
  std::map<std::string, RunningTopology> found;  // by id
  const std::string entry = "HERON_CLUSTER_FOLDER=" + Canonical(options_.cluster_folder);
  for (const heron::FoundProcess& process : heron::FindProcesses(entry)) {
    const std::string id = process.EnvironmentValue("HERON_TOPOLOGY_ID");
    if (process.identity.pid == getpid() || id.empty()) continue;
    RunningTopology& topology = found[id];
    topology.topology_id = id;
    topology.key = {process.EnvironmentValue("HERON_TOPOLOGY_ROLE"),
                    process.EnvironmentValue("HERON_TOPOLOGY_ENV"),
                    process.EnvironmentValue("HERON_TOPOLOGY")};
    ++topology.processes;
  }
  std::vector<RunningTopology> running;
  for (auto& [id, topology] : found) {
    // What user code made of its environment leads nowhere.
    if (CheckNames(topology.key, id).ok()) running.push_back(std::move(topology));
  }
  return running;
}

Result<Health> LocalScheduler::Examine(const TopologyKey& key, const std::string& topology_id,
                                       const std::vector<heron::ContainerId>& containers) {
  const Result<std::vector<ProcessInfo>> processes = Processes(topology_id);
  if (!processes.ok()) return processes.status();
  const std::string folder = LogFolder(key, topology_id);
  std::ifstream stopped(StoppedFile(folder));
  std::string time;
  if (processes->empty() && std::getline(stopped, time)) {
    return Health{true, "it was stopped (heron cluster stop) at " + time};
  }
  const Result<SupervisorFile> file = ReadSupervisorFile(SupervisorFilePath(folder));
  if (file.ok() && file->topology_id == topology_id &&
      file->supervisor.boot_id != heron::BootId()) {
    return Health{true, "this machine was rebooted at " + TimeText(heron::BootUnixSeconds()) +
                            ", and nobody has started it since"};
  }
  if (processes->empty()) return Health{true, "none of its processes is alive"};
  bool supervisor = false, master = false;
  std::set<heron::ContainerId> executors;
  for (const ProcessInfo& process : *processes) {
    supervisor |= process.kind == ProcessKind::kSupervisor;
    master |= process.kind == ProcessKind::kTopologyMaster;
    if (process.kind == ProcessKind::kExecutor) executors.insert(process.container);
  }
  if (supervisor) return Health();
  if (!master && executors.count(0) == 0) {
    return Health{true, "no supervisor and no topology master are running"};
  }
  std::vector<heron::ContainerId> missing;
  for (const heron::ContainerId container : containers) {
    if (executors.count(container) == 0) missing.push_back(container);
  }
  if (missing.empty()) return Health();
  return Health{false,
                ContainersText(missing) + " no executor, and there is no supervisor to start it"};
}

}  // namespace scheduler::local
