// Starts a new supervisor when the one of this topology has died, so that a local cluster heals
// with nobody at the keyboard. Every executor watches; whichever supervisor gets the lock first
// stays, the others leave.
//
// Thread: the loop's, which is the main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/ids.h"
#include "heron/net/event_loop.h"
#include "heron/state/async_store.h"
#include "heron/state/paths.h"
#include "heron/state/store_look.h"

namespace heron::executor {

class SupervisorWatch {
 public:
  struct Options {
    std::string supervisor_folder;  // with "supervisor.lock" and what --resume reads
    std::string supervisor;         // the executable
    state::TopologyKey key;
    std::string topology_id;
    ContainerId container = 0;
  };

  // `ending`: this executor stops, nothing is to be started any more.
  SupervisorWatch(net::EventLoop& loop, state::AsyncStore& store, Options options,
                  std::function<bool()> ending);
  ~SupervisorWatch();

 private:
  void Look();
  void Start();

  net::EventLoop& loop_;
  state::StoreLook store_look_;
  const Options options_;
  const std::function<bool()> ending_;
  const std::string lock_;
  net::TimerId timer_ = 0;
  std::optional<MonotonicTime> gone_since_;
  MonotonicTime next_start_{};
  Duration delay_{};
};

}  // namespace heron::executor
