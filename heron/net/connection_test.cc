#include "heron/net/connection.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heron/net/connection_fixture.h"
#include "proto/frame.pb.h"
#include "proto/handshake.pb.h"

namespace heron::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ConnectionTest : public ConnectionFixture {};

TEST_F(ConnectionTest, EchoesMessages) {
  MakePair();
  server_side.on_frame = [&](const Frame& frame) { server->SendFrame(frame.bytes); };
  proto::Refused message;
  message.set_text("there and back");
  client->Send(proto::REFUSED, message);
  ASSERT_TRUE(driver.RunUntil([&] { return client_side.frames == 1; }));
  EXPECT_EQ(client_side.kept[0].type, proto::REFUSED);
  proto::Refused back;
  ASSERT_TRUE(ParseBody(client_side.kept[0].body(), back).ok());
  EXPECT_EQ(back.text(), "there and back");
  EXPECT_NE(server->peer_address(), client->peer_address());
  EXPECT_EQ(client->peer_address(), FormatHostPort("127.0.0.1", listener->port()));
}

TEST_F(ConnectionTest, AFrameAtTheLimitPassesAndOneByteMoreClosesNamingTheLimit) {
  ConnectionOptions options;
  options.max_body_bytes = 100'000;
  MakePair(options);
  client->SendFrame(MakeFrame(20, 100'000));
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 1; }));
  EXPECT_EQ(server_side.kept[0].body().size(), 100'000u);
  client->SendFrame(MakeFrame(20, 100'001));
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.closed == 1 && client_side.closed == 1; }));
  EXPECT_EQ(server_side.frames, 1u);
  EXPECT_EQ(server_side.status.code(), StatusCode::kDataLoss);
  EXPECT_NE(server_side.status.message().find("100000"), std::string::npos);
}

TEST_F(ConnectionTest, AFrameOf8MiBArrivesWhole) {
  MakePair();
  std::string body;
  for (size_t i = 0; body.size() < (8u << 20); ++i) body += std::to_string(i);
  std::string head(kFrameHeaderBytes, '\0');
  EncodeFrameHeader({static_cast<uint32_t>(body.size()), 20}, head.data());
  client->SendFrame(BufferSlice::Take(head), BufferSlice::Copy(body));
  client->SendFrame(MakeFrame(21, 3));
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 2; }));
  EXPECT_TRUE(server_side.kept[0].body() == body);
  EXPECT_EQ(server_side.kept[1].type, 21);
  EXPECT_EQ(client->QueuedBytes(), 0u);
}

TEST_F(ConnectionTest, AHundredThousandTinyFramesArriveInOrder) {
  MakePair();
  server_side.keep = false;
  uint32_t next = 0;
  bool in_order = true;
  server_side.on_frame = [&](const Frame& frame) {
    in_order = in_order && frame.body() == std::to_string(next);
    ++next;
  };
  for (int i = 0; i < 100'000; ++i) {
    std::string head(kFrameHeaderBytes, '\0');
    std::string body = std::to_string(i);
    EncodeFrameHeader({static_cast<uint32_t>(body.size()), 20}, head.data());
    client->SendFrame(BufferSlice::Take(std::move(head)), BufferSlice::Take(std::move(body)));
  }
  ASSERT_TRUE(driver.RunUntil([&] { return next == 100'000; }));
  EXPECT_TRUE(in_order);
}

TEST_F(ConnectionTest, SendsTheCallersMemoryAndLetsItGoAfterwards) {
  MakePair();
  auto owner = std::make_shared<std::string>(MakeFrame(20, 50'000).view());
  client->SendFrame(BufferSlice(owner, owner->data(), owner->size()));
  EXPECT_EQ(owner.use_count(), 2) << "the queue shares the memory";
  EXPECT_EQ(client->QueuedBytes(), owner->size()) << "nothing is sent from inside Send";
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 1; }));
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(ConnectionTest, WhilePausedNothingIsDeliveredNotEvenWhatWasRead) {
  MakePair();
  server_side.on_frame = [&](const Frame&) {
    if (server_side.frames == 3) server->PauseReading();
  };
  for (int i = 0; i < 10; ++i) client->SendFrame(MakeFrame(20, 10));
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 3; }));
  driver.RunFor(milliseconds(20));
  EXPECT_EQ(server_side.frames, 3u);
  server->ResumeReading();
  EXPECT_EQ(server_side.frames, 3u) << "no delivery from inside ResumeReading";
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 10; }));
  // Paused and resumed within a turn changes nothing; paused again in front of the next frame holds
  // it.
  server->PauseReading();
  server->ResumeReading();
  server->PauseReading();
  client->SendFrame(MakeFrame(20, 10));
  driver.RunFor(milliseconds(20));
  EXPECT_EQ(server_side.frames, 10u);
}

