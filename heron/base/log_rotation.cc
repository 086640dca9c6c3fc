#include "heron/base/log_rotation.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

namespace heron {
namespace {

constexpr size_t kBlock = 1 << 20;
// Older files than this are not looked for when the limit was lowered.
constexpr int kMostFiles = 100;
// For the end of a line that is being written.
constexpr int kLineWaits = 20;
constexpr std::chrono::microseconds kLineWait{100};

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

std::string Older(const std::string& path, int number) {
  return path + "." + std::to_string(number);
}

// Copies from *at up to `end`, or to the end of the file if that comes first; *at is then where it
// stopped.
Status Copy(int from, int to, off_t end, off_t* at) {
  const auto block = std::make_unique<char[]>(kBlock);
  while (*at < end) {
    const size_t wanted = std::min(kBlock, static_cast<size_t>(end - *at));
    const ssize_t got = pread(from, block.get(), wanted, *at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "read");
    if (got == 0) return Status::Ok();
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = write(to, block.get() + done, static_cast<size_t>(got - done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return ErrnoStatus(errno, "write");
      done += put;
    }
    *at += got;
  }
  return Status::Ok();
}

// The disk is full, or the folder cannot be written: what is old makes room.
void GiveUpOldest(const std::string& path, int fd) {
  for (int i = kMostFiles; i >= 1; --i) {
    if (unlink(Older(path, i).c_str()) == 0) return;
  }
  if (ftruncate(fd, 0) != 0) PLOG(WARNING) << "cannot truncate " << path;
}

void ShiftOlder(const std::string& path, int max_files) {
  for (int i = max_files; i <= kMostFiles && unlink(Older(path, i).c_str()) == 0; ++i) {
  }
  for (int i = max_files - 1; i >= 2; --i) {
    rename(Older(path, i - 1).c_str(), Older(path, i).c_str());  // there may be none
  }
}

bool EndsInLineEnd(int fd, off_t size) {
  char last = '\n';
  return size == 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n';
}

// What was copied, `copied` bytes, leaves the file. `to` is the copy.
Status CutFront(int fd, int to, off_t copied, off_t size) {
  // In one step under the kernel's lock of the file: writers append behind what is left.
  if (copied > 0 && fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, copied) == 0) return Status::Ok();
  // A writer that is faster than the copy does not keep it going for ever.
  const off_t end = 2 * size + static_cast<off_t>(kBlock);
  Status rest = Copy(fd, to, end, &copied);
  // Half a line: most likely a write is under way that shows page by page.
  for (int i = 0; i < kLineWaits && rest.ok() && copied < end && !EndsInLineEnd(fd, copied); ++i) {
    std::this_thread::sleep_for(kLineWait);
    rest = Copy(fd, to, end, &copied);
  }
  // Here is the gap: what comes after the last read is lost.
  if (ftruncate(fd, 0) != 0) return ErrnoStatus(errno, "truncate");
  return rest;
}

}  // namespace

Status RotateLog(const std::string& path, int max_files, bool despite_readers) {
  const Fd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info = {};
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(info.st_mode)) return FailedPrecondition(path + " is no regular file");
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && !despite_readers) {
    return FailedPrecondition(path + " is being read");
  }
  if (max_files <= 1) {
    return ftruncate(file.get(), 0) == 0 ? Status::Ok() : ErrnoStatus(errno, path);
  }
  const std::string copy = path + ".new";
  const Fd to(open(copy.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                   info.st_mode & 0777));
  // Whole blocks, and not all of the file: only those can be taken out of it.
  const off_t block = std::max<off_t>(info.st_blksize, 1);
  const off_t wanted = info.st_size == 0 ? 0 : (info.st_size - 1) / block * block;
  off_t copied = 0;
  Status status =
      to.get() < 0 ? ErrnoStatus(errno, "open") : Copy(file.get(), to.get(), wanted, &copied);
  if (status.ok()) {
    ShiftOlder(path, max_files);
    if (rename(copy.c_str(), Older(path, 1).c_str()) != 0) status = ErrnoStatus(errno, "rename");
  }
  if (!status.ok()) {
    unlink(copy.c_str());
    GiveUpOldest(path, file.get());
    return status.WithContext("cannot copy " + path);
  }
  return CutFront(file.get(), to.get(), copied, info.st_size).WithContext(path);
}

LogRotation::~LogRotation() {
  if (work_.valid()) work_.wait();
}

void LogRotation::Settle() {
  for (const std::string& path : work_.get()) ++skips_[path];
}

void LogRotation::Check() {
  if (work_.valid()) {
    if (work_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    Settle();
  }
  std::map<std::string, int> large;
  for (auto& [path, skips] : skips_) {
    struct stat info = {};
    const bool is_large =
        stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > limits_.max_bytes;
    if (is_large) {
      large[path] = skips;
    } else {
      skips = 0;
    }
  }
  if (large.empty()) return;
  work_ = std::async(std::launch::async, [large = std::move(large), files = limits_.max_files] {
    return Rotate(large, files);
  });
}

std::vector<std::string> LogRotation::Rotate(const std::map<std::string, int>& files,
                                             int max_files) {
  std::vector<std::string> held;
  for (const auto& [path, skips] : files) {
    const Status status = RotateLog(path, max_files, skips >= kMaxSkips);
    if (status.code() == StatusCode::kFailedPrecondition) {
      held.push_back(path);
    } else {
      LOG_IF(WARNING, !status.ok()) << "log rotation: " << status.ToString();
    }
  }
  return held;
}

}  // namespace heron
