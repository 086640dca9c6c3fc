#include "heron/base/wake.h"

#include <errno.h>
#include <glog/logging.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace heron {

Wake::Wake() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  PCHECK(fd_ >= 0) << "eventfd: raise the limit of open files (ulimit -n)";
}

Wake::~Wake() { close(fd_); }

void Wake::WakeSleeper() {
  // Only the first of several notifiers writes.
  if (!armed_.exchange(false, std::memory_order_seq_cst)) return;
  uint64_t one = 1;
  while (write(fd_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void Wake::Disarm() {
  // Whoever disarmed it before us has written, or is about to; reading costs a system call only then.
  if (armed_.exchange(false, std::memory_order_seq_cst)) return;
  uint64_t count = 0;
  while (read(fd_, &count, sizeof(count)) < 0 && errno == EINTR) {
  }
}

bool Wake::Wait(Duration timeout) {
  struct pollfd entry = {fd_, POLLIN, 0};
  struct timespec limit = {};
  if (timeout >= Duration::zero()) {
    limit.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000);
  }
  return ppoll(&entry, 1, timeout < Duration::zero() ? nullptr : &limit, nullptr) > 0;
}

}  // namespace heron
