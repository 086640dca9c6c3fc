#include "heron/net/stall_judge.h"

namespace heron::net {

bool StallJudge::IsGone(const SendProgress& progress, MonotonicTime now) {
  if (progress.unsent_bytes == 0) {
    watching_ = false;
    return false;
  }
  if (!watching_ || progress.acknowledged_bytes != acknowledged_bytes_) {
    watching_ = true;
    acknowledged_bytes_ = progress.acknowledged_bytes;
    since_ = now;
    return false;
  }
  if (now - since_ < timeout_ || progress.since_last_ack < timeout_) return false;
  return progress.unanswered_retransmits >= kLostTries || progress.unanswered_probes >= kLostTries;
}

}  // namespace heron::net
