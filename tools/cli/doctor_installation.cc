// What Heron has on this machine: its folder, its executables, its settings, its processes.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "heron/base/process_table.h"
#include "heron/base/version.h"
#include "heron/settings/cluster_config.h"
#include "heron/state/state_store.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/engine_files.h"
#include "tools/cli/records.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNeededSpace = uint64_t{64} << 20;
constexpr uint64_t kWantedSpace = uint64_t{1} << 30;
constexpr std::chrono::seconds kVersionTime(10);

// File systems on which a rename or a lock of one machine is seen late or not at all by another.
const std::map<unsigned long, const char*> kRemoteFileSystems = {{0x6969, "NFS"},
                                                                 {0xFF534D42, "CIFS"},
                                                                 {0xFE534D42, "SMB"},
                                                                 {0x65735546, "FUSE"},
                                                                 {0x01021997, "9p"}};
constexpr unsigned long kTmpfs = 0x01021994;

std::string SpaceText(uint64_t bytes) {
  return bytes >= uint64_t{10} << 30 ? std::to_string(bytes >> 30) + " GiB"
                                     : std::to_string(bytes >> 20) + " MiB";
}

fs::path NearestExisting(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path != path.parent_path()) path = path.parent_path();
  return path;
}

Check CheckRootFolder(const std::string& root) {
  Check check{"HERON_ROOT", Verdict::kOk, root, ""};
  const fs::path existing = NearestExisting(root);
  struct stat status = {};
  if (stat(existing.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return {"HERON_ROOT", Verdict::kProblem, existing.string() + " is no folder",
            "remove it, or set HERON_ROOT to another folder"};
  }
  // By trying: a quota, a full disk or a file system that takes nothing shows only so.
  std::string name = existing.string() + "/.heron-doctor.XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  const int error = file < 0 || write(file, "x", 1) != 1 ? errno : 0;
  if (file >= 0) {
    close(file);
    unlink(name.c_str());
  }
  if (error != 0) {
    return {"HERON_ROOT", Verdict::kProblem,
            heron::ErrnoStatus(error, root + ": cannot write to " + existing.string()).message(),
            error == ENOSPC || error == EDQUOT
                ? "make room, or set HERON_ROOT to another folder"
                : "let this user write there, or set HERON_ROOT to another folder"};
  }
  if (existing != root) {
    check.seen += " (the first submit makes it)";
    return check;
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    check.verdict = Verdict::kWarning;
    check.seen += ": others may write to it";
    check.remedy = "whoever writes there can run programs as you: chmod go-w " + root;
  }
  return check;
}

// "heron-executor version 0.1.0" -> "0.1.0"; what went wrong instead in `problem`.
std::string VersionOf(const std::string& program, std::string* problem) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) {
    *problem = heron::ErrnoStatus(errno, "cannot make a pipe").message();
    return "";
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
  posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
  std::string words[] = {program, "--version"};
  char* const argv[] = {words[0].data(), words[1].data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  std::string printed;
  const auto deadline = std::chrono::steady_clock::now() + kVersionTime;
  bool timed_out = false;
  while (error == 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd one = {fds[0], POLLIN, 0};
    const int ready = left.count() <= 0 ? 0 : poll(&one, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    char buffer[4096];
    const ssize_t got = ready <= 0 ? -1 : read(fds[0], buffer, sizeof(buffer));
    if (got > 0 && printed.size() < 65536) {
      printed.append(buffer, static_cast<size_t>(got));
      continue;
    }
    timed_out = got != 0;
    break;
  }
  close(fds[0]);
  if (error != 0) {
    *problem = heron::ErrnoStatus(error, "cannot start").message();
    return "";
  }
  if (timed_out) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string mark = " version ";
  const size_t at = printed.find(mark);
  if (at == std::string::npos) {
    *problem = timed_out ? "gives no answer" : "says: " + printed.substr(0, printed.find('\n'));
    return "";
  }
  const size_t begin = at + mark.size();
  return printed.substr(begin, printed.find_first_of(" \n", begin) - begin);
}

// Of /proc/PID/environ; empty when it has none.
std::string EnvironmentOf(pid_t pid, const std::string& name) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string entry; std::getline(in, entry, '\0');) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "";
}

Check CheckLeftProcesses(const std::string& root, heron::state::StateStore& store) {
  // Processes first: a topology is on record before the first of its processes starts.
  std::map<pid_t, std::pair<std::string, heron::ProcessIdentity>> found;
  for (const heron::FoundProcess& process : heron::FindProcesses("HERON_ROOT=" + root)) {
    const std::string id = EnvironmentOf(process.identity.pid, "HERON_TOPOLOGY_ID");
    if (!id.empty()) found[process.identity.pid] = {id, process.identity};
  }
  Check check{"left processes", Verdict::kOk,
              std::to_string(found.size()) + " processes of topologies, all on record", ""};
  if (found.empty()) check.seen = "none: no topology runs";
  auto keys = ListTopologies(store);
  if (!keys.ok())
    return {"left processes", Verdict::kWarning, keys.status().message(), "see the state store"};
  std::set<std::string> known;
  for (const heron::state::TopologyKey& key : *keys) {
    auto id = CurrentId(store, "", key);
    if (id.ok()) known.insert(*id);
  }
  std::string pids;
  std::set<std::string> ids;
  for (const auto& [pid, process] : found) {
    if (known.contains(process.first) || !heron::IsAlive(process.second)) continue;
    pids += " " + std::to_string(pid);
    ids.insert(process.first);
  }
  if (pids.empty()) return check;
  std::string names;
  for (const std::string& id : ids) names += (names.empty() ? "" : ", ") + id;
  return {"left processes", Verdict::kProblem,
          "processes of topologies that are not on record: " + names, "end them: kill -9" + pids};
}

}  // namespace

