// The supervisor's hands: starts and reaps executors, adopts those that an earlier supervisor left
// and watches them, kills what a dead executor left behind, reads the state store, and asks
// SupervisorCore what to do.
//
// Thread: the loop's, which is the main thread. The process must be a child sub-reaper.
#pragma once

#include <memory>

#include "heron/base/status.h"
#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"
#include "scheduler/local/supervisor_options.h"

namespace scheduler::local {

class SupervisorServer {
 public:
  // `loop` must outlive it.
  SupervisorServer(heron::net::EventLoop& loop, SupervisorOptions options,
                   std::shared_ptr<heron::state::StateStore> store);
  ~SupervisorServer();

  // Starts all executors that do not run already. When one cannot be started: killed are those that
  // were; where some ran already, it is tried again.
  heron::Status Start();
  // Valid after the loop has ended: the supervisor stops its loop when nothing is left to do.
  int exit_code() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace scheduler::local
