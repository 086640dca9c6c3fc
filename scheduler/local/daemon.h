// Turning a process into a daemon.
#pragma once

#include <string>

#include "heron/base/status.h"

namespace scheduler::local {

// The way back to the process that was started by hand: it waits until Ready() and then exits with
// code 0, or with kExitError when this process ends without.
class DaemonStart {
 public:
  explicit DaemonStart(int fd) : fd_(fd) {}
  DaemonStart(DaemonStart&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  DaemonStart& operator=(DaemonStart&&) = delete;
  ~DaemonStart();
  void Ready();

 private:
  int fd_;
};

// Returns in a new process: in a session of its own, without a controlling terminal, not its
// leader, stdin from /dev/null, stdout and stderr appended to the log, SIGHUP ignored. The calling
// process never returns. Before any thread is started.
heron::Result<DaemonStart> BecomeDaemon(const std::string& log_file);

}  // namespace scheduler::local
