// What the machine offers.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

#include "heron/base/process_table.h"
#include "tools/cli/doctor_checks.h"

namespace tools::cli {
namespace {

// A topology of a few dozen tasks.
constexpr rlim_t kWantedFiles = 1024;
constexpr rlim_t kWantedProcesses = 1024;
constexpr rlim_t kNeededFiles = 128;
constexpr rlim_t kNeededProcesses = 64;
constexpr uint64_t kWantedMemory = uint64_t{256} << 20;
constexpr long kCgroup2Magic = 0x63677270;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string LimitText(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit);
}

// Empty when a connection to a free port of 127.0.0.1 works, else what does not.
std::string TryLoopback() {
  const auto error = [](const char* what) {
    return std::string(what) + ": " + std::strerror(errno);
  };
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int dialer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  std::string problem;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || dialer < 0) {
    problem = error("cannot make a socket");
  } else if (bind(listener, raw, size) != 0 || listen(listener, 1) != 0) {
    problem = error("cannot listen on 127.0.0.1");
  } else if (getsockname(listener, raw, &size) != 0) {
    problem = error("cannot ask for the port");
  } else if (connect(dialer, raw, size) != 0 && errno != EINPROGRESS) {
    problem = error("cannot connect to 127.0.0.1");
  }
  if (listener >= 0) close(listener);
  if (dialer >= 0) close(dialer);
  return problem;
}

}  // namespace

Check CheckLoopback() {
  const std::string problem = TryLoopback();
  if (!problem.empty()) {
    return {"loopback", Verdict::kProblem, problem,
            "the processes of a topology speak over 127.0.0.1: bring the interface lo up (ip link "
            "set lo up), or allow it in the container or sandbox"};
  }
  int first = 0;
  int last = 0;
  std::istringstream range(ReadFile("/proc/sys/net/ipv4/ip_local_port_range"));
  if (range >> first >> last && last - first < 1000) {
    return {"loopback", Verdict::kWarning,
            "only the ports " + std::to_string(first) + " to " + std::to_string(last) +
                " are free to use",
            "widen net.ipv4.ip_local_port_range"};
  }
  return {"loopback", Verdict::kOk, "ports of 127.0.0.1 can be bound and connected to", ""};
}

Check CheckLimits() {
  rlimit files = {};
  rlimit processes = {};
  getrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_NPROC, &processes);
  Check check{"limits", Verdict::kOk,
              LimitText(files.rlim_cur) + " open files, " + LimitText(processes.rlim_cur) +
                  " processes and threads",
              ""};
  const bool few_files = files.rlim_cur < kWantedFiles;
  const bool few_processes = processes.rlim_cur < kWantedProcesses;
  if (few_files)
    check.remedy = "raise the limit of open files: ulimit -n " + std::to_string(kWantedFiles);
  if (few_processes) {
    check.remedy += std::string(few_files ? "; " : "") +
                    "raise the limit of processes: ulimit -u " + std::to_string(kWantedProcesses);
  }
  if (few_files || few_processes) {
    check.verdict = files.rlim_cur < kNeededFiles || processes.rlim_cur < kNeededProcesses
                        ? Verdict::kProblem
                        : Verdict::kWarning;
  }
  return check;
}

Check CheckMemory() {
  std::istringstream lines(ReadFile("/proc/meminfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("MemAvailable:", 0) != 0) continue;
    const uint64_t bytes = std::stoull(line.substr(13)) << 10;
    Check check{"memory", Verdict::kOk, std::to_string(bytes >> 20) + " MiB available", ""};
    if (bytes < kWantedMemory) {
      check.verdict = Verdict::kWarning;
      check.remedy = "a small topology takes about 100 MiB: end what needs the memory";
    }
    return check;
  }
  return {"memory", Verdict::kOk, "not known here", ""};
}

Check CheckCgroups(const std::string& cgroup) {
  struct statfs file_system = {};
  if (statfs(cgroup.c_str(), &file_system) != 0) {
    return {"cgroups", Verdict::kOk,
            "none at " + cgroup + "; containers have no limits of their own", ""};
  }
  if (file_system.f_type != kCgroup2Magic) {
    std::string writable;
    for (const char* controller : {"cpu", "memory", "pids"}) {
      const std::string folder = cgroup + "/" + controller;
      if (access(folder.c_str(), W_OK) == 0) writable += std::string(" ") + controller;
    }
    return {"cgroups", Verdict::kOk,
            "version 1 or hybrid; writable:" + (writable.empty() ? " none" : writable), ""};
  }
  // "0::/user.slice/..."
  std::string own = ReadFile("/proc/self/cgroup");
  own = own.substr(0, own.find('\n'));
  const std::string folder = cgroup + (own.starts_with("0::") ? own.substr(3) : "");
  std::string controllers = ReadFile(folder + "/cgroup.controllers");
  controllers = controllers.substr(0, controllers.find('\n'));
  const bool writable = access(folder.c_str(), W_OK) == 0;
  return {"cgroups", Verdict::kOk,
          "version 2; " + (controllers.empty() ? "no controllers" : "controllers " + controllers) +
              (writable ? ", writable" : ", not writable"),
          ""};
}

Check CheckProc() {
  if (!heron::ReadProcessStat(getpid()).ok()) {
    return {"/proc", Verdict::kProblem, "not readable",
            "kill and restarts find processes there: mount it (mount -t proc proc /proc)"};
  }
  std::istringstream mounts(ReadFile("/proc/self/mounts"));
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" /proc proc ") == std::string::npos) continue;
    const size_t at = line.find("hidepid=");
    if (at != std::string::npos && line.substr(at + 8, 1) != "0") {
      return {"/proc", Verdict::kOk, "readable, others' processes are hidden (which does no harm)",
              ""};
    }
  }
  return {"/proc", Verdict::kOk, "readable", ""};
}

Check CheckClock(const std::string& self) {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm local = {};
  localtime_r(&now, &local);
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  struct stat file = {};
  if (stat(self.c_str(), &file) == 0 && now + 24 * 3600 < file.st_mtime) {
    return {"clock", Verdict::kWarning, std::string(text) + ", before heron was installed",
            "set the clock: times in logs and of ended topologies are wrong"};
  }
  const auto before = std::chrono::steady_clock::now();
  usleep(1000);
  if (std::chrono::steady_clock::now() <= before) {
    return {"clock", Verdict::kProblem, "the monotonic clock stands still",
            "every timeout depends on it: look at the virtual machine or the sandbox"};
  }
  return {"clock", Verdict::kOk, text, ""};
}

Check CheckBootId() {
  if (heron::BootId().empty()) {
    return {"boot id", Verdict::kWarning, "the kernel tells none",
            "after a restart of the machine topologies may look alive: make "
            "/proc/sys/kernel/random/boot_id readable"};
  }
  return {"boot id", Verdict::kOk, heron::BootId(), ""};
}

}  // namespace tools::cli
