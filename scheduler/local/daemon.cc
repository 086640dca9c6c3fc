#include "scheduler/local/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "heron/base/exit_codes.h"

namespace scheduler::local {

using heron::ErrnoStatus;
using heron::Result;
using heron::Status;

namespace {

Status RedirectStreams(const std::string& log_file) {
  const int in = open("/dev/null", O_RDONLY);
  if (in < 0 || dup2(in, 0) < 0) return ErrnoStatus(errno, "/dev/null");
  if (in > 2) close(in);
  const int out = open(log_file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY, 0644);
  if (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) return ErrnoStatus(errno, log_file);
  if (out > 2) close(out);
  return Status::Ok();
}

[[noreturn]] void WaitForReady(int fd) {
  char byte = 0;
  ssize_t n;
  do {
    n = read(fd, &byte, 1);
  } while (n < 0 && errno == EINTR);
  _exit(n == 1 ? heron::kExitOk : heron::kExitError);
}

}  // namespace

DaemonStart::~DaemonStart() {
  if (fd_ >= 0) close(fd_);
}

void DaemonStart::Ready() {
  if (fd_ < 0) return;
  (void)!write(fd_, "1", 1);  // whoever waited may be gone
  close(fd_);
  fd_ = -1;
}

Result<DaemonStart> BecomeDaemon(const std::string& log_file) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child > 0) {
    close(ends[1]);
    WaitForReady(ends[0]);
  }
  close(ends[0]);
  DaemonStart start(ends[1]);
  setsid();  // a fresh child leads no process group: this succeeds
  // Not the session's leader: opening a terminal does not make it the controlling one.
  child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child > 0) _exit(heron::kExitOk);
  signal(SIGHUP, SIG_IGN);
  const Status redirected = RedirectStreams(log_file);
  if (!redirected.ok()) return redirected;
  return start;
}

}  // namespace scheduler::local
