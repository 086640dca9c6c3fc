// The children of a container, whatever they are: processes (process_children.h), or threads of
// this process (heron/local).
//
// Thread: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/executor/child_context.h"
#include "heron/executor/core/child.h"
#include "heron/net/event_loop.h"

namespace heron::executor {

class Children {
 public:
  struct Callbacks {
    // Once per started child, when nothing of it is alive any more. Never from inside a call.
    std::function<void(const ChildKey&, const ChildEnd&)> ended;
    // Whether the child still has a session here: its last words may be in it.
    std::function<bool(const ChildKey&)> has_session;
  };

  virtual ~Children() = default;

  // At most one of each key at a time. Its pid.
  virtual Result<int64_t> Start(const Child& child, const ChildContext& context) = 0;
  // SIGTERM asks it to end, SIGKILL ends it. Nothing if it has ended.
  virtual void Signal(const ChildKey& key, int signo) = 0;
  // A session ended: an end may be waiting for it.
  virtual void OnSessionGone() = 0;
  // Ends all of them; blocks for at most `timeout`. False if some are left.
  virtual bool KillAll(Duration timeout) = 0;
};

using MakeChildren =
    std::function<std::unique_ptr<Children>(net::EventLoop& loop, Children::Callbacks callbacks)>;

}  // namespace heron::executor
