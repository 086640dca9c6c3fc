#include "heron/net/send_progress.h"

// The kernel's own header: glibc's tcp_info lacks the acknowledged bytes. The two cannot be
// included together, which is why this is a file of its own.
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace heron::net {

SendProgress ReadSendProgress(int fd) {
  SendProgress progress;
  int in_kernel = 0;
  if (ioctl(fd, SIOCOUTQ, &in_kernel) == 0 && in_kernel > 0) {
    progress.unsent_bytes = static_cast<uint64_t>(in_kernel);
  }
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
    progress.acknowledged_bytes = info.tcpi_bytes_acked;
    // The kernel does not count those that it sends into a window of zero.
    progress.unanswered_retransmits = info.tcpi_retransmits;
    progress.unanswered_probes = info.tcpi_probes;
    progress.since_last_ack = std::chrono::milliseconds(info.tcpi_last_ack_recv);
  }
  return progress;
}

}  // namespace heron::net
