// The versions of one node of the file store: a folder with a file per version, "v." and 20 digits.
// The highest is the node's state: a value, or a tombstone when the node was deleted. Nothing is
// ever written in place and no lock is held: who links the next number first has made the next
// version. A process may be stopped between any two steps for any time.
//
// What makes that true:
//  1. A writer of version T makes its file as "t.T.RANDOM" in the folder, then lists the folder,
//     and goes on only if T-1 is the highest version and is still there after the listing. Then it
//     links the file as "v.T".
//  2. Who removes versions first lists the folder, removes the "t." files whose T is not above the
//     highest version listed, then removes old versions in ascending order, stopping at a failure.
//     So whoever could still link a number that was used and removed has lost its file, and its
//     link fails. (A "t.T" made after that listing: its writer saw T-1 after its own listing;
//     versions go in ascending order, so v.T, which was there before, was there still and listed.)
//  3. A first version is a folder made elsewhere with the version inside and renamed to its place,
//     which succeeds only while there is none or an empty one. It starts at a random number, so
//     numbers of an earlier folder do not come again.
//  4. Readers that find the file they want gone list again.
//
// Thread-safe: has no state of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heron/base/status.h"

namespace heron::state {

class VersionFolder {
 public:
  enum class State { kNone, kValue, kTombstone };
  struct Current {
    State state = State::kNone;  // kNone: never existed, or all traces were removed
    int64_t version = 0;
  };
  enum class Written { kDone, kLost };

  struct Context {
    bool sync = true;
    // Tests stop the process here.
    std::function<void(const char* step)> step;
  };

  VersionFolder(std::string path, const Context& context)
      : path_(std::move(path)), context_(context) {}

  Result<Current> ReadCurrent() const;

  // What is there now: `current`, and its value when it has one. A damaged file is kDataLoss.
  Result<Current> Read(std::string* value) const;

  // The version after `version`. kLost: somebody else was faster, look again.
  Result<Written> WriteNext(int64_t version, std::string_view value, bool tombstone) const;

  // The first version, by way of the new folder `scratch`. kLost as above, or a parent is not
  // there.
  Result<Written> WriteFirst(const std::string& scratch, std::string_view value,
                             int64_t* version) const;

  // Removes a tombstone older than this, and left-overs of writers that died. True: nothing is
  // left.
  Result<bool> Sweep(int64_t min_age_seconds) const;

  const std::string& path() const { return path_; }

 private:
  struct Listing {
    bool exists = false;
    std::vector<int64_t> versions;  // ascending
    struct Temp {
      std::string name;
      int64_t target = 0;
    };
    std::vector<Temp> temps;
  };

  Result<Listing> List() const;
  std::string VersionFile(int64_t version) const;
  // Rule 2: `listing` must have been made when `highest` was there.
  Status Remove(const Listing& listing, int64_t highest, int64_t up_to) const;
  void RemoveOldVersions(int64_t written) const;
  void Step(const char* name) const {
    if (context_.step) context_.step(name);
  }

  const std::string path_;
  const Context& context_;
};

}  // namespace heron::state
