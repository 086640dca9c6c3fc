// Making TCP sockets with the options all of Heron's have: close-on-exec, non-blocking,
// TCP_NODELAY, buffer sizes set before connect or listen (later the window scale is fixed). For
// heron/net only.
#pragma once

#include <asio/basic_stream_socket.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <optional>
#include <string>

#include "heron/base/status.h"

namespace heron::net {

using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

// A new socket's descriptor for connecting or listening to `endpoint`'s address family.
Result<int> OpenTcpDescriptor(const asio::ip::tcp::endpoint& endpoint, int buffer_bytes);

// Takes a descriptor over (also when it fails).
Result<TcpSocket> AdoptDescriptor(asio::io_context& io, int fd, const asio::ip::tcp& protocol);

// "127.0.0.1:4711", "[::1]:4711".
std::string EndpointText(const asio::ip::tcp::endpoint& endpoint);

// The endpoint of an address literal (brackets allowed); nothing for a name.
std::optional<asio::ip::tcp::endpoint> LiteralEndpoint(const std::string& host, uint16_t port);

}  // namespace heron::net
