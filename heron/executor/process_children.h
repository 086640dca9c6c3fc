// Children as processes, with their log files.
//
// Thread: the loop's, which is the main thread (children die with the thread that starts them). The
// process must be a child sub-reaper.
#pragma once

#include "heron/base/log_rotation.h"
#include "heron/base/process.h"
#include "heron/executor/child_processes.h"
#include "heron/executor/children.h"
#include "heron/executor/options.h"

namespace heron::executor {

class ProcessChildren : public Children {
 public:
  // `loop` must outlive it. Takes SIGCHLD. Rotates the executor's own log, too: a topology outlives
  // its supervisor.
  ProcessChildren(net::EventLoop& loop, const Options& options, Callbacks callbacks);
  ~ProcessChildren() override;

  Result<int64_t> Start(const Child& child, const ChildContext& context) override;
  void Signal(const ChildKey& key, int signo) override { processes_.Signal(key, signo); }
  void OnSessionGone() override { processes_.OnSessionGone(); }
  bool KillAll(Duration timeout) override { return processes_.KillAll(timeout); }

 private:
  net::EventLoop& loop_;
  const Environment environment_;  // this process's own
  ChildProcesses processes_;
  LogRotation logs_;
  net::TimerId rotation_timer_ = 0;
};

}  // namespace heron::executor
