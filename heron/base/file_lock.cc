#include "heron/base/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace heron {
namespace {

struct flock WholeFile() {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

// Open file description locks: unlike flock's they can be asked for without being taken, and unlike
// POSIX ones they are not lost when another descriptor of the file is closed.
Result<FileLock> FileLock::Take(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(errno, "cannot open " + path);
  FileLock held(fd);
  struct flock lock = WholeFile();
  if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return held;
  if (errno == EAGAIN || errno == EACCES) return Unavailable(path + ": another process holds it");
  return ErrnoStatus(errno, "cannot lock " + path);
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

bool IsLocked(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock lock = WholeFile();
  const bool locked = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return locked;
}

}  // namespace heron
