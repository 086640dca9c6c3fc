// For tests of connections: a listener and connections to it in one loop, and a client that is a
// bare socket.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heron/net/connection.h"
#include "heron/net/loop_driver.h"

namespace heron::net {

// Notes what a connection says.
class Recorder : public Connection::Handler {
 public:
  void OnFrame(Frame frame) override {
    ++frames;
    bytes += frame.body().size();
    if (keep) kept.push_back(frame);
    if (on_frame) on_frame(frame);
  }
  void OnWritable() override {
    ++writable;
    if (on_writable) on_writable();
  }
  void OnClosed(const Status& why) override {
    ++closed;
    status = why;
    if (on_closed) on_closed();
  }

  bool keep = true;
  size_t frames = 0;
  size_t bytes = 0;
  int writable = 0;
  int closed = 0;
  Status status;
  std::deque<Frame> kept;
  std::function<void(const Frame&)> on_frame;
  std::function<void()> on_writable;
  std::function<void()> on_closed;
};

class ConnectionFixture : public ::testing::Test {
 protected:
  void StartListening(ConnectionOptions options = {}) {
    auto result = Listener::Listen(loop, "127.0.0.1", 0, options,
                                   [this](std::unique_ptr<Connection> connection) {
                                     connection->SetHandler(&server_side);
                                     server = std::move(connection);
                                   });
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    listener = std::move(*result);
  }

  void ConnectClient(ConnectionOptions options = {}) {
    Status failure;
    auto connector =
        Connector::Connect(loop, "127.0.0.1", listener->port(), options, std::chrono::seconds(10),
                           [&](Result<std::unique_ptr<Connection>> result) {
                             failure = result.status();
                             if (result.ok()) client = std::move(*result);
                           });
    ASSERT_TRUE(driver.RunUntil([&] { return (client && server) || !failure.ok(); }));
    ASSERT_TRUE(failure.ok()) << failure.ToString();
    client->SetHandler(&client_side);
  }

  void MakePair(ConnectionOptions options = {}) {
    StartListening(options);
    if (listener) ConnectClient(options);
  }

  // A connected blocking socket that is nobody's Connection.
  int BareClient() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(listener->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  static BufferSlice MakeFrame(uint16_t type, size_t body_bytes, char fill = 'x') {
    std::string bytes(kFrameHeaderBytes, '\0');
    EncodeFrameHeader({static_cast<uint32_t>(body_bytes), type}, bytes.data());
    bytes.append(body_bytes, fill);
    return BufferSlice::Take(std::move(bytes));
  }

  EventLoop loop;
  LoopDriver driver{loop};
  Recorder server_side;
  Recorder client_side;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Connection> server;
  std::unique_ptr<Connection> client;
};

}  // namespace heron::net
