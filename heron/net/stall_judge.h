// Decides whether a peer that takes no bytes is slow or gone. I/O-free; the connection feeds it
// what the kernel says.
#pragma once

#include <cstdint>

#include "heron/base/clock.h"
#include "heron/net/send_progress.h"

namespace heron::net {

class StallJudge {
 public:
  explicit StallJudge(Duration timeout) : timeout_(timeout) {}

  // True when nothing has moved for the timeout and the peer's TCP is silent too. A peer with a
  // zero window that answers probes is slow, however long: the probes back off to minutes, so it is
  // the unanswered ones that count.
  bool IsGone(const SendProgress& progress, MonotonicTime now);

 private:
  static constexpr uint32_t kLostTries = 3;

  Duration timeout_;
  bool watching_ = false;
  uint64_t acknowledged_bytes_ = 0;
  MonotonicTime since_{};
};

}  // namespace heron::net
