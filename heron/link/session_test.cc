// Sessions that work: lanes, heartbeats, displacement, the end.
#include "heron/link/session.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "heron/link/session_fixture.h"

namespace heron::link {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SessionTest : public SessionFixture {};

proto::Heartbeat Number(uint64_t n) {
  proto::Heartbeat message;
  message.set_number(n);
  return message;
}

TEST_F(SessionTest, BothSidesKnowEachOtherAndEveryLaneCarriesFrames) {
  BringUp();
  EXPECT_EQ(server.peer.task(), 7);
  EXPECT_EQ(client.peer.role(), proto::STREAM_MANAGER);
  EXPECT_EQ(dialer->session(), client.present);
  server.on_frame = [](Session& session, proto::Lane lane, const net::Frame& frame) {
    session.SendFrame(lane, frame.bytes);
  };
  for (proto::Lane lane : {proto::CONTROL, proto::DATA, proto::ACK}) {
    client.present->Send(lane, proto::TASK_REPORT, Number(static_cast<uint64_t>(lane)));
  }
  ASSERT_TRUE(driver.RunUntil([&] { return client.frames.size() == 3; }));
  for (const auto& [lane, frame] : client.frames) {
    EXPECT_EQ(frame.type, proto::TASK_REPORT);
    proto::Heartbeat message;
    ASSERT_TRUE(net::ParseBody(frame.body(), message).ok());
    EXPECT_EQ(message.number(), static_cast<uint64_t>(lane));
  }
  EXPECT_EQ(listener->counters().accepted, 1u);
  EXPECT_EQ(listener->counters().refused, 0u);
}

TEST_F(SessionTest, FramesSentInOnSessionUpArrive) {
  Listen();
  // The listener's may come ahead of the dialer's last WELCOME.
  server.on_up = [](Session& session) {
    for (int i = 0; i < 100; ++i) session.Send(proto::DATA, proto::TUPLE_BATCH, Number(1));
  };
  client.on_up = [](Session& session) {
    session.Send(proto::ACK, proto::ENDED_CONFIRMED, Number(2));
  };
  dialer = Dial(DialerOptions(), &client);
  EXPECT_TRUE(
      driver.RunUntil([&] { return client.frames.size() == 100 && server.frames.size() == 1; }));
}

TEST_F(SessionTest, UnknownTypesAreDeliveredHandshakeMessagesAndHeartbeatsAreNot) {
  BringUp();
  for (int type : {0, 1, 2, 3, 4, 5, 6, 999}) {
    client.present->Send(proto::CONTROL, static_cast<proto::MessageType>(type), Number(1));
  }
  ASSERT_TRUE(driver.RunUntil(
      [&] { return !server.frames.empty() && server.frames.back().second.type == 999; }));
  EXPECT_EQ(server.frames.size(), 2u);
  EXPECT_EQ(server.downs, 0);
}

TEST_F(SessionTest, AControlFrameMayBeLargerThanADataFrame) {
  session_options.connection.max_body_bytes = 100'000;
  BringUp();
  proto::Refused large;
  large.set_text(std::string(1'000'000, 'x'));
  client.present->Send(proto::CONTROL, proto::INSTANCE_PLAN, large);
  ASSERT_TRUE(driver.RunUntil([&] { return server.frames.size() == 1; }));
  client.present->Send(proto::DATA, proto::TUPLE_BATCH, large);
  ASSERT_TRUE(driver.RunUntil([&] { return server.downs == 1 && client.downs == 1; }));
  EXPECT_EQ(server.frames.size(), 1u);
  EXPECT_NE(server.status.message().find("DATA lane"), std::string::npos);
}

TEST_F(SessionTest, PausingALaneHoldsThatLaneOnlyAndTellsTheSenderWhenThereIsRoom) {
  session_options.connection.socket_buffer_bytes = 32 << 10;
  BringUp();
  server.present->PauseReading(proto::DATA);
  proto::Refused large;
  large.set_text(std::string(100'000, 'x'));
  for (int i = 0; i < 30; ++i) client.present->Send(proto::DATA, proto::TUPLE_BATCH, large);
  client.present->Send(proto::CONTROL, proto::TASK_REPORT, Number(1));
  ASSERT_TRUE(driver.RunUntil([&] { return server.frames.size() == 1; }));
  EXPECT_EQ(server.frames[0].first, proto::CONTROL);
  EXPECT_GT(client.present->QueuedBytes(proto::DATA), 1'000'000u);
  EXPECT_EQ(client.present->QueuedBytes(proto::CONTROL), 0u);
  server.present->ResumeReading(proto::DATA);
  ASSERT_TRUE(driver.RunUntil([&] { return server.frames.size() == 31; }));
  EXPECT_EQ(client.writable, std::vector<proto::Lane>{proto::DATA});
}

TEST_F(SessionTest, TheLanesDieTogether) {
  Listen();
  for (size_t dying : {0u, 1u, 2u}) {
    auto lanes = MakeLanes();
    ASSERT_TRUE(driver.RunUntil([&] { return server.present != nullptr; }));
    lanes[dying]->connection->Close();
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(i == dying || driver.RunUntil([&] { return lanes[i]->closed; }));
    }
    EXPECT_EQ(server.present, nullptr);
  }
  EXPECT_EQ(server.ups, 3);
  EXPECT_EQ(server.downs, 3);
}

TEST_F(SessionTest, AnIdleSessionLivesByItsHeartbeats) {
  session_options.heartbeat_interval = milliseconds(20);
  session_options.heartbeat_timeout = milliseconds(400);
  BringUp();
  driver.RunFor(milliseconds(1500));
  EXPECT_EQ(server.downs + client.downs, 0) << server.status.ToString();
}

TEST_F(SessionTest, ASilentPeerIsDropped) {
  session_options.heartbeat_interval = milliseconds(20);
  session_options.heartbeat_timeout = milliseconds(200);
  Listen();
  auto lanes = MakeLanes();
  ASSERT_TRUE(driver.RunUntil([&] { return server.downs == 1; }));
  EXPECT_EQ(server.status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_GT(lanes[0]->frames, 0) << "the listener sent heartbeats all the while";
  EXPECT_TRUE(driver.RunUntil([&] { return lanes[0]->closed && lanes[1]->closed; }));
}

TEST_F(SessionTest, AFrameOnAnyLaneIsASignOfLife) {
  session_options.heartbeat_interval = milliseconds(20);
  session_options.heartbeat_timeout = milliseconds(400);
  Listen();
  auto lanes = MakeLanes();
  ASSERT_TRUE(driver.RunUntil([&] { return lanes[1]->welcome(); }));
  const net::TimerId timer = loop.RunEvery(
      milliseconds(20), [&] { lanes[1]->connection->Send(proto::TUPLE_BATCH, Number(1)); });
  driver.RunFor(milliseconds(1200));
  EXPECT_EQ(server.downs, 0);
  loop.CancelTimer(timer);
  EXPECT_TRUE(driver.RunUntil([&] { return server.downs == 1; }));
}

TEST_F(SessionTest, WhoWasHeldUpHimselfDoesNotBlameTheOthers) {
  session_options.heartbeat_interval = milliseconds(20);
  session_options.heartbeat_timeout = milliseconds(200);
  BringUp();
  driver.RunFor(milliseconds(60));
  // As if the process had been stopped and continued.
  loop.Post([] { std::this_thread::sleep_for(milliseconds(600)); });
  driver.RunFor(milliseconds(120));
  EXPECT_EQ(server.downs + client.downs, 0) << server.status.ToString();
}

TEST_F(SessionTest, TheNewestSessionDisplacesTheOlderWhichIsReportedDownFirst) {
  for (Epoch newer : {Epoch{1, 0}, Epoch{1, 1}, Epoch{2, 0}}) {
    std::vector<std::string> events;
    SessionRecorder recorder("", &events);
    auto made = SessionListener::Listen(loop, ListenerOptions(), &recorder);
    ASSERT_TRUE(made.ok());
    listener = std::move(*made);
    auto first = MakeLanes({1, 0});
    ASSERT_TRUE(driver.RunUntil([&] { return recorder.ups == 1; }));
    auto second = MakeLanes(newer);
    ASSERT_TRUE(driver.RunUntil([&] { return recorder.ups == 2; }));
    EXPECT_EQ(events, (std::vector<std::string>{"up", "down", "up"}));
    EXPECT_TRUE(driver.RunUntil([&] { return first[0]->closed && first[2]->closed; }));
    EXPECT_FALSE(second[0]->closed);
    ASSERT_NE(recorder.present, nullptr);
    EXPECT_EQ(EpochOf(recorder.present->peer().epoch()), newer);
    listener.reset();
  }
}

TEST_F(SessionTest, ALowerEpochIsFencedAlsoAfterTheHigherOneHasGone) {
  Listen();
  dialer = Dial(DialerOptions({2, 1}), &client);
  ASSERT_TRUE(driver.RunUntil([&] { return client.present && server.present; }));
  SessionRecorder lower;
  auto old = Dial(DialerOptions({2, 0}), &lower);
  ASSERT_TRUE(driver.RunUntil([&] { return !refusals.empty(); }));
  EXPECT_EQ(refusals[0].reason(), proto::FENCED);
  EXPECT_NE(refusals[0].text().find("2.1"), std::string::npos);
  EXPECT_EQ(lower.ups, 0);
  EXPECT_EQ(client.downs, 0) << "the one who is in stays in";
  dialer->ClearTarget();
  ASSERT_TRUE(driver.RunUntil([&] { return server.present == nullptr; }));
  const size_t before = refusals.size();
  ASSERT_TRUE(driver.RunUntil([&] { return refusals.size() > before; }));
  EXPECT_EQ(refusals.back().reason(), proto::FENCED);
  // Other tasks have epochs of their own.
  auto other = Dial(DialerOptions({1, 0}, 8), &lower);
  EXPECT_TRUE(driver.RunUntil([&] { return lower.present != nullptr; }));
}

TEST_F(SessionTest, ACallerWithoutAnIncarnationYetIsNotFenced) {
  Listen();
  auto options = DialerOptions();
  options.lanes = {proto::CONTROL};
  options.self = MakeIdentity(proto::EXECUTOR, 1, 0, {5, 0});
  dialer = Dial(options, &client);
  ASSERT_TRUE(driver.RunUntil([&] { return client.present; }));
  dialer.reset();
  // The executor's next life does not know its incarnation before it has asked.
  options.self = MakeIdentity(proto::EXECUTOR, 1, 0, {0, 0});
  SessionRecorder next;
  dialer = Dial(options, &next);
  EXPECT_TRUE(driver.RunUntil([&] { return next.present != nullptr; }));
}

TEST_F(SessionTest, CloseEndsBothSidesWithoutACallbackHere) {
  BringUp();
  Session* session = server.present;
  server.inside_call = true;
  session->Close();
  session->Send(proto::DATA, proto::TUPLE_BATCH, Number(1));  // does nothing
  server.inside_call = false;
  server.present = nullptr;
  ASSERT_TRUE(driver.RunUntil([&] { return client.downs == 1; }));
  // The dialer comes back.
  ASSERT_TRUE(driver.RunUntil([&] { return client.ups == 2 && server.ups == 2; }));
  EXPECT_EQ(server.downs, 0);
}

TEST_F(SessionTest, EverythingMayBeDestroyedFromInsideEveryCallback) {
  for (const char* where : {"up", "frame", "down"}) {
    for (const char* what : {"listener", "dialer", "session"}) {
      SCOPED_TRACE(std::string(where) + " destroys " + what);
      server = SessionRecorder();
      client = SessionRecorder();
      SessionRecorder& victim = what == std::string("dialer") ? client : server;
      SessionRecorder& other = &victim == &client ? server : client;
      int ended = 0;
      auto end = [&, what](Session& session) {
        ++ended;
        if (what == std::string("listener")) listener.reset();
        if (what == std::string("dialer")) dialer.reset();
        if (what == std::string("session")) session.Close();
      };
      if (where == std::string("up")) victim.on_up = end;
      if (where == std::string("down")) victim.on_down = end;
      if (where == std::string("frame")) {
        victim.on_frame = [&](Session& session, proto::Lane, const net::Frame&) { end(session); };
      }
      Listen();
      dialer = Dial(DialerOptions(), &client);
      if (where != std::string("up")) {
        ASSERT_TRUE(driver.RunUntil([&] { return client.present && server.present; }));
        if (where == std::string("down")) {
          other.present->Close();
        } else {
          for (int i = 0; i < 3; ++i) {
            other.present->Send(proto::DATA, proto::TUPLE_BATCH, Number(1));
          }
        }
      }
      ASSERT_TRUE(driver.RunUntil([&] { return ended > 0; }));
      driver.RunFor(milliseconds(10));
      EXPECT_LE(victim.frames.size(), 1u) << "a frame after the end";
      dialer.reset();
      listener.reset();
    }
  }
}

}  // namespace
}  // namespace heron::link