TEST_F(ConnectionTest, APausedPeerHoldsTheSenderAndResumingTellsItThatThereIsRoom) {
  ConnectionOptions options;
  options.socket_buffer_bytes = 32 << 10;
  MakePair(options);
  server_side.keep = false;
  server->PauseReading();
  constexpr size_t kFrames = 400;
  for (size_t i = 0; i < kFrames; ++i) client->SendFrame(MakeFrame(20, 10'000));
  driver.RunFor(milliseconds(50));
  EXPECT_EQ(server_side.frames, 0u);
  EXPECT_GT(client->QueuedBytes(), 2'000'000u);
  EXPECT_EQ(client_side.writable, 0);
  server->ResumeReading();
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == kFrames; }));
  EXPECT_EQ(client_side.writable, 1);
  EXPECT_EQ(client->QueuedBytes(), 0u);
}

TEST_F(ConnectionTest, ASlowPeerIsNotAStalledOne) {
  ConnectionOptions options;
  options.socket_buffer_bytes = 16 << 10;
  options.stall_timeout = milliseconds(40);
  MakePair(options);
  server->PauseReading();
  client->SendFrame(MakeFrame(20, 4'000'000));
  driver.RunFor(milliseconds(600));  // many times the timeout, with a window of zero
  EXPECT_EQ(client_side.closed, 0) << client_side.status.ToString();
  server->ResumeReading();
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 1; }));
}

TEST_F(ConnectionTest, OnClosedComesOnceAndTheOtherSideHearsOfIt) {
  MakePair();
  client->Close();
  client->SendFrame(MakeFrame(20, 10));  // does nothing
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.closed == 1; }));
  driver.RunFor(milliseconds(10));
  EXPECT_EQ(server_side.closed, 1);
  EXPECT_EQ(client_side.closed, 0) << "who closes is not told";
  EXPECT_EQ(server_side.status.code(), StatusCode::kUnavailable);
}

TEST_F(ConnectionTest, WhatWasSentBeforeTheEndIsDeliveredFirst) {
  MakePair();
  for (int i = 0; i < 1000; ++i) client->SendFrame(MakeFrame(20, 1000));
  client->CloseAfterFlush();
  client->SendFrame(MakeFrame(21, 10));  // too late
  client.reset();                        // the flush goes on
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.closed == 1; }));
  EXPECT_EQ(server_side.frames, 1000u);
}

TEST_F(ConnectionTest, TheLastWordsReachAPeerThatIsStillTalking) {
  MakePair();
  // Unread bytes at our end would make the kernel send a reset that overtakes the answer.
  server_side.on_frame = [&](const Frame&) {
    server->SendFrame(MakeFrame(5, 100));
    server->CloseAfterFlush();
    server.reset();
  };
  for (int i = 0; i < 20; ++i) client->SendFrame(MakeFrame(20, 1000));
  ASSERT_TRUE(driver.RunUntil([&] { return client_side.closed == 1; }));
  ASSERT_EQ(client_side.frames, 1u);
  EXPECT_EQ(client_side.kept[0].type, 5);
}

TEST_F(ConnectionTest, ClosesAfterTheFlushAlsoWithMuchThatWasReadAndNotTaken) {
  ConnectionOptions options;
  options.read_chunk_bytes = 16 << 10;
  MakePair(options);
  server_side.on_frame = [&](const Frame&) { server->PauseReading(); };
  for (int i = 0; i < 64; ++i) client->SendFrame(MakeFrame(20, 1016));  // 16 fill the chunk
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 1; }));
  server->SendFrame(MakeFrame(5, 100));
  server->CloseAfterFlush();
  ASSERT_TRUE(driver.RunUntil([&] { return client_side.closed == 1; }));
  EXPECT_EQ(client_side.frames, 1u);
}

