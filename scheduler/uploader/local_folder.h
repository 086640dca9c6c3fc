// Packages of a cluster whose containers see the submitter's disk: folders named by the hash of
// their content.
//
//   PACKAGES/program-SHA256/NAME          the user's program
//   PACKAGES/engine-SHA256/heron-...      the engine's executables
//   PACKAGES/.lock                        see PackagesLock
//   PACKAGES/.new-XXXXXX                  a package being written
//
// A package is complete once its folder has its final name (written and synced in a temporary
// folder, then renamed), and never changes. Any number of submits may put the same package at the
// same time.
//
// A submit holds the lock shared from before it puts packages until a stored record names them; a
// sweep holds it alone. So a sweep sees every package either named by a record or guarded by the
// lock.
//
// Threads: one. Calls block on the disk.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/status.h"

namespace scheduler {

// Held from construction until destruction (or the end of the process).
class PackagesLock {
 public:
  explicit PackagesLock(int fd) : fd_(fd) {}
  ~PackagesLock();
  PackagesLock(const PackagesLock&) = delete;
  PackagesLock& operator=(const PackagesLock&) = delete;

 private:
  const int fd_;
};

class LocalFolder {
 public:
  struct Package {
    std::string sha256;  // lower-case hex
    std::string folder;
  };
  // What stored topologies refer to.
  struct InUse {
    std::set<std::string> programs;  // sha256
    std::set<std::string> engines;
  };

  // `packages_folder` is made when the first package is put.
  explicit LocalFolder(std::string packages_folder);

  // Waits at most `timeout`: DeadlineExceeded naming the folder.
  heron::Result<std::unique_ptr<PackagesLock>> LockShared(heron::Duration timeout);
  heron::Result<std::unique_ptr<PackagesLock>> LockAlone(heron::Duration timeout);

  // Hold the lock shared. An existing package is verified, and replaced when it is damaged.
  // OutOfSpace, PermissionDenied (also a read-only disk) name the folder; nothing is left behind.
  heron::Result<Package> PutProgram(const std::string& program_path);
  heron::Result<Package> PutEngine(const std::vector<std::string>& executables);

  // Hold the lock alone. Removes packages that are not in use and what broken-off submits left.
  // Returns the names of the removed packages.
  heron::Result<std::vector<std::string>> Sweep(const InUse& in_use);

  // Where a package of this content is, if it is there.
  std::string ProgramFolder(const std::string& sha256) const;
  std::string EngineFolder(const std::string& sha256) const;

  const std::string& folder() const { return folder_; }

 private:
  heron::Result<std::unique_ptr<PackagesLock>> Lock(int operation, heron::Duration timeout);
  heron::Result<Package> Put(const std::string& kind, const std::vector<std::string>& files,
                             bool hash_names);
  heron::Status MakeFolder();

  const std::string folder_;
};

}  // namespace scheduler
