// A StateStore for a process with an event loop: each call runs on one worker thread, in order, and its result is posted
// back to the loop. Thread: the loop's. After destruction no callback comes; calls that were not started are dropped, and
// the destructor waits for the one that runs. Watches and leases may be destroyed before or after it; a lease is released by
// the worker thread, so destroying one does not wait for the store, and at the latest when the AsyncStore is destroyed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"

namespace heron::state {

class AsyncStore {
 public:
  // `loop` must outlive it. At most `max_pending` calls wait; further ones fail at once as Unavailable.
  AsyncStore(net::EventLoop& loop, std::shared_ptr<StateStore> store, size_t max_pending = 1024);
  ~AsyncStore();

  void Get(std::string path, std::function<void(Result<VersionedValue>)> done);
  void Create(std::string path, std::string value, std::function<void(Result<int64_t>)> done);
  void Set(std::string path, std::string value, int64_t expected_version,
           std::function<void(Result<int64_t>)> done);
  void Delete(std::string path, int64_t expected_version, std::function<void(Status)> done);
  void ReadLease(std::string path, std::function<void(Result<LeaseView>)> done);

  // As StateStore, with the callbacks in the loop's thread.
  std::unique_ptr<Watch> WatchNode(std::string path, std::function<void()> changed);
  std::unique_ptr<Lease> Contend(std::string path, LeaseOptions options, LeaseEvents events);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heron::state
