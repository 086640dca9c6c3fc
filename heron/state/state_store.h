// The state store: a small tree of versioned values. Plans and wishes live here; see proto/state.proto for the nodes.
//
// Paths look like "/pplans/role/env/name": absolute, components of [A-Za-z0-9_.@-]+ that are not "." or "..", at most
// 1024 bytes. Values are at most 64 MiB. A version is opaque: it changes with every write, never repeats on a path (not
// even after delete and create), and is only good for a conditional write.
//
// Threads: all methods may be called from any thread; they block for as long as the store takes, at most
// options.call_timeout, then fail as Unavailable. Processes with an event loop go through state::AsyncStore.
// Callbacks of watches and leases come from a thread of the store: copy and post.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/status.h"

namespace heron::state {

inline constexpr int64_t kAnyVersion = -1;

struct VersionedValue {
  std::string value;
  int64_t version = 0;
};

// Destroying it ends the watch; no callback runs after the destructor returned.
class Watch {
 public:
  virtual ~Watch() = default;
};

struct LeaseOptions {
  std::string payload;                                  // what readers find, e.g. a MasterLocation
  Duration lease = std::chrono::milliseconds(1000);     // unchanged for this long: may be taken over
};

struct LeaseEvents {
  // This holder has the lease with this epoch, higher than any before. Also after a re-gain.
  std::function<void(uint64_t epoch)> on_gained;
  // It may not act as the holder any more. It keeps contending.
  std::function<void()> on_lost;
};

// Contends from construction until destruction, which releases a held lease. Renews every third of the lease time and
// checks its own lateness: a holder that could not renew in time counts as having lost it.
class Lease {
 public:
  virtual ~Lease() = default;
  virtual void SetPayload(std::string payload) = 0;  // written with the next renewal, at once if held
  // Any thread. Whether the caller may act as the holder now, by a look at the clock: false also before on_lost was
  // delivered, after the process was stopped for a while say. An implementation that cannot tell says false.
  virtual bool Held() const { return false; }
};

struct LeaseView {
  std::string payload;
  uint64_t epoch = 0;
  uint64_t counter = 0;
  bool released = false;
};

class StateStore {
 public:
  virtual ~StateStore() = default;

  virtual Result<VersionedValue> Get(const std::string& path) = 0;  // kNotFound
  // Exclusive. Makes the parents as needed (parents have no value). Returns the version. kAlreadyExists.
  virtual Result<int64_t> Create(const std::string& path, const std::string& value) = 0;
  // Conditional on the version. Returns the new one. kVersionMismatch, kNotFound.
  virtual Result<int64_t> Set(const std::string& path, const std::string& value,
                              int64_t expected_version) = 0;
  // kNotFound, kVersionMismatch.
  virtual Status Delete(const std::string& path, int64_t expected_version) = 0;
  // Names of the children that have a value or children of their own, sorted. An unknown path has none.
  virtual Result<std::vector<std::string>> List(const std::string& path) = 0;

  // Calls `changed` soon after the node's value was created, changed or deleted (several changes may be one call), and
  // once after it was set up. It is a hint: read again.
  virtual std::unique_ptr<Watch> WatchNode(const std::string& path,
                                           std::function<void()> changed) = 0;

  virtual std::unique_ptr<Lease> Contend(const std::string& path, LeaseOptions options,
                                         LeaseEvents events) = 0;
  // Of a lease node. kNotFound when nobody ever held it.
  virtual Result<LeaseView> ReadLease(const std::string& path) = 0;
};

// "file:/abs/path"; "memory:" (a new, empty one) and "memory:NAME" (shared by all who open that name in this process);
// "zookeeper:..." comes with its own issue. A wrong one names the known kinds. Watches and leases end before their store.
// kNo: a folder that is not there is not made; each call then answers Unavailable, as when it is removed later.
enum class MakeStore { kNo, kYes };
Result<std::unique_ptr<StateStore>> OpenStateStore(const std::string& url, MakeStore make = MakeStore::kYes);
// False only when there surely is none.
bool StateStoreExists(const std::string& url);

}  // namespace heron::state