std::vector<Check> CheckRoot(const std::string& root) {
  std::vector<Check> checks = {CheckRootFolder(root)};
  const std::string existing = NearestExisting(root).string();
  struct statvfs space = {};
  struct statfs file_system = {};
  if (statvfs(existing.c_str(), &space) != 0 || statfs(existing.c_str(), &file_system) != 0) {
    checks.push_back({"disk", Verdict::kProblem,
                      heron::ErrnoStatus(errno, "cannot look at " + existing).message(),
                      "set HERON_ROOT to another folder"});
    return checks;
  }
  const uint64_t free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
  Check disk{"disk", Verdict::kOk, SpaceText(free_bytes) + " free for " + root, ""};
  const bool no_inodes = space.f_files > 0 && space.f_favail < 1000;
  if (free_bytes < kWantedSpace || no_inodes) {
    disk.verdict = free_bytes < kNeededSpace || no_inodes ? Verdict::kProblem : Verdict::kWarning;
    if (no_inodes) disk.seen += ", " + std::to_string(space.f_favail) + " files at most";
    disk.remedy = "make room: `heron kill` removes logs and packages of topologies that ended";
  }
  checks.push_back(disk);

  Check kind{"file system", Verdict::kOk, "a local one", ""};
  const auto type = static_cast<unsigned long>(file_system.f_type) & 0xFFFFFFFFUL;
  const auto remote = kRemoteFileSystems.find(type);
  if ((space.f_flag & ST_NOEXEC) != 0) {
    kind = {"file system", Verdict::kProblem, "mounted noexec: programs cannot be run from there",
            "set HERON_ROOT to a folder on another file system"};
  } else if (remote != kRemoteFileSystems.end()) {
    kind = {"file system", Verdict::kWarning,
            std::string(remote->second) + ": leases and locks may be late there",
            "set HERON_ROOT to a folder on a local disk"};
  } else if (type == kTmpfs) {
    kind = {"file system", Verdict::kWarning, "tmpfs: in memory, gone when the machine restarts",
            "set HERON_ROOT to a folder on a disk if topologies are to be remembered"};
  }
  checks.push_back(kind);
  return checks;
}

std::vector<Check> CheckEngine(const DoctorInputs& inputs) {
  auto files = FindEngine(inputs.self, inputs.engine_folder);
  if (!files.ok()) {
    return {{"engine", Verdict::kProblem, files.status().message(), "install Heron anew"}};
  }
  std::string wrong;
  for (const std::string& file : *files) {
    std::string problem;
    const std::string version = VersionOf(file, &problem);
    if (version == heron::kEngineVersion) continue;
    wrong += (wrong.empty() ? "" : "; ") + file + " " +
             (problem.empty() ? "has version " + version + " instead of " + heron::kEngineVersion
                              : problem);
  }
  if (!wrong.empty()) {
    return {{"engine", Verdict::kProblem, wrong,
             "install Heron anew, and the libraries it needs (README.md, \"Install\")"}};
  }
  return {{"engine", Verdict::kOk,
           "complete, version " + std::string(heron::kEngineVersion) + ", in " +
               fs::path(files->front()).parent_path().string(),
           ""}};
}

std::vector<Check> CheckConfigurationAndStore(const DoctorInputs& inputs) {
  heron::settings::ClusterConfigInputs files;
  files.config_folder = inputs.config_folder;
  files.user_file = inputs.root + "/config.yaml";
  auto config = heron::settings::ClusterConfig::Load(files);
  if (!config.ok()) {
    return {{"settings", Verdict::kProblem, config.status().message(),
             "correct the file; heron/docs/configuration.md explains the keys"}};
  }
  std::vector<Check> checks = {
      {"settings", Verdict::kOk, "understood, cluster " + config->cluster(), ""}};
  std::error_code error;
  if (!fs::exists(inputs.root, error)) {
    checks.push_back(
        {"state store", Verdict::kOk, config->state_url() + " (the first submit makes it)", ""});
    return checks;
  }
  auto store = heron::state::OpenStateStore(config->state_url());
  heron::Status reachable = store.ok() ? (*store)->List("/topologies").status() : store.status();
  if (!reachable.ok()) {
    checks.push_back({"state store", Verdict::kProblem, reachable.message(),
                      "see heron.state.url: heron config show heron.state.url"});
    return checks;
  }
  checks.push_back({"state store", Verdict::kOk, config->state_url() + " answers", ""});
  checks.push_back(CheckLeftProcesses(inputs.root, **store));
  return checks;
}

}  // namespace tools::cli
