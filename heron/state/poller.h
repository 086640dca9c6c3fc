// Watches of a store that cannot notify: one thread looks at the watched nodes again and again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/state/state_store.h"

namespace heron::state {

// Threads: any. `signature` and the callbacks run in the poller's own thread, which starts with the
// first watch. The watches may outlive the poller; they are silent then.
class Poller {
 public:
  // A number that differs when the node differs; an error means "cannot tell now".
  using Signature = std::function<Result<int64_t>(const std::string& path)>;

  Poller(Duration interval, Signature signature);
  ~Poller();

  std::unique_ptr<Watch> Add(const std::string& path, std::function<void()> changed);
  // Look now.
  void Kick();

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace heron::state