TEST_F(ConnectionTest, MayBeClosedOrDestroyedFromInsideItsCallbacks) {
  for (bool destroy : {false, true}) {
    for (const char* where : {"frame", "closed", "writable"}) {
      SCOPED_TRACE(std::string(where) + (destroy ? " destroy" : " close"));
      server_side = Recorder();
      client_side = Recorder();
      MakePair();
      auto end = [&, destroy](std::unique_ptr<Connection>& connection) {
        return [&connection, destroy] { destroy ? connection.reset() : connection->Close(); };
      };
      if (where == std::string("frame")) {
        server_side.on_frame = [&](const Frame&) { end(server)(); };
        for (int i = 0; i < 5; ++i) client->SendFrame(MakeFrame(20, 10));
        ASSERT_TRUE(driver.RunUntil([&] { return client_side.closed == 1; }));
        EXPECT_EQ(server_side.frames, 1u) << "a frame came after the end";
        EXPECT_EQ(server_side.closed, 0);
      } else if (where == std::string("closed")) {
        server_side.on_closed = end(server);
        client->Close();
        ASSERT_TRUE(driver.RunUntil([&] { return server_side.closed == 1; }));
      } else {
        client_side.on_writable = end(client);
        client->SendFrame(MakeFrame(20, 500'000));
        ASSERT_TRUE(driver.RunUntil([&] { return server_side.closed == 1; }));
        EXPECT_EQ(client_side.writable, 1);
      }
      driver.RunFor(milliseconds(5));
      client.reset();
      server.reset();
    }
  }
}

TEST_F(ConnectionTest, AHandlerMayHandOverToAnotherInTheMiddleOfTheStream) {
  MakePair();
  Recorder second;
  server_side.on_frame = [&](const Frame&) {
    server->SetMaxBodyBytes(1000);
    server->SetHandler(&second);
  };
  for (int i = 0; i < 3; ++i) client->SendFrame(MakeFrame(20, 10));
  client->SendFrame(MakeFrame(20, 1001));
  ASSERT_TRUE(driver.RunUntil([&] { return second.closed == 1; }));
  EXPECT_EQ(server_side.frames, 1u);
  EXPECT_EQ(second.frames, 2u);
  server.reset();
}

TEST_F(ConnectionTest, WithoutAHandlerNothingIsLost) {
  MakePair();
  server->SetHandler(nullptr);
  client->SendFrame(MakeFrame(20, 10));
  client->CloseAfterFlush();
  driver.RunFor(milliseconds(20));
  EXPECT_EQ(server_side.frames + static_cast<size_t>(server_side.closed), 0u);
  server->SetHandler(&server_side);
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.closed == 1; }));
  EXPECT_EQ(server_side.frames, 1u);
}

TEST_F(ConnectionTest, AFrameOutlivesItsConnection) {
  MakePair();
  client->SendFrame(MakeFrame(20, 5000, 'k'));
  ASSERT_TRUE(driver.RunUntil([&] { return server_side.frames == 1; }));
  server.reset();
  client.reset();
  EXPECT_EQ(server_side.kept[0].body(), std::string(5000, 'k'));
}

TEST(HostPort, ParsesAndFormats) {
  auto v4 = ParseHostPort("127.0.0.1:4711");
  ASSERT_TRUE(v4.ok());
  EXPECT_EQ(*v4, (std::pair<std::string, uint16_t>("127.0.0.1", 4711)));
  auto v6 = ParseHostPort("[::1]:65535");
  ASSERT_TRUE(v6.ok());
  EXPECT_EQ(*v6, (std::pair<std::string, uint16_t>("::1", 65535)));
  EXPECT_EQ(FormatHostPort("::1", 80), "[::1]:80");
  EXPECT_EQ(FormatHostPort("host.example", 80), "host.example:80");
  for (const char* bad : {"", "host", "host:", ":80", "host:65536", "host:-1", "host:8x", "host: 8",
                          "::1:80", "[::1]", "[]:80", "[::1:80"}) {
    auto result = ParseHostPort(bad);
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace heron::net
