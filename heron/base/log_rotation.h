// Keeps log files small that other processes write: FILE is moved into FILE.1, FILE.1 into FILE.2
// and so on, the oldest goes. The writers have FILE open as their standard output (O_APPEND, user
// code included) and cannot be told to open another one, so its content is moved, not the file.
//
// Nothing is lost where the file system can take a range out of a file (ext4, xfs). Elsewhere the
// content is copied until nothing more comes and FILE is truncated: what is written in the moment
// between the last read and the truncation is lost, at worst with half a line before it.
//
// A reader that follows FILE holds a shared flock on it while it reads FILE and FILE.1 (the size of
// FILE.1 is what FILE was cut by); a rotation takes it exclusively.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <string>
#include <vector>

#include "heron/base/status.h"

namespace heron {

struct LogLimits {
  int64_t max_bytes = 64 << 20;
  int max_files = 5;  // the one that is written and the older ones; 1: nothing older is kept
};

// Rotates now. FailedPrecondition while a reader holds FILE, unless `despite_readers`. On a full
// disk an older file is given up for each call, and when there is none, FILE itself.
Status RotateLog(const std::string& path, int max_files, bool despite_readers = false);

// Thread: the owner's. Rotations run on a thread of their own, one at a time: a slow disk holds up
// nobody. Between two checks a file can grow beyond the limit by what is written meanwhile.
class LogRotation {
 public:
  static constexpr std::chrono::seconds kCheckInterval{1};  // for owners
  // A reader that was stopped in the middle of a read does not stop rotations for ever.
  static constexpr int kMaxSkips = 10;

  explicit LogRotation(LogLimits limits) : limits_(limits) {}
  ~LogRotation();  // waits for rotations under way

  // Adding twice is adding once. Files are few: one per process of a container.
  void Add(const std::string& path) { skips_.emplace(path, 0); }
  void Check();

 private:
  // The files that a reader held.
  static std::vector<std::string> Rotate(const std::map<std::string, int>& files, int max_files);
  void Settle();

  const LogLimits limits_;
  std::map<std::string, int> skips_;  // by file: rotations put off in a row
  std::future<std::vector<std::string>> work_;
};

}  // namespace heron
