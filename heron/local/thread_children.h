// The children of an executor as threads of this process: the same servers as in processes of their
// own, each with an event loop of its own. They talk over loopback as ever.
//
// A thread cannot be killed: Signal asks, with SIGKILL too. A task whose user code does not return
// stays alive, and whoever owns the process decides about it.
//
// Thread: the executor's loop's.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "heron/api/topology_builder.h"
#include "heron/executor/children.h"
#include "heron/executor/core/child.h"
#include "heron/local/running_tasks.h"
#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"

namespace heron::local {

// What all containers of a local topology share. Any thread.
struct Shared {
  std::string secret;
  std::shared_ptr<state::StateStore> store;
  const TopologyBuilder* builder = nullptr;  // outlives it
  RunningTasks tasks;
};

class ThreadChildren : public executor::Children {
 public:
  // `loop` must outlive it.
  ThreadChildren(net::EventLoop& loop, std::shared_ptr<Shared> shared, Callbacks callbacks);
  ~ThreadChildren() override;  // ends and joins them, however long user code takes

  Result<int64_t> Start(const executor::Child& child,
                        const executor::ChildContext& context) override;
  void Signal(const executor::ChildKey& key, int signo) override;
  void OnSessionGone() override;
  bool KillAll(Duration timeout) override;

 private:
  struct Thread;

  void OnEnded(const executor::ChildKey& key);
  void TellEnds();

  net::EventLoop& loop_;
  const std::shared_ptr<Shared> shared_;
  const Callbacks callbacks_;
  std::map<executor::ChildKey, std::unique_ptr<Thread>> threads_;
  std::map<executor::ChildKey, executor::ChildEnd>
      ended_;  // their sessions are not read to the end
};

}  // namespace heron::local
