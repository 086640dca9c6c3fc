#include "heron/base/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <sstream>

namespace heron {
namespace {

constexpr size_t kMaxFileBytes = 2u << 20;

std::string ProcPath(pid_t pid, std::string_view file) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(file);
}

// Files of /proc have no size; empty when they cannot be read.
std::string ReadSmallFile(const std::string& path) {
  std::string content;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return content;
  char chunk[16384];
  while (content.size() < kMaxFileBytes) {
    const ssize_t n = read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    content.append(chunk, static_cast<size_t>(n));
  }
  close(fd);
  return content;
}

std::vector<pid_t> ListPids() {
  std::vector<pid_t> pids;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  closedir(folder);
  std::sort(pids.begin(), pids.end());
  return pids;
}

std::vector<std::string> SplitAtZeros(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

Result<ProcessStat> ParseProcessStat(std::string_view text) {
  const size_t open_bracket = text.find('(');
  const size_t close_bracket = text.rfind(')');
  if (open_bracket == std::string_view::npos || close_bracket == std::string_view::npos ||
      close_bracket < open_bracket) {
    return DataLoss("process stat without a command name");
  }
  ProcessStat stat;
  std::istringstream head{std::string(text.substr(0, open_bracket))};
  std::istringstream rest{std::string(text.substr(close_bracket + 1))};
  std::string ignored;
  head >> stat.pid;
  rest >> stat.state >> stat.parent >> stat.group >> stat.session;
  // Fields 7 (tty) to 21 (itrealvalue) are of no interest; 22 is the start time.
  for (int field = 7; field <= 21; ++field) rest >> ignored;
  rest >> stat.start_ticks;
  if (!head || !rest) return DataLoss("process stat is too short");
  return stat;
}

Result<ProcessStat> ReadProcessStat(pid_t pid) {
  const std::string text = ReadSmallFile(ProcPath(pid, "stat"));
  if (text.empty()) return NotFound("process " + std::to_string(pid) + ": there is none");
  return ParseProcessStat(text);
}

const std::string& BootId() {
  static const std::string* const id = [] {
    const char* instead = std::getenv("HERON_BOOT_ID");
    if (instead != nullptr && *instead != 0) return new std::string(instead);
    auto* text = new std::string(ReadSmallFile("/proc/sys/kernel/random/boot_id"));
    while (!text->empty() && text->back() == '\n') text->pop_back();
    return text;
  }();
  return *id;
}

int64_t BootUnixSeconds() {
  std::istringstream lines(ReadSmallFile("/proc/stat"));
  int64_t seconds = 0;
  for (std::string word; lines >> word;) {
    if (word == "btime" && lines >> seconds) return seconds;
  }
  return 0;
}

Result<ProcessIdentity> IdentityOf(pid_t pid) {
  Result<ProcessStat> stat = ReadProcessStat(pid);
  if (!stat.ok()) return stat.status();
  return ProcessIdentity{pid, stat->start_ticks, BootId()};
}

bool IsAlive(const ProcessIdentity& identity) {
  if (identity.pid <= 0 || identity.boot_id != BootId()) return false;
  const Result<ProcessStat> stat = ReadProcessStat(identity.pid);
  return stat.ok() && stat->start_ticks == identity.start_ticks && stat->alive();
}

std::vector<ProcessStat> ListProcesses() {
  std::vector<ProcessStat> processes;
  for (const pid_t pid : ListPids()) {
    const Result<ProcessStat> stat = ReadProcessStat(pid);
    if (stat.ok()) processes.push_back(*stat);
  }
  return processes;
}

std::vector<ProcessStat> ListChildren(pid_t parent) {
  std::vector<ProcessStat> children = ListProcesses();
  std::erase_if(children, [parent](const ProcessStat& stat) { return stat.parent != parent; });
  return children;
}

std::vector<std::string> ReadCommandLine(pid_t pid) {
  return SplitAtZeros(ReadSmallFile(ProcPath(pid, "cmdline")));
}

std::vector<std::string> ReadEnvironment(pid_t pid) {
  return SplitAtZeros(ReadSmallFile(ProcPath(pid, "environ")));
}

bool HasEnvironmentEntry(pid_t pid, std::string_view entry) {
  const std::vector<std::string> environment = ReadEnvironment(pid);
  return std::find(environment.begin(), environment.end(), entry) != environment.end();
}

std::string FoundProcess::EnvironmentValue(std::string_view name) const {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return "";
}

std::vector<FoundProcess> FindProcesses(std::string_view entry) {
  std::vector<FoundProcess> found;
  for (const pid_t pid : ListPids()) {
    struct stat owner;
    if (stat(("/proc/" + std::to_string(pid)).c_str(), &owner) != 0) continue;
    if (owner.st_uid != geteuid()) continue;
    std::vector<std::string> environment = ReadEnvironment(pid);
    if (std::find(environment.begin(), environment.end(), entry) == environment.end()) continue;
    const Result<ProcessStat> process = ReadProcessStat(pid);
    if (!process.ok() || !process->alive()) continue;
    found.push_back({ProcessIdentity{pid, process->start_ticks, BootId()}, *process,
                     ReadCommandLine(pid), std::move(environment)});
  }
  return found;
}

}  // namespace heron
