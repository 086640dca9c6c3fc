#include <glog/logging.h>
#include <sys/socket.h>
#include <unistd.h>

#include <asio/basic_socket_acceptor.hpp>
#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <utility>

#include "heron/net/connection.h"
#include "heron/net/event_loop_impl.h"
#include "heron/net/tcp_socket.h"
#include "heron/net/tcp_stream.h"

namespace heron::net {
namespace {

using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, EventLoop::Impl::Executor>;

constexpr int kBacklog = 1024;
constexpr int kAcceptsPerTurn = 64;
// After "too many open files": the waiting connection stays in the backlog, so that trying at once
// would spin.
constexpr Duration kAcceptBackOff = std::chrono::milliseconds(100);

// Lives on in asio's handlers for a moment after the TcpListener is gone.
class AcceptLoop final : public std::enable_shared_from_this<AcceptLoop> {
 public:
  AcceptLoop(EventLoop& loop, ConnectionOptions options, Listener::OnAccept on_accept)
      : loop_(loop),
        options_(options),
        on_accept_(std::move(on_accept)),
        acceptor_(loop.impl().io) {}

  Status Open(const asio::ip::tcp::endpoint& endpoint) {
    Result<int> fd = OpenTcpDescriptor(endpoint, options_.socket_buffer_bytes);
    if (!fd.ok()) return fd.status();
    asio::error_code ec;
    acceptor_.assign(endpoint.protocol(), *fd, ec);
    if (ec) {
      close(*fd);
      return Internal("registering a TCP socket: " + ec.message());
    }
    acceptor_.non_blocking(true, ec);
    if (!ec) acceptor_.set_option(Acceptor::reuse_address(true), ec);
    if (!ec) acceptor_.bind(endpoint, ec);
    if (!ec) acceptor_.listen(kBacklog, ec);
    if (!ec) port_ = acceptor_.local_endpoint(ec).port();
    if (ec) return ErrnoStatus(ec.value(), "listening on " + EndpointText(endpoint));
    Wait();
    return Status::Ok();
  }

  void Close() {
    on_accept_ = nullptr;
    loop_.CancelTimer(back_off_timer_);
    asio::error_code ec;
    acceptor_.close(ec);
  }

  uint16_t port() const { return port_; }

 private:
  void Wait() {
    acceptor_.async_wait(Acceptor::wait_read,
                         [self = shared_from_this()](const asio::error_code& ec) {
                           if (!ec) self->AcceptSome();
                         });
  }

  void AcceptSome() {
    for (int i = 0; i < kAcceptsPerTurn && on_accept_ != nullptr; ++i) {
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      const int fd = accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&address),
                             &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        HandOut(fd);
        continue;
      }
      if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      BackOff(errno);
      return;
    }
    if (on_accept_ != nullptr) Wait();
  }

  void HandOut(int fd) {
    Result<TcpSocket> socket = AdoptDescriptor(loop_.impl().io, fd, protocol());
    if (!socket.ok()) {
      LOG(WARNING) << "accepted connection dropped: " << socket.status().ToString();
      return;
    }
    asio::error_code ec;
    const asio::ip::tcp::endpoint peer = socket->remote_endpoint(ec);
    if (ec) return;  // gone already
    socket->set_option(asio::ip::tcp::no_delay(true), ec);
    // A copy: the callee may destroy the listener.
    Listener::OnAccept on_accept = on_accept_;
    on_accept(TcpStream::MakeConnection(loop_, std::move(*socket), options_, EndpointText(peer)));
  }

  void BackOff(int error) {
    LOG_EVERY_N(WARNING, 50) << ErrnoStatus(error, "accepting connections on port " +
                                                       std::to_string(port_) +
                                                       " (trying again every 100 ms)")
                                    .ToString();
    back_off_timer_ = loop_.RunAfter(kAcceptBackOff, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (self != nullptr && self->on_accept_ != nullptr) self->AcceptSome();
    });
  }

  asio::ip::tcp protocol() {
    asio::error_code ec;
    return acceptor_.local_endpoint(ec).protocol();
  }

  EventLoop& loop_;
  const ConnectionOptions options_;
  Listener::OnAccept on_accept_;
  Acceptor acceptor_;
  uint16_t port_ = 0;
  TimerId back_off_timer_ = 0;
};

class TcpListener final : public Listener {
 public:
  explicit TcpListener(std::shared_ptr<AcceptLoop> accept_loop)
      : accept_loop_(std::move(accept_loop)) {}
  ~TcpListener() override { accept_loop_->Close(); }
  uint16_t port() const override { return accept_loop_->port(); }

 private:
  std::shared_ptr<AcceptLoop> accept_loop_;
};

// Blocks on a name: listening happens at start, before there is anything to hold up.
Result<asio::ip::tcp::endpoint> ResolveForListening(EventLoop& loop, const std::string& host,
                                                    uint16_t port) {
  if (auto literal = LiteralEndpoint(host, port)) return *literal;
  asio::ip::tcp::resolver resolver(loop.impl().io);
  asio::error_code ec;
  auto results = resolver.resolve(
      host, std::to_string(port),
      asio::ip::tcp::resolver::numeric_service | asio::ip::tcp::resolver::passive, ec);
  if (ec || results.empty()) {
    return InvalidArgument("cannot listen on '" + host + "': " + ec.message() +
                           "; give an address or a host name of this machine");
  }
  return results.begin()->endpoint();
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Listen(EventLoop& loop, const std::string& host,
                                                   uint16_t port, ConnectionOptions options,
                                                   OnAccept on_accept) {
  if (host.empty()) return InvalidArgument("cannot listen: no host given");
  Result<asio::ip::tcp::endpoint> endpoint = ResolveForListening(loop, host, port);
  if (!endpoint.ok()) return endpoint.status();
  auto accept_loop = std::make_shared<AcceptLoop>(loop, options, std::move(on_accept));
  HERON_RETURN_IF_ERROR(accept_loop->Open(*endpoint));
  return std::unique_ptr<Listener>(std::make_unique<TcpListener>(std::move(accept_loop)));
}

}  // namespace heron::net
