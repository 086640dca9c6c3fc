#include "heron/state/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>

namespace heron::state {
namespace {

// As ErrnoStatus, with the codes and remedies that fit a folder tree.
Status FileError(int error, const std::string& path) {
  Status status = ErrnoStatus(error, path);
  switch (error) {
    case ENOTDIR:
    case ELOOP:
    case EISDIR:
    case ENAMETOOLONG:
      return FailedPrecondition(status.message() +
                                " (something that is no folder is in its place)");
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ESTALE:
    case ETIMEDOUT:
      return Unavailable(status.message());
    default:
      return status;
  }
}

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return FileError(errno, path);
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return Status::Ok();
}

// Opens a regular file for reading. Not there: a descriptor of -1.
Result<FileDescriptor> OpenToRead(const std::string& path, struct stat* status) {
  // Without O_NONBLOCK a named pipe in the tree would hang the store.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT) return file;
    if (errno == ELOOP) return DataLoss(path + ": a symbolic link where a value should be");
    return FileError(errno, path);
  }
  if (::fstat(file.get(), status) != 0) return FileError(errno, path);
  if (!S_ISREG(status->st_mode)) return DataLoss(path + ": not a regular file");
  return file;
}

Result<std::string> ReadAll(int fd, size_t size, const std::string& path) {
  std::string bytes(size, '\0');
  size_t got = 0;
  while (got < size) {
    ssize_t n = ::read(fd, bytes.data() + got, size - got);
    if (n < 0) {
      if (errno == EINTR) continue;
      return FileError(errno, path);
    }
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

bool IsSameFile(const FileDescriptor& file, const std::string& name) {
  struct stat ours {};
  struct stat theirs {};
  return ::fstat(file.get(), &ours) == 0 && ::lstat(name.c_str(), &theirs) == 0 &&
         ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<FileDescriptor> WriteNewFile(const std::string& path, std::string_view head,
                                    std::string_view body, bool sync) {
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return FileError(errno, path);
  Status status = WriteAll(file.get(), head, path);
  if (status.ok()) status = WriteAll(file.get(), body, path);
  if (status.ok() && sync && ::fsync(file.get()) != 0) status = FileError(errno, path);
  if (status.ok()) return file;
  ::unlink(path.c_str());
  return status;
}

Result<std::optional<std::string>> ReadWholeFile(const std::string& path, size_t max_bytes) {
  struct stat status {};
  Result<FileDescriptor> file = OpenToRead(path, &status);
  if (!file.ok()) return file.status();
  if (file->get() < 0) return std::optional<std::string>();
  size_t size = static_cast<size_t>(status.st_size);
  if (size > max_bytes) {
    return DataLoss(path + ": " + std::to_string(size) + " bytes, more than any value has");
  }
  Result<std::string> bytes = ReadAll(file->get(), size, path);
  if (!bytes.ok()) return bytes.status();
  return std::optional<std::string>(std::move(*bytes));
}

Result<std::optional<std::string>> ReadSmallFile(const std::string& path, size_t max_bytes) {
  struct stat status {};
  Result<FileDescriptor> file = OpenToRead(path, &status);
  if (!file.ok()) return file.status();
  if (file->get() < 0) return std::optional<std::string>();
  size_t size = static_cast<size_t>(status.st_size);
  if (size > max_bytes) return std::optional<std::string>("");
  Result<std::string> bytes = ReadAll(file->get(), size, path);
  if (!bytes.ok()) return bytes.status();
  return std::optional<std::string>(std::move(*bytes));
}

Result<std::optional<std::vector<FolderEntry>>> ReadFolder(const std::string& path) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (folder == nullptr) {
    if (errno == ENOENT) return std::optional<std::vector<FolderEntry>>();
    return FileError(errno, path);
  }
  std::vector<FolderEntry> entries;
  while (true) {
    errno = 0;
    const struct dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) {
      if (errno != 0) return FileError(errno, path);
      break;
    }
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat status {};
      is_folder = ::lstat((path + "/" + name).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    }
    entries.push_back(FolderEntry{std::move(name), is_folder});
  }
  return std::optional<std::vector<FolderEntry>>(std::move(entries));
}

Result<FileAnswer> PublishFile(const FileDescriptor& file, const std::string& temp,
                               const std::string& name) {
  if (::link(temp.c_str(), name.c_str()) == 0) return FileAnswer::kDone;
  int error = errno;
  if (error == EPERM || error == EOPNOTSUPP || error == EMLINK) {
    // A file system without hard links.
    if (::renameat2(AT_FDCWD, temp.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0) {
      return FileAnswer::kDone;
    }
    error = errno;
  }
  if (IsSameFile(file, name)) return FileAnswer::kDone;
  if (error == EEXIST) return FileAnswer::kTaken;
  if (error == ENOENT) return FileAnswer::kGone;
  return FileError(error, name);
}

Result<FileAnswer> PublishFolder(const std::string& from, const std::string& to) {
  // Held open: an inode number is only good for telling folders apart while its folder cannot be freed. A sweeper may take
  // ours away, and the next one made gets the number.
  FileDescriptor held(::open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat ours {};
  if (held.get() < 0 || ::fstat(held.get(), &ours) != 0) {
    if (errno == ENOENT) return FileAnswer::kGone;
    return FileError(errno, from);
  }
  if (::rename(from.c_str(), to.c_str()) == 0) return FileAnswer::kDone;
  int error = errno;
  struct stat theirs {};
  if (::lstat(to.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
      ours.st_ino == theirs.st_ino) {
    return FileAnswer::kDone;
  }
  if (error == EEXIST || error == ENOTEMPTY) return FileAnswer::kTaken;
  if (error == ENOENT) return FileAnswer::kGone;
  return FileError(error, to);
}

Status SyncFolder(const std::string& path) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return FileError(errno, path);
  // EINVAL: a file system that has nothing to sync in a folder.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) return FileError(errno, path);
  return Status::Ok();
}

Status MakeFolder(const std::string& path) {
  struct stat status {};
  for (int tries = 0;; ++tries) {
    if (::stat(path.c_str(), &status) == 0) {
      return S_ISDIR(status.st_mode) ? Status::Ok() : FileError(ENOTDIR, path);
    }
    if (errno != ENOENT) return FileError(errno, path);
    if (::mkdir(path.c_str(), 0700) == 0) return Status::Ok();
    if (errno != EEXIST) return FileError(errno, path);
    // A link that leads nowhere, or made by somebody else just now; a sweeper may take it away again.
    if (tries == 0) continue;
    struct stat link {};
    if (::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
      return FailedPrecondition(path + ": a symbolic link that leads nowhere");
    }
    constexpr int kMostTries = 1000;
    if (tries == kMostTries) return Unavailable(path + ": others make and remove it all the time");
  }
}

Status RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return Status::Ok();
  return FileError(errno, path);
}

Status RemoveEmptyFolder(const std::string& path) {
  if (::rmdir(path.c_str()) == 0) return Status::Ok();
  if (errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) return Status::Ok();
  return FileError(errno, path);
}

bool Exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

int64_t AgeSeconds(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return 0;
  return std::max<int64_t>(0, ::time(nullptr) - status.st_mtime);
}

}  // namespace heron::state
