#include <glog/logging.h>

#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <utility>
#include <vector>

#include "heron/net/connection.h"
#include "heron/net/event_loop_impl.h"
#include "heron/net/tcp_socket.h"
#include "heron/net/tcp_stream.h"

namespace heron::net {
namespace {

using Resolver = asio::ip::basic_resolver<asio::ip::tcp, EventLoop::Impl::Executor>;

// One connect: every endpoint of the name in turn, until one answers or the deadline is over.
class ConnectAttempt final : public std::enable_shared_from_this<ConnectAttempt> {
 public:
  ConnectAttempt(EventLoop& loop, const std::string& host, uint16_t port, ConnectionOptions options,
                 Connector::OnDone on_done)
      : loop_(loop),
        host_(host),
        port_(port),
        target_(FormatHostPort(host, port)),
        options_(options),
        on_done_(std::move(on_done)),
        resolver_(loop.impl().io),
        last_error_(Unavailable("no address")) {}

  void Start(Duration timeout) {
    deadline_timer_ = loop_.RunAfter(timeout, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Finish(DeadlineExceeded("no answer in time"));
    });
    if (auto literal = LiteralEndpoint(host_, port_)) {
      endpoints_.push_back(*literal);
      // Never from inside Connect().
      asio::post(loop_.impl().io, [self = shared_from_this()] { self->TryNext(); });
      return;
    }
    resolver_.async_resolve(
        host_, std::to_string(port_), Resolver::numeric_service,
        [self = shared_from_this()](const asio::error_code& ec, Resolver::results_type results) {
          if (ec) self->last_error_ = Unavailable("name resolution: " + ec.message());
          for (const auto& result : results) self->endpoints_.push_back(result.endpoint());
          self->TryNext();
        });
  }

  void Cancel() {
    on_done_ = nullptr;
    CleanUp();
  }

 private:
  void TryNext() {
    while (on_done_ != nullptr) {
      if (next_endpoint_ == endpoints_.size()) {
        Finish(last_error_);
        return;
      }
      const asio::ip::tcp::endpoint endpoint = endpoints_[next_endpoint_++];
      Status status = BeginConnect(endpoint);
      if (status.ok()) return;
      last_error_ = status;
    }
  }

  Status BeginConnect(const asio::ip::tcp::endpoint& endpoint) {
    Result<int> fd = OpenTcpDescriptor(endpoint, options_.socket_buffer_bytes);
    if (!fd.ok()) return fd.status();
    Result<TcpSocket> socket = AdoptDescriptor(loop_.impl().io, *fd, endpoint.protocol());
    if (!socket.ok()) return socket.status();
    socket_.emplace(std::move(*socket));
    socket_->async_connect(endpoint,
                           [self = shared_from_this(), endpoint](const asio::error_code& ec) {
                             self->OnConnected(endpoint, ec);
                           });
    return Status::Ok();
  }

  void OnConnected(const asio::ip::tcp::endpoint& endpoint, const asio::error_code& ec) {
    if (on_done_ == nullptr) return;
    if (ec) {
      last_error_ = Unavailable(ec.message());
      socket_.reset();
      TryNext();
      return;
    }
    asio::error_code ignored;
    if (socket_->local_endpoint(ignored) == endpoint) {
      // The kernel chose the very port we dial as our own, and TCP connects a socket to itself:
      // nobody listens there.
      last_error_ = Unavailable("nobody listens there");
      socket_.reset();
      TryNext();
      return;
    }
    TcpSocket socket = std::move(*socket_);
    socket_.reset();
    Finish(TcpStream::MakeConnection(loop_, std::move(socket), options_, EndpointText(endpoint)));
  }

  void Finish(Result<std::unique_ptr<Connection>> result) {
    if (on_done_ == nullptr) return;
    Connector::OnDone on_done = std::exchange(on_done_, nullptr);
    CleanUp();
    if (!result.ok()) {
      on_done(result.status().WithContext("connecting to " + target_));
      return;
    }
    on_done(std::move(result));
  }

  void CleanUp() {
    loop_.CancelTimer(std::exchange(deadline_timer_, 0));
    resolver_.cancel();
    socket_.reset();
  }

  EventLoop& loop_;
  const std::string host_;
  const uint16_t port_;
  const std::string target_;
  const ConnectionOptions options_;
  Connector::OnDone on_done_;
  Resolver resolver_;
  std::vector<asio::ip::tcp::endpoint> endpoints_;
  size_t next_endpoint_ = 0;
  std::optional<TcpSocket> socket_;
  Status last_error_;
  TimerId deadline_timer_ = 0;
};

class TcpConnector final : public Connector {
 public:
  explicit TcpConnector(std::shared_ptr<ConnectAttempt> attempt) : attempt_(std::move(attempt)) {}
  ~TcpConnector() override { attempt_->Cancel(); }

 private:
  std::shared_ptr<ConnectAttempt> attempt_;
};

}  // namespace

std::unique_ptr<Connector> Connector::Connect(EventLoop& loop, const std::string& host,
                                              uint16_t port, ConnectionOptions options,
                                              Duration timeout, OnDone on_done) {
  auto attempt = std::make_shared<ConnectAttempt>(loop, host, port, options, std::move(on_done));
  attempt->Start(timeout);
  return std::make_unique<TcpConnector>(std::move(attempt));
}

}  // namespace heron::net
