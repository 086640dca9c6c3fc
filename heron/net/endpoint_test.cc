// Listeners and connectors, and what hostile or dying peers do to a connection.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <time.h>

#include <filesystem>
#include <string>
#include <vector>

#include "heron/net/connection_fixture.h"

namespace heron::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class EndpointTest : public ConnectionFixture {
 protected:
  void SendBare(int fd, std::string_view bytes) {
    ASSERT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  Status ConnectTo(const std::string& host, uint16_t port, Duration timeout = seconds(10)) {
    bool done = false;
    Status status;
    auto connector = Connector::Connect(loop, host, port, {}, timeout,
                                        [&](Result<std::unique_ptr<Connection>> result) {
                                          done = true;
                                          status = result.status();
                                          if (result.ok()) client = std::move(*result);
                                        });
    EXPECT_FALSE(done) << "answered from inside Connect";
    EXPECT_TRUE(driver.RunUntil([&] { return done; }));
    return status;
  }
};

TEST_F(EndpointTest, APeerThatDiesInTheMiddleOfAFrameClosesWithoutDeliveringIt) {
  StartListening();
  for (bool reset : {false, true}) {
    server_side = Recorder();
    const int fd = BareClient();
    SendBare(fd, MakeFrame(20, 10).view());
    SendBare(fd, MakeFrame(20, 10'000).view().substr(0, 5000));
    ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 1; }));
    if (reset) {
      // As the kernel does for a killed process with unread bytes.
      linger now{1, 0};
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    close(fd);
    ASSERT_TRUE(driver.RunUntil([&] { return server_side.closed == 1; }));
    EXPECT_EQ(server_side.frames, 1u);
    EXPECT_EQ(server_side.status.code(), StatusCode::kUnavailable);
    if (!reset) {
      EXPECT_NE(server_side.status.message().find("middle of a frame"), std::string::npos);
    }
  }
}

TEST_F(EndpointTest, GarbageClosesThatConnectionAndNoOther) {
  MakePair();
  std::unique_ptr<Connection> good = std::move(server);
  const int fd = BareClient();
  ASSERT_TRUE(driver.RunUntil([&] { return server != nullptr; }));
  Recorder garbage_side;
  server->SetHandler(&garbage_side);
  SendBare(fd, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(driver.RunUntil([&] { return garbage_side.closed == 1; }));
  EXPECT_EQ(garbage_side.frames, 0u);
  client->SendFrame(MakeFrame(20, 10));
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 1; }));
  EXPECT_EQ(server_side.closed, 0);
  close(fd);
  server.reset();
}

TEST_F(EndpointTest, NoSocketIsInheritedByAChildProgram) {
  MakePair();
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (!target.starts_with("socket:") && !target.starts_with("anon_inode:")) continue;
    ++sockets;
    const int flags = fcntl(std::stoi(entry.path().filename()), F_GETFD);
    EXPECT_NE(flags & FD_CLOEXEC, 0) << entry.path() << " " << target;
  }
  EXPECT_GE(sockets, 3);
}

TEST_F(EndpointTest, ConnectingWhereNobodyListensIsAnErrorThatNamesTheTarget) {
  StartListening();
  const uint16_t port = listener->port();
  listener.reset();
  Status status = ConnectTo("127.0.0.1", port);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find(FormatHostPort("127.0.0.1", port)), std::string::npos);
}

// A dialer that tries a dead port of the ephemeral range long enough is connected to itself by TCP.
TEST_F(EndpointTest, AConnectionToItselfIsNoConnection) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  // The kernel hands out ephemeral ports of its own choice; a few tries may or may not meet this
  // one. Either way nobody listens there.
  for (int i = 0; i < 300; ++i) {
    ASSERT_FALSE(ConnectTo("127.0.0.1", ntohs(address.sin_port)).ok());
  }
}

TEST_F(EndpointTest, ResolvesNames) {
  StartListening();
  Status status = ConnectTo("localhost", listener->port());
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_FALSE(ConnectTo("no-such-host.invalid", 80).ok());
}

TEST_F(EndpointTest, SpeaksIPv6) {
  auto result = Listener::Listen(
      loop, "::1", 0, {},
      [this](std::unique_ptr<Connection> connection) { server = std::move(connection); });
  if (!result.ok()) GTEST_SKIP() << "no IPv6 here: " << result.status().ToString();
  for (const char* host : {"::1", "[::1]"}) {
    ASSERT_TRUE(ConnectTo(host, (*result)->port()).ok());
    EXPECT_EQ(client->peer_address(), FormatHostPort("::1", (*result)->port()));
  }
}

TEST_F(EndpointTest, AConnectThatIsNotAnsweredEndsAtItsDeadline) {
  // A listener whose backlog is full answers nobody.
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd, 0), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::vector<std::unique_ptr<Connection>> filling;
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) {
    status = ConnectTo("127.0.0.1", ntohs(address.sin_port), milliseconds(100));
    filling.push_back(std::move(client));
  }
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  close(fd);
}

TEST_F(EndpointTest, ACancelledConnectDoesNotCallBack) {
  StartListening();
  bool called = false;
  auto connector = Connector::Connect(loop, "127.0.0.1", listener->port(), {}, seconds(10),
                                      [&](Result<std::unique_ptr<Connection>>) { called = true; });
  connector.reset();
  driver.RunFor(milliseconds(20));
  EXPECT_FALSE(called);
}

TEST_F(EndpointTest, AConnectorAndAListenerMayBeDestroyedInTheirCallbacks) {
  auto result = Listener::Listen(loop, "127.0.0.1", 0, {}, [&](std::unique_ptr<Connection> got) {
    server = std::move(got);
    listener.reset();
  });
  ASSERT_TRUE(result.ok());
  listener = std::move(*result);
  std::unique_ptr<Connector> connector;
  connector = Connector::Connect(loop, "127.0.0.1", listener->port(), {}, seconds(10),
                                 [&](Result<std::unique_ptr<Connection>> got) {
                                   if (got.ok()) client = std::move(*got);
                                   connector.reset();
                                 });
  EXPECT_TRUE(driver.RunUntil([&] { return client && server && !connector && !listener; }));
}

TEST_F(EndpointTest, APortThatIsTakenIsAnErrorThatNamesIt) {
  StartListening();
  auto second =
      Listener::Listen(loop, "127.0.0.1", listener->port(), {}, [](std::unique_ptr<Connection>) {});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find(std::to_string(listener->port())), std::string::npos);
  // And free again, at once, after its listener has gone, although a connection of it lingers.
  const uint16_t port = listener->port();
  ConnectClient();
  listener.reset();
  server.reset();
  client.reset();
  auto third = Listener::Listen(loop, "127.0.0.1", port, {}, [](std::unique_ptr<Connection>) {});
  EXPECT_TRUE(third.ok()) << third.status().ToString();
}

TEST_F(EndpointTest, OutOfDescriptorsItWaitsWithoutSpinningAndThenAccepts) {
  StartListening();
  const int fd = BareClient();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  auto cpu_ms = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
  };
  const auto cpu_before = cpu_ms();
  driver.RunFor(milliseconds(500));
  const auto cpu_used = cpu_ms() - cpu_before;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(server, nullptr);
  EXPECT_LT(cpu_used, 250) << "of 500 ms";
  EXPECT_TRUE(driver.RunUntil([&] { return server != nullptr; }));
  close(fd);
}

}  // namespace
}  // namespace heron::net
