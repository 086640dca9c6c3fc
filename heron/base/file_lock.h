// A lock by a file that says whether somebody is there: held until the holder lets go or ends,
// however it ends.
//
// Asking takes nothing, so those who ask are in nobody's way. The file stays. Threads: any.
#pragma once

#include <string>

#include "heron/base/status.h"

namespace heron {

class FileLock {
 public:
  // Makes the file. Unavailable when another one holds it; errors of the disk name the path.
  static Result<FileLock> Take(const std::string& path);
  FileLock(FileLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

// False also when there is no such file.
bool IsLocked(const std::string& path);

}  // namespace heron
