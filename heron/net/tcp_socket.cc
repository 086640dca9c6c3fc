#include "heron/net/tcp_socket.h"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "heron/net/connection.h"

namespace heron::net {
namespace {

bool SetIntOption(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

}  // namespace

Result<int> OpenTcpDescriptor(const asio::ip::tcp::endpoint& endpoint, int buffer_bytes) {
  const int fd =
      socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return ErrnoStatus(errno, "opening a TCP socket");
  bool ok = SetIntOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (buffer_bytes > 0) {
    ok = ok && SetIntOption(fd, SOL_SOCKET, SO_SNDBUF, buffer_bytes) &&
         SetIntOption(fd, SOL_SOCKET, SO_RCVBUF, buffer_bytes);
  }
  if (!ok) {
    Status status = ErrnoStatus(errno, "setting options of a TCP socket");
    close(fd);
    return status;
  }
  return fd;
}

Result<TcpSocket> AdoptDescriptor(asio::io_context& io, int fd, const asio::ip::tcp& protocol) {
  TcpSocket socket(io);
  asio::error_code ec;
  socket.assign(protocol, fd, ec);
  if (ec) {
    close(fd);
    return Internal("registering a TCP socket: " + ec.message());
  }
  socket.non_blocking(true, ec);
  if (ec) return Internal("registering a TCP socket: " + ec.message());
  return socket;
}

std::string EndpointText(const asio::ip::tcp::endpoint& endpoint) {
  return FormatHostPort(endpoint.address().to_string(), endpoint.port());
}

std::optional<asio::ip::tcp::endpoint> LiteralEndpoint(const std::string& host, uint16_t port) {
  std::string text = host;
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  asio::error_code ec;
  asio::ip::address address = asio::ip::make_address(text, ec);
  if (ec) return std::nullopt;
  return asio::ip::tcp::endpoint(address, port);
}

}  // namespace heron::net
