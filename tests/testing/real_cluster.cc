#include "tests/testing/real_cluster.h"

#include <dirent.h>
#include <fcntl.h>
#include <glog/logging.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_map>

namespace heron::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string ReadWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Of /proc/PID/environ.
std::string EnvironmentValue(const std::string& environ, const std::string& key) {
  size_t at = 0;
  while (at < environ.size()) {
    size_t end = environ.find('\0', at);
    if (end == std::string::npos) end = environ.size();
    if (environ.compare(at, key.size() + 1, key + "=") == 0) {
      return environ.substr(at + key.size() + 1, end - at - key.size() - 1);
    }
    at = end + 1;
  }
  return "";
}

bool IsNumber(const char* text) {
  return *text != 0 && std::all_of(text, text + std::strlen(text), ::isdigit);
}

}  // namespace

std::vector<std::string> ListeningAddresses(int pid) {
  std::set<std::string> inodes;
  std::vector<std::string> addresses;
  for (int fd = 0; fd < 256; ++fd) {
    char target[64] = {};
    std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
    if (readlink(path.c_str(), target, sizeof target - 1) <= 0) continue;
    std::string text = target;
    if (text.rfind("socket:[", 0) == 0) inodes.insert(text.substr(8, text.size() - 9));
  }
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >>
          inode;
      if (state == "0A" && inodes.count(inode) != 0) addresses.push_back(local);
    }
  }
  return addresses;
}

