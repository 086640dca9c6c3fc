// The executor's hands: listens for the container's children, keeps a session to the topology
// master wherever the state store says it is, has children started, and asks ExecutorCore what to
// do.
//
// Thread: the loop's.
#pragma once

#include <memory>
#include <string>

#include "heron/base/status.h"
#include "heron/executor/children.h"
#include "heron/executor/options.h"
#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"

namespace heron::executor {

class ExecutorServer {
 public:
  // `loop` must outlive it.
  ExecutorServer(net::EventLoop& loop, Options options, std::string secret,
                 std::shared_ptr<state::StateStore> store, const MakeChildren& make_children);
  ~ExecutorServer();

  // Listens and begins; fails naming what could not be done.
  Status Start();
  // An orderly end of the container (SIGTERM).
  void Terminate();

  // Valid after the loop has ended: the executor stops its loop when nothing is left to do.
  int exit_code() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heron::executor
