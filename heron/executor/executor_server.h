// The executor's hands: listens for the container's processes, keeps a session to the topology
// master wherever the state store says it is, starts and reaps processes, and asks ExecutorCore
// what to do.
//
// Thread: the loop's, which is the main thread (children die with the thread that starts them).
#pragma once

#include <memory>
#include <string>

#include "heron/base/status.h"
#include "heron/executor/options.h"
#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"

namespace heron::executor {

class ExecutorServer {
 public:
  // `loop` must outlive it. The process must be a child sub-reaper.
  ExecutorServer(net::EventLoop& loop, Options options, std::string secret,
                 std::shared_ptr<state::StateStore> store);
  ~ExecutorServer();

  // Listens and begins; fails naming what could not be done.
  Status Start();

  // Valid after the loop has ended: the executor stops its loop when nothing is left to do.
  int exit_code() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heron::executor
