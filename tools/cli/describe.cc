#include "tools/cli/describe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

namespace tools::cli {
namespace {

using heron::ErrnoStatus;
using heron::FailedPrecondition;
using heron::Result;
using heron::Status;

constexpr int kDescribeFd = 3;
constexpr int kExecErrorFd = 4;
constexpr size_t kMaxPrinted = 64 << 10;
constexpr int kShownLines = 20;
constexpr heron::Duration kDrainTime = std::chrono::milliseconds(500);

class Pipe {
 public:
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  Status Open() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "cannot make a pipe");
    // Above the numbers that the child gives to its copies.
    for (int& fd : fds) {
      const int high = fcntl(fd, F_DUPFD_CLOEXEC, 16);
      close(fd);
      fd = high;
    }
    read_ = fds[0];
    write_ = fds[1];
    if (read_ < 0 || write_ < 0) return ErrnoStatus(EMFILE, "cannot make a pipe");
    return Status::Ok();
  }
  void CloseRead() {
    if (read_ >= 0) close(std::exchange(read_, -1));
  }
  void CloseWrite() {
    if (write_ >= 0) close(std::exchange(write_, -1));
  }
  int read_ = -1;
  int write_ = -1;
};

[[noreturn]] void RunChild(const char* program, char* const* argv, const Pipe& definition,
                           const Pipe& printed, const Pipe& exec_error, pid_t parent) {
  // Only async-signal-safe calls between fork and exec.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(printed.write_, STDOUT_FILENO);
  dup2(printed.write_, STDERR_FILENO);
  dup2(definition.write_, kDescribeFd);
  dup3(exec_error.write_, kExecErrorFd, O_CLOEXEC);
  close_range(kExecErrorFd + 1, ~0U, 0);
  struct sigaction defaults = {};
  defaults.sa_handler = SIG_DFL;
  for (int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) sigaction(number, &defaults, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(program, argv);
  const int error = errno;
  ssize_t ignored = write(kExecErrorFd, &error, sizeof(error));
  (void)ignored;
  _exit(127);
}

// Reads what is there now. False at the end of the file.
bool Drain(int fd, std::string* into) {
  char buffer[1 << 16];
  const ssize_t got = read(fd, buffer, sizeof(buffer));
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  into->append(buffer, static_cast<size_t>(got));
  return got > 0;
}

std::string LastLines(const std::string& text) {
  size_t end = text.size();
  while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' ')) --end;
  size_t begin = end;
  int lines = 0;
  while (begin > 0) {
    if (text[begin - 1] == '\n' && ++lines == kShownLines) break;
    --begin;
  }
  return text.substr(begin, end - begin);
}

// A program at work; its group is killed and it is reaped at the end at the latest.
class DescribeRun {
 public:
  explicit DescribeRun(const DescribeOptions& options) : options_(options) {}
  ~DescribeRun() { KillGroupAndReap(); }

  Status Start(const std::string& program, const std::vector<std::string>& arguments);
  // Until the program has ended and its output is read, or a limit is met.
  void Collect();
  void KillGroupAndReap();

  std::string bytes;
  std::string printed;
  bool too_much = false;
  bool timed_out = false;
  bool was_interrupted = false;
  int wait_status = 0;

 private:
  bool HasEnded();  // without reaping, so that the group's number stays ours
  void ReadOnce(int wait_ms);

  const DescribeOptions& options_;
  Pipe definition_;
  Pipe printed_pipe_;
  pid_t pid_ = -1;
};

