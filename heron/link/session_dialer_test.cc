// How a dialer keeps a session to its callee.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heron/link/session_fixture.h"

namespace heron::link {
namespace {

using std::chrono::milliseconds;

class SessionDialerTest : public SessionFixture {};

TEST_F(SessionDialerTest, KeepsDiallingUntilTheCalleeIsThere) {
  Listen();
  const uint16_t port = listener->port();
  listener.reset();
  dialer = SessionDialer::Make(loop, DialerOptions(), &client);
  dialer->SetTarget("127.0.0.1", port, callee);
  driver.RunFor(milliseconds(150));
  EXPECT_EQ(dialer->session(), nullptr);
  auto options = ListenerOptions();
  options.port = port;
  Listen(options);
  EXPECT_TRUE(driver.RunUntil([&] { return client.present != nullptr; }));
  EXPECT_TRUE(refusals.empty());
}

TEST_F(SessionDialerTest, FollowsItsCalleeToAnotherPort) {
  BringUp();
  listener.reset();
  ASSERT_TRUE(driver.RunUntil([&] { return client.downs == 1; }));
  EXPECT_EQ(dialer->session(), nullptr);
  Listen();
  callee = MakeIdentity(proto::STREAM_MANAGER, 1, 0, {1, 0});
  dialer->SetTarget("127.0.0.1", listener->port(), callee);
  ASSERT_TRUE(driver.RunUntil([&] { return client.ups == 2 && server.ups == 2; }));
}

TEST_F(SessionDialerTest, AChangeOfAddressOrEpochDropsTheSessionTheSameAgainDoesNot) {
  BringUp();
  dialer->SetTarget("127.0.0.1", listener->port(), callee);
  driver.RunFor(milliseconds(20));
  EXPECT_EQ(client.downs, 0);
  EXPECT_EQ(dialer->session(), client.present);

  listener->SetSelf(MakeIdentity(proto::STREAM_MANAGER, 1, 0, {1, 1}));
  callee = MakeIdentity(proto::STREAM_MANAGER, 1, 0, {1, 1});
  client.inside_call = true;
  dialer->SetTarget("127.0.0.1", listener->port(), callee);
  EXPECT_EQ(dialer->session(), nullptr) << "the old one is no good from now on";
  client.inside_call = false;
  ASSERT_TRUE(driver.RunUntil([&] { return client.ups == 2; }));
  EXPECT_EQ(client.downs, 1);
  EXPECT_EQ(EpochOf(client.peer.epoch()), (Epoch{1, 1}));
}

TEST_F(SessionDialerTest, ManyChangesInARowEndWithTheLastOne) {
  BringUp();
  for (uint16_t port = 1; port < 20; ++port) dialer->SetTarget("127.0.0.1", port, callee);
  dialer->ClearTarget();
  dialer->SetTarget("127.0.0.1", listener->port(), callee);
  ASSERT_TRUE(driver.RunUntil([&] { return client.ups == 2; }));
  EXPECT_EQ(client.downs, 1);
}

TEST_F(SessionDialerTest, ClearTargetEndsTheSessionAndTheDialling) {
  BringUp();
  client.inside_call = true;
  dialer->ClearTarget();
  client.inside_call = false;
  EXPECT_EQ(dialer->session(), nullptr);
  ASSERT_TRUE(driver.RunUntil([&] { return client.downs == 1 && server.downs == 1; }));
  driver.RunFor(milliseconds(200));
  EXPECT_EQ(client.ups, 1);
  dialer->SetTarget("127.0.0.1", listener->port(), callee);
  EXPECT_TRUE(driver.RunUntil([&] { return client.ups == 2; }));
}

TEST_F(SessionDialerTest, ComesBackByItselfAfterTheSessionBroke) {
  BringUp();
  server.present->Close();
  ASSERT_TRUE(driver.RunUntil([&] { return client.ups == 2; }));
  EXPECT_EQ(client.downs, 1);
}

TEST_F(SessionDialerTest, SetSelfHoldsFromTheNextDialOn) {
  BringUp();
  dialer->SetSelf(MakeIdentity(proto::INSTANCE, 1, 7, {4, 2}));
  EXPECT_EQ(EpochOf(server.peer.epoch()), (Epoch{1, 0}));
  server.present->Close();
  ASSERT_TRUE(driver.RunUntil([&] { return server.ups == 2; }));
  EXPECT_EQ(EpochOf(server.peer.epoch()), (Epoch{4, 2}));
}

TEST_F(SessionDialerTest, MayBeDestroyedOrStoppedInOnRefused) {
  for (bool destroy : {true, false}) {
    auto listening = ListenerOptions();
    listening.admit = [](const proto::Identity&) {
      return std::optional<Refusal>({proto::NOT_WANTED, "no such task"});
    };
    Listen(listening);
    int refused = 0;
    auto options = DialerOptions();
    options.on_refused = [&](const proto::Refused& message) {
      ++refused;
      EXPECT_EQ(message.reason(), proto::NOT_WANTED);
      destroy ? dialer.reset() : dialer->ClearTarget();
    };
    dialer = Dial(options, &client);
    ASSERT_TRUE(driver.RunUntil([&] { return refused == 1; }));
    driver.RunFor(milliseconds(150));
    EXPECT_EQ(refused, 1);
    dialer.reset();
  }
}

TEST_F(SessionDialerTest, DestructionEndsTheSessionWithoutACallback) {
  BringUp();
  client.inside_call = true;
  dialer.reset();
  ASSERT_TRUE(driver.RunUntil([&] { return server.downs == 1; }));
  EXPECT_EQ(client.downs, 0);
}

// Whoever got the port of a process that is gone must not be able to stop the whole container.
TEST_F(SessionDialerTest, AStrangerCannotFence) {
  struct Stranger : net::Connection::Handler {
    void OnFrame(net::Frame) override {
      ++calls;
      connection->SendFrame(RefusedMessage(proto::FENCED, "go away").ToFrame());
      connection->CloseAfterFlush();
    }
    void OnClosed(const Status&) override {}
    std::unique_ptr<net::Connection> connection;
    int calls = 0;
  };
  std::vector<std::unique_ptr<Stranger>> strangers;
  auto listening = net::Listener::Listen(
      loop, "127.0.0.1", 0, {}, [&](std::unique_ptr<net::Connection> connection) {
        strangers.push_back(std::make_unique<Stranger>());
        strangers.back()->connection = std::move(connection);
        strangers.back()->connection->SetHandler(strangers.back().get());
      });
  ASSERT_TRUE(listening.ok());
  dialer = SessionDialer::Make(loop, DialerOptions(), &client);
  dialer->SetTarget("127.0.0.1", (*listening)->port(), callee);
  ASSERT_TRUE(driver.RunUntil([&] { return strangers.size() >= 6; }));
  EXPECT_TRUE(refusals.empty());
  dialer.reset();
}

TEST_F(SessionDialerTest, ACalleeThatNeverAnswersIsTriedAgain) {
  session_options.handshake_timeout = milliseconds(50);
  std::vector<std::unique_ptr<net::Connection>> taken;
  auto listening = net::Listener::Listen(
      loop, "127.0.0.1", 0, {},
      [&](std::unique_ptr<net::Connection> connection) { taken.push_back(std::move(connection)); });
  ASSERT_TRUE(listening.ok());
  dialer = SessionDialer::Make(loop, DialerOptions(), &client);
  dialer->SetTarget("127.0.0.1", (*listening)->port(), callee);
  EXPECT_TRUE(driver.RunUntil([&] { return taken.size() >= 9; }));
}

TEST_F(SessionDialerTest, SpeaksIPv6) {
  auto options = ListenerOptions();
  options.host = "::1";
  auto made = SessionListener::Listen(loop, options, &server);
  if (!made.ok()) GTEST_SKIP() << "no IPv6 here: " << made.status().ToString();
  listener = std::move(*made);
  dialer = SessionDialer::Make(loop, DialerOptions(), &client);
  dialer->SetTarget("::1", listener->port(), callee);
  ASSERT_TRUE(driver.RunUntil([&] { return client.present != nullptr; }));
  EXPECT_EQ(client.present->peer_address(), net::FormatHostPort("::1", listener->port()));
}

}  // namespace
}  // namespace heron::link