CommandResult RunCommand(const std::vector<std::string>& argv,
                         const std::map<std::string, std::string>& environment,
                         milliseconds timeout) {
  int out_pipe[2], err_pipe[2];
  PCHECK(pipe2(out_pipe, O_CLOEXEC) == 0);
  PCHECK(pipe2(err_pipe, O_CLOEXEC) == 0);
  std::vector<char*> args;
  for (const auto& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  std::vector<std::string> env_text;
  for (char** e = environ; *e != nullptr; ++e) {
    std::string entry(*e);
    if (environment.count(entry.substr(0, entry.find('='))) == 0) env_text.push_back(entry);
  }
  for (const auto& [k, v] : environment) env_text.push_back(k + "=" + v);
  std::vector<char*> env;
  for (auto& e : env_text) env.push_back(e.data());
  env.push_back(nullptr);

  pid_t pid = fork();
  PCHECK(pid >= 0);
  if (pid == 0) {
    setpgid(0, 0);
    int null_fd = open("/dev/null", O_RDONLY);
    dup2(null_fd, 0);
    dup2(out_pipe[1], 1);
    dup2(err_pipe[1], 2);
    execvpe(args[0], args.data(), env.data());
    _exit(127);
  }
  close(out_pipe[1]);
  close(err_pipe[1]);
  CommandResult result;
  auto deadline = steady_clock::now() + timeout;
  struct pollfd fds[2] = {{out_pipe[0], POLLIN, 0}, {err_pipe[0], POLLIN, 0}};
  std::string* sinks[2] = {&result.out, &result.err};
  int open_fds = 2;
  while (open_fds > 0) {
    auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0) {
      result.timed_out = true;
      kill(-pid, SIGKILL);
      break;
    }
    if (poll(fds, 2, static_cast<int>(left)) < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[65536];
      ssize_t n = read(fds[i].fd, buffer, sizeof buffer);
      if (n > 0) {
        sinks[i]->append(buffer, static_cast<size_t>(n));
      } else if (n == 0 || errno != EINTR) {
        fds[i].fd = -1;
        --open_fds;
      }
    }
  }
  close(out_pipe[0]);
  close(err_pipe[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

bool Eventually(milliseconds timeout, const std::function<bool()>& condition) {
  auto deadline = steady_clock::now() + timeout;
  do {
    if (condition()) return true;
    poll(nullptr, 0, 10);
  } while (steady_clock::now() < deadline);
  return condition();
}

RealCluster::RealCluster() {
  const char* srcdir = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  CHECK(srcdir != nullptr && workspace != nullptr) << "run me through bazel test";
  runfiles_ = std::string(srcdir) + "/" + workspace;
  char name[] = "/tmp/heron-test-XXXXXX";
  PCHECK(mkdtemp(name) != nullptr);
  folder_ = name;
  root_ = folder_ + "/root";
}

RealCluster::~RealCluster() {
  for (int round = 0; round < 200; ++round) {
    auto left = Processes();
    if (left.empty()) break;
    for (const auto& p : left) kill(p.pid, SIGKILL);
    poll(nullptr, 0, 10);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string RealCluster::Program(const std::string& label) const { return runfiles_ + "/" + label; }

CommandResult RealCluster::Heron(const std::vector<std::string>& arguments, milliseconds timeout) {
  std::vector<std::string> argv = {Program("tools/cli/heron")};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::map<std::string, std::string> environment = environment_;
  environment["HERON_ROOT"] = root_;
  return RunCommand(argv, environment, timeout);
}

std::vector<LiveProcess> RealCluster::Processes(const std::string& part) const {
  std::vector<LiveProcess> found;
  DIR* proc = opendir("/proc");
  PCHECK(proc != nullptr);
  while (dirent* entry = readdir(proc)) {
    if (!IsNumber(entry->d_name)) continue;
    std::string base = std::string("/proc/") + entry->d_name;
    std::string environ_text = ReadWhole(base + "/environ");
    if (EnvironmentValue(environ_text, "HERON_ROOT") != root_) continue;
    LiveProcess p;
    p.pid = std::atoi(entry->d_name);
    p.topology_id = EnvironmentValue(environ_text, "HERON_TOPOLOGY_ID");
    p.command_line = ReadWhole(base + "/cmdline");
    std::replace(p.command_line.begin(), p.command_line.end(), '\0', ' ');
    std::string stat = ReadWhole(base + "/stat");
    size_t paren = stat.rfind(')');
    if (paren == std::string::npos || paren + 2 >= stat.size()) continue;
    p.state = stat[paren + 2];
    if (p.state == 'Z' || p.state == 'X') continue;
    if (p.command_line.find(part) == std::string::npos) continue;
    found.push_back(p);
  }
  closedir(proc);
  return found;
}

int RealCluster::PidOf(const std::vector<std::string>& parts) const {
  int pid = 0;
  for (const auto& p : Processes()) {
    bool all = std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return p.command_line.find(part) != std::string::npos;
    });
    if (!all) continue;
    if (pid != 0) return 0;
    pid = p.pid;
  }
  return pid;
}

std::string RealCluster::State(const std::string& name) {
  auto r = Heron({"topologies", name, "--output", "json"});
  std::smatch found;
  std::regex state("\"state\": *\"([A-Z]+)\"");
  return std::regex_search(r.out, found, state) ? found[1].str() : r.out + r.err;
}

int64_t RealCluster::ExecutedTuples(const std::string& name) {
  auto r = Heron({"topologies", name, "--output", "json"});
  int64_t sum = 0;
  std::regex number("\"executed\": *([0-9]+)");
  for (std::sregex_iterator it(r.out.begin(), r.out.end(), number), end; it != end; ++it) {
    sum += std::stoll((*it)[1]);
  }
  return sum;
}

std::string RealCluster::WriteFile(const std::string& name, const std::string& content) {
  std::string path = folder_ + "/" + name;
  std::ofstream out(path, std::ios::binary);
  out << content;
  CHECK(out.flush()) << path;
  return path;
}

std::string RealCluster::ReadFile(const std::string& path) { return ReadWhole(path); }

std::string RealCluster::Logs(const std::string& name) const {
  std::string all;
  std::error_code ignored;
  for (auto it = std::filesystem::recursive_directory_iterator(root_ + "/local/topologies", ignored);
       it != std::filesystem::recursive_directory_iterator(); it.increment(ignored)) {
    if (it->path().extension() != ".log") continue;
    if (it->path().string().find("/" + name + "/") == std::string::npos) continue;
    std::string text = ReadWhole(it->path());
    if (text.size() > 4000) text = "..." + text.substr(text.size() - 4000);
    all += "==== " + it->path().string() + "\n" + text + "\n";
  }
  return all;
}

std::string ExpectedWordCount(const std::string& text) {
  std::unordered_map<std::string, int64_t> counts;
  size_t at = 0;
  auto is_space = [](unsigned char c) { return c == 32 || (c >= 9 && c <= 13); };
  while (at < text.size()) {
    while (at < text.size() && is_space(static_cast<unsigned char>(text[at]))) ++at;
    size_t begin = at;
    while (at < text.size() && !is_space(static_cast<unsigned char>(text[at]))) ++at;
    if (at > begin) ++counts[text.substr(begin, at - begin)];
  }
  std::vector<std::pair<std::string, int64_t>> rows(counts.begin(), counts.end());
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::string out;
  for (const auto& [word, count] : rows) out += word + "\t" + std::to_string(count) + "\n";
  return out;
}

}  // namespace heron::testing
