// Starting, signalling and reaping child processes.
//
// Threads: SpawnProcess with die_with_parent only from the main thread, because PR_SET_PDEATHSIG is
// sent when the *thread* that forked ends; everything else from any. Other threads may run
// meanwhile: the child does nothing between fork and exec that is not async-signal-safe.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heron/base/process_table.h"
#include "heron/base/status.h"

namespace heron {

using Environment = std::map<std::string, std::string>;

// The environment of this process.
Environment OwnEnvironment();

struct SpawnOptions {
  // argv[0] is the file that is executed; no search in PATH, no shell.
  std::vector<std::string> argv;
  Environment environment;     // all of it, nothing is inherited
  std::string working_folder;  // empty: this process's
  std::string log_file;        // stdout and stderr, appended to; empty: /dev/null
  mode_t log_mode = 0644;      // of a log file that is made
  // The log gets this, the pid and a line end before the program runs; empty: nothing.
  std::string log_headline;
  // SIGKILL when this process's main thread ends, however it ends. A parent that was gone before
  // the child could ask for this makes the child exit with kExitParentDied.
  bool die_with_parent = true;
  // A new session, without a controlling terminal, instead of only a process group of its own.
  bool new_session = false;
};

// Starts a process: stdin is /dev/null, no descriptor above 2 is inherited, no signal is blocked,
// ignored or handled, and it leads its own process group. Returns after its exec; an exec that
// failed (missing file, not executable, missing working folder) is an error that names the file,
// and no child is left.
Result<ProcessIdentity> SpawnProcess(const SpawnOptions& options);

// Orphaned descendants become children of this process (PR_SET_CHILD_SUBREAPER).
Status SetChildSubreaper();

struct EndedChild {
  pid_t pid = 0;
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
};

// Reaps one child that has ended, known or adopted; nullopt when there is none now.
// `before_reaping` runs while the pid is still taken by the zombie: the moment to signal its
// process group without hitting a stranger.
std::optional<EndedChild> ReapChild(const std::function<void(pid_t)>& before_reaping = nullptr);

// "exited with code 1", "killed by signal 9 (Killed)".
std::string DescribeEnd(const EndedChild& ended);

// Only for a process group whose leader is an unreaped child of this process. No such group is
// success.
Status SignalGroup(pid_t group, int signo);

// Signals exactly the process that is meant, through a pidfd where the kernel has them. NotFound
// when it is gone or its pid belongs to another process now.
Status SignalProcess(const ProcessIdentity& process, int signo);

}  // namespace heron
