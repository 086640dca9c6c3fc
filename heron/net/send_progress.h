// How far a TCP connection's peer has come in taking what was sent to it.
#pragma once

#include <cstdint>

#include "heron/base/clock.h"

namespace heron::net {

// One look at a connection that has something to send.
struct SendProgress {
  uint64_t acknowledged_bytes = 0;      // by the peer's TCP, in the connection's life
  uint64_t unsent_bytes = 0;            // queued here or in the kernel, not acknowledged
  uint32_t unanswered_retransmits = 0;  // in a row, of bytes that the peer's window allows
  uint32_t unanswered_probes = 0;       // zero-window probes in a row without an answer
  Duration since_last_ack{0};           // since any acknowledgement came from the peer
};

// What the kernel says of a TCP socket; all zero if it says nothing.
SendProgress ReadSendProgress(int fd);

}  // namespace heron::net
