// A state store in a folder, for one machine or a shared file system. Works without a server and
// without locks: see version_folder.h for how, and why a process stopped anywhere cannot break it.
//
//   ROOT/=store                says that ROOT is a store; without it the store is gone, and no
//                              node is "not found"
//   ROOT/=new/RANDOM/          first versions in the making
//   ROOT/a/b/=value/v.NUMBER   the versions of the node /a/b; the highest counts
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/state/state_store.h"

namespace heron::state {

struct FileStoreOptions {
  std::string root;  // absolute
  bool make = true;  // with its parents when it is not there
  Duration call_timeout = std::chrono::seconds(10);
  Duration watch_interval = std::chrono::milliseconds(100);
  // Off: faster, and a crash of the machine (not of a process) may lose the last writes. For tests.
  bool sync = true;
  // Traces of deleted nodes and dead writers are removed after this time.
  std::chrono::seconds sweep_age = std::chrono::hours(1);
  // Tests stop the process here; see version_folder.cc for the names.
  std::function<void(const char* step)> step;
};

// What a FileStore has above StateStore.
class FileStore : public StateStore {
 public:
  // kPermissionDenied, kFailedPrecondition (not a folder) and so on name the path.
  static Result<std::unique_ptr<FileStore>> Open(FileStoreOptions options);

  // Removes what is older than sweep_age. Runs by itself now and then while the store is written;
  // any thread.
  virtual Status Sweep() = 0;
};

}  // namespace heron::state
