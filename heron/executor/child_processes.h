// The processes of a container: starts them, reaps them and everything they leave behind, and tells
// the end of each only when nothing of it is alive any more, so that the next life can begin.
//
// Thread: the loop's, which is the main thread. The process must be a child sub-reaper.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "heron/base/process.h"
#include "heron/executor/children.h"
#include "heron/executor/core/child.h"
#include "heron/net/event_loop.h"

namespace heron::executor {

class ChildProcesses {
 public:
  // How long the end of a process waits for its session to be read to its end: its last words may
  // still be in it.
  static constexpr Duration kLastWordsTimeout = std::chrono::milliseconds(200);

  using Callbacks = Children::Callbacks;

  // `loop` must outlive it. Takes SIGCHLD.
  ChildProcesses(net::EventLoop& loop, Callbacks callbacks);
  ~ChildProcesses();

  // At most one process per key at a time. `marker` is the "NAME=VALUE" of its environment by which
  // what it leaves behind is known.
  Result<int64_t> Start(const ChildKey& key, const SpawnOptions& spawn, const std::string& marker);
  // To the process group; nothing if the process has ended.
  void Signal(const ChildKey& key, int signo);
  // A session ended: an end may be waiting for it.
  void OnSessionGone();
  // Kills all children, adopted ones too, until there are none; blocks for at most `timeout`. False
  // if some are left.
  bool KillAll(Duration timeout);

 private:
  struct Running {
    ChildKey key;
    std::string marker;
    std::string log_file;
    int64_t log_offset = 0;
  };
  struct Ended {
    Running process;
    EndedChild how;
    MonotonicTime at;
    // What it left behind; a dying process shows no environment any more.
    std::vector<ProcessIdentity> killed;
  };

  void Reap();
  void CheckEnded();
  // Kills what the process left behind. False when nothing of it is alive.
  bool KillLeftOvers(Ended& ended) const;
  ChildEnd Describe(const Ended& ended) const;

  net::EventLoop& loop_;
  const Callbacks callbacks_;
  std::map<pid_t, Running> running_;
  std::vector<Ended> ended_;
  net::TimerId check_timer_ = 0;
};

}  // namespace heron::executor