Status DescribeRun::Start(const std::string& program, const std::vector<std::string>& arguments) {
  Pipe exec_error;
  HERON_RETURN_IF_ERROR(definition_.Open());
  HERON_RETURN_IF_ERROR(printed_pipe_.Open());
  HERON_RETURN_IF_ERROR(exec_error.Open());
  std::vector<std::string> words = {program, "--heron-describe-fd=" + std::to_string(kDescribeFd),
                                    "--"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "cannot start a process");
  if (pid == 0) {
    RunChild(program.c_str(), argv.data(), definition_, printed_pipe_, exec_error, parent);
  }
  pid_ = pid;
  setpgid(pid, pid);  // whoever is first; the child does the same
  definition_.CloseWrite();
  printed_pipe_.CloseWrite();
  exec_error.CloseWrite();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(exec_error.read_, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return Status::Ok();
  if (error == ENOEXEC || error == ENOENT) {
    return heron::InvalidArgument(
        program +
        (error == ENOEXEC
             ? " has the wrong format: it is no program for this machine, and no script with #!"
             : " cannot run: the interpreter or loader that it names does not exist"));
  }
  return ErrnoStatus(error, "cannot run " + program);
}

bool DescribeRun::HasEnded() {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

void DescribeRun::ReadOnce(int wait_ms) {
  pollfd fds[2] = {{definition_.read_, POLLIN, 0}, {printed_pipe_.read_, POLLIN, 0}};
  if (poll(fds, 2, wait_ms) <= 0) return;
  if (fds[0].revents != 0 && !Drain(definition_.read_, &bytes)) definition_.CloseRead();
  if (fds[1].revents != 0 && !Drain(printed_pipe_.read_, &printed)) printed_pipe_.CloseRead();
  if (bytes.size() > options_.max_bytes) too_much = true;
  if (printed.size() > 2 * kMaxPrinted) printed.erase(0, printed.size() - kMaxPrinted);
}

void DescribeRun::Collect() {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto deadline = now() + options_.timeout;
  bool ended = false;
  while (!ended && !too_much) {
    ended = HasEnded();
    if (!ended && now() >= deadline) {
      timed_out = true;
      break;
    }
    if (options_.interrupted && options_.interrupted()) {
      was_interrupted = true;
      break;
    }
    ReadOnce(ended ? 0 : 10);
  }
  KillGroupAndReap();
  // What it wrote before its end is still in the pipes; a process that left the group could keep
  // them open.
  const auto drain_until = now() + kDrainTime;
  while (!too_much && (definition_.read_ >= 0 || printed_pipe_.read_ >= 0) && now() < drain_until) {
    ReadOnce(10);
  }
}

void DescribeRun::KillGroupAndReap() {
  if (pid_ < 0) return;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, &wait_status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string PrintedPart(const std::string& printed) {
  const std::string lines = LastLines(printed);
  return lines.empty() ? "; it printed nothing" : "; its last lines:\n" + lines;
}

}  // namespace

Status CheckProgram(const std::string& program) {
  struct stat info = {};
  if (stat(program.c_str(), &info) != 0) {
    if (errno == ENOENT) {
      std::error_code error;
      const std::string here = std::filesystem::current_path(error).string();
      return heron::NotFound("the program " + program + " does not exist" +
                             (program.front() == '/' || error ? "" : " in " + here) +
                             "; name the file that your build makes");
    }
    return ErrnoStatus(errno, "cannot look at the program " + program);
  }
  if (S_ISDIR(info.st_mode)) {
    return heron::InvalidArgument(program + " is a folder; name the program in it");
  }
  if (!S_ISREG(info.st_mode)) return heron::InvalidArgument(program + " is not a regular file");
  // Also for root, whom access(2) lets execute nothing without any x bit, but says so only here.
  if ((info.st_mode & 0111) == 0 || access(program.c_str(), X_OK) != 0) {
    return heron::InvalidArgument(program + " is not executable; try: chmod +x " + program);
  }
  if (access(program.c_str(), R_OK) != 0) {
    return heron::InvalidArgument(program + " cannot be read, but it must be copied to run");
  }
  return Status::Ok();
}

Result<Description> Describe(const std::string& program, const std::vector<std::string>& arguments,
                             const DescribeOptions& options) {
  // execv looks a bare name up nowhere; say that it is of this folder.
  const std::string path = program.find('/') == std::string::npos ? "./" + program : program;
  DescribeRun run(options);
  HERON_RETURN_IF_ERROR(run.Start(path, arguments));
  run.Collect();
  const std::string printed = PrintedPart(run.printed);
  if (run.was_interrupted) return FailedPrecondition("interrupted; nothing was submitted");
  if (run.too_much) {
    return FailedPrecondition(program + " described a topology of more than " +
                              std::to_string(options.max_bytes >> 20) + " MiB");
  }
  if (run.timed_out) {
    const std::string time = std::to_string(
        std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count());
    return heron::DeadlineExceeded(
        program +
        (!run.bytes.empty() ? " described itself but did not exit within "
                            : " did not describe itself within ") +
        time + " ms and was stopped; is work done in main() outside of the components?" + printed);
  }
  if (WIFSIGNALED(run.wait_status)) {
    const int number = WTERMSIG(run.wait_status);
    return FailedPrecondition(program + " crashed while describing itself: killed by signal " +
                              std::to_string(number) + " (" + strsignal(number) + ")" + printed);
  }
  const int code = WEXITSTATUS(run.wait_status);
  if (code != 0) {
    return FailedPrecondition(program + " refused to describe itself: it exited with code " +
                              std::to_string(code) + printed);
  }
  if (run.bytes.empty()) {
    return FailedPrecondition(program +
                              " exited without describing a topology; does its main() return "
                              "heron::Main(argc, argv, topology)?" +
                              printed);
  }
  Description description;
  description.bytes = std::move(run.bytes);
  description.printed = LastLines(run.printed);
  if (!description.topology.ParseFromString(description.bytes) ||
      description.topology.components_size() == 0) {
    return FailedPrecondition(program + " wrote " + std::to_string(description.bytes.size()) +
                              " bytes that are no topology definition; was it built for another "
                              "version of Heron?" +
                              printed);
  }
  return description;
}

}  // namespace tools::cli
