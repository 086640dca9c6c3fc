// The system calls the file store is made of, with Status instead of errno. Every message names the
// path.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heron/base/status.h"

namespace heron::state {

// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// What an operation on a file of the store found. "Gone" and "Taken" are answers, not failures.
enum class FileAnswer { kDone, kGone, kTaken };

// Makes a new file of mode 0600 with these bytes, on disk when `sync`. It is removed again when
// that fails. kNotFound: the folder is not there.
Result<FileDescriptor> WriteNewFile(const std::string& path, std::string_view head,
                                    std::string_view body, bool sync);

// The whole file; nothing when it is not there. A larger one than `max_bytes` or one that is no
// regular file is kDataLoss.
Result<std::optional<std::string>> ReadWholeFile(const std::string& path, size_t max_bytes);
// The same for a small file; of one larger than `max_bytes` an empty string.
Result<std::optional<std::string>> ReadSmallFile(const std::string& path, size_t max_bytes);

struct FolderEntry {
  std::string name;
  bool is_folder = false;  // a symbolic link is none
};
// Nothing when the folder is not there.
Result<std::optional<std::vector<FolderEntry>>> ReadFolder(const std::string& path);

// New name for the open file `temp`; exclusive. kTaken: another file has the name. kGone: `temp` or
// the folder went away. An answer that got lost on the way (a network file system) is found out by
// looking.
Result<FileAnswer> PublishFile(const FileDescriptor& file, const std::string& temp,
                               const std::string& name);

// Exclusive too: `to` must not be there or be an empty folder.
Result<FileAnswer> PublishFolder(const std::string& from, const std::string& to);

Status SyncFolder(const std::string& path);
// Mode 0700; fine when it is there already. kNotFound: the parent is not there.
Status MakeFolder(const std::string& path);
// Fine when it is not there.
Status RemoveFile(const std::string& path);
// Fine when it is not there or not empty.
Status RemoveEmptyFolder(const std::string& path);

bool Exists(const std::string& path);
// Seconds since the last change of a file, by the wall clock; 0 when it cannot be told.
int64_t AgeSeconds(const std::string& path);

}  // namespace heron::state
