#include "heron/base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "heron/base/exit_codes.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

extern char** environ;

namespace heron {
namespace {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnedFd() { Reset(); }
  int get() const { return fd_; }
  void Reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Above 2, so that dup2 to 0, 1, 2 in the child never meets its own source (which would keep
// close-on-exec).
Result<OwnedFd> AboveStandardStreams(int fd, const std::string& what) {
  if (fd < 0) return ErrnoStatus(errno, what);
  OwnedFd original(fd);
  if (fd > 2) return original;
  OwnedFd moved(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (moved.get() < 0) return ErrnoStatus(errno, what);
  return moved;
}

enum class Step : int { kFolder, kGroup, kParentDeath, kStreams, kExec };

// What the child tells through the pipe when it could not become the program.
struct ChildFailure {
  Step step;
  int error;
};

// Everything the child needs, made before the fork.
struct ChildSetup {
  std::vector<char*> argv;
  std::vector<char*> environment;
  const char* working_folder = nullptr;
  const char* headline = nullptr;
  size_t headline_bytes = 0;
  int in = -1;
  int out = -1;
  int failure_pipe = -1;
  int max_descriptor = 0;
  pid_t parent = 0;
  bool die_with_parent = false;
  bool new_session = false;
};

// --- from here to RunChild: after fork, async-signal-safe calls only ---

[[noreturn]] void FailChild(const ChildSetup& setup, Step step, int error) {
  const ChildFailure failure{step, error};
  (void)!write(setup.failure_pipe, &failure, sizeof(failure));
  _exit(kExitError);
}

void CloseOnExecAbove2(const ChildSetup& setup) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
#endif
  for (int fd = 3; fd < setup.max_descriptor; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void WriteHeadline(const ChildSetup& setup) {
  char digits[16];
  size_t first = sizeof(digits);
  digits[--first] = '\n';
  for (pid_t rest = getpid(); rest > 0 && first > 0; rest /= 10) {
    digits[--first] = static_cast<char>('0' + rest % 10);
  }
  (void)!write(setup.out, setup.headline, setup.headline_bytes);
  (void)!write(setup.out, digits + first, sizeof(digits) - first);
}

[[noreturn]] void RunChild(const ChildSetup& setup) {
  if (setup.die_with_parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) FailChild(setup, Step::kParentDeath, errno);
    // A parent that died before the call above sends no signal any more.
    if (getppid() != setup.parent) _exit(kExitParentDied);
  }
  if (setup.new_session ? setsid() < 0 : setpgid(0, 0) != 0) FailChild(setup, Step::kGroup, errno);
  if (setup.working_folder != nullptr && chdir(setup.working_folder) != 0) {
    FailChild(setup, Step::kFolder, errno);
  }
  if (dup2(setup.in, 0) < 0 || dup2(setup.out, 1) < 0 || dup2(setup.out, 2) < 0) {
    FailChild(setup, Step::kStreams, errno);
  }
  if (setup.headline_bytes > 0) WriteHeadline(setup);
  CloseOnExecAbove2(setup);
  struct sigaction by_default;
  std::memset(&by_default, 0, sizeof(by_default));
  by_default.sa_handler = SIG_DFL;
  for (int signo = 1; signo < NSIG; ++signo) sigaction(signo, &by_default, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(setup.argv[0], setup.argv.data(), setup.environment.data());
  FailChild(setup, Step::kExec, errno);
}

// --- end of the child's code ---

Status ChildFailureStatus(const ChildFailure& failure, const SpawnOptions& options) {
  switch (failure.step) {
    case Step::kFolder:
      return ErrnoStatus(failure.error, "cannot start " + options.argv[0] + " in the folder " +
                                            options.working_folder);
    case Step::kExec:
      return ErrnoStatus(failure.error, "cannot execute " + options.argv[0]);
    default:
      return ErrnoStatus(failure.error, "cannot set up the process for " + options.argv[0]);
  }
}

// The child's failure, or Ok at end of file: exec closed the pipe.
Status ReadChildFailure(int fd, const SpawnOptions& options) {
  ChildFailure failure{};
  while (true) {
    const ssize_t n = read(fd, &failure, sizeof(failure));
    if (n < 0 && errno == EINTR) continue;
    if (n == static_cast<ssize_t>(sizeof(failure))) return ChildFailureStatus(failure, options);
    return Status::Ok();
  }
}

void WaitFor(pid_t pid) {
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Signals stay blocked over the fork: a handler of the parent (it writes into the event loop's
// pipe) must not run in the child.
pid_t ForkChild(const ChildSetup& setup) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) RunChild(setup);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

int OpenLog(const SpawnOptions& options) {
  if (options.log_file.empty()) return open("/dev/null", O_WRONLY | O_CLOEXEC);
  return open(options.log_file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
              options.log_mode);
}

}  // namespace

Environment OwnEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Result<ProcessIdentity> SpawnProcess(const SpawnOptions& options) {
  DCHECK(!options.die_with_parent || gettid() == getpid())
      << "children die with the thread that starts them";
  if (options.argv.empty()) return InvalidArgument("no program to start");
  Result<OwnedFd> in =
      AboveStandardStreams(open("/dev/null", O_RDONLY | O_CLOEXEC), "cannot open /dev/null");
  if (!in.ok()) return in.status();
  Result<OwnedFd> out =
      AboveStandardStreams(OpenLog(options), "cannot open the log file " + options.log_file);
  if (!out.ok()) return out.status();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  Result<OwnedFd> reader = AboveStandardStreams(ends[0], "pipe");
  Result<OwnedFd> writer = AboveStandardStreams(ends[1], "pipe");
  if (!reader.ok()) return reader.status();
  if (!writer.ok()) return writer.status();

  std::vector<std::string> argv = options.argv;
  std::vector<std::string> environment;
  for (const auto& [name, value] : options.environment) environment.push_back(name + "=" + value);
  ChildSetup setup;
  setup.argv = Pointers(argv);
  setup.environment = Pointers(environment);
  if (!options.working_folder.empty()) setup.working_folder = options.working_folder.c_str();
  setup.headline = options.log_headline.data();
  setup.headline_bytes = options.log_headline.size();
  setup.in = in->get();
  setup.out = out->get();
  setup.failure_pipe = writer->get();
  setup.parent = getpid();
  setup.die_with_parent = options.die_with_parent;
  setup.new_session = options.new_session;
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  setup.max_descriptor = static_cast<int>(std::min<rlim_t>(descriptors.rlim_cur, 1 << 16));

  const pid_t pid = ForkChild(setup);
  if (pid < 0) return ErrnoStatus(errno, "cannot fork for " + options.argv[0]);
  writer->Reset();
  const Status failure = ReadChildFailure(reader->get(), options);
  if (!failure.ok()) {
    WaitFor(pid);
    return failure;
  }
  // Not reaped yet, so the pid is still this child's even if it has ended.
  return IdentityOf(pid);
}

Status SetChildSubreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return ErrnoStatus(errno, "PR_SET_CHILD_SUBREAPER");
  return Status::Ok();
}

std::optional<EndedChild> ReapChild(const std::function<void(pid_t)>& before_reaping) {
  siginfo_t info;
  info.si_pid = 0;
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return std::nullopt;
  }
  if (before_reaping) before_reaping(info.si_pid);
  EndedChild ended;
  ended.pid = info.si_pid;
  if (info.si_code == CLD_EXITED) {
    ended.exit_code = info.si_status;
  } else {
    ended.signal = info.si_status;
  }
  WaitFor(ended.pid);
  return ended;
}

std::string DescribeEnd(const EndedChild& ended) {
  if (ended.signal == 0) return "exited with code " + std::to_string(ended.exit_code);
  const char* name = sigdescr_np(ended.signal);
  return "killed by signal " + std::to_string(ended.signal) + " (" +
         (name == nullptr ? "unknown" : name) + ")";
}

Status SignalGroup(pid_t group, int signo) {
  if (group <= 1) return InvalidArgument("process group " + std::to_string(group));
  if (kill(-group, signo) != 0 && errno != ESRCH) {
    return ErrnoStatus(errno, "signal to process group " + std::to_string(group));
  }
  return Status::Ok();
}

Status SignalProcess(const ProcessIdentity& process, int signo) {
  const std::string name = "process " + std::to_string(process.pid);
  if (process.pid <= 1) return InvalidArgument(name);
  OwnedFd pidfd;
#ifdef SYS_pidfd_open
  pidfd = OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
#endif
  // Checked after the open: what the descriptor holds is then the process that was checked.
  if (!IsAlive(process)) return NotFound(name + ": it has ended");
  int result = -1;
#ifdef SYS_pidfd_send_signal
  if (pidfd.get() >= 0) {
    result = static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd.get(), signo, nullptr, 0));
  } else {
    result = kill(process.pid, signo);
  }
#else
  result = kill(process.pid, signo);
#endif
  if (result == 0) return Status::Ok();
  if (errno == ESRCH) return NotFound(name + ": it has ended");
  return ErrnoStatus(errno, "signal to " + name);
}

}  // namespace heron
