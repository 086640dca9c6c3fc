// Whom a listener lets in, and what it does with everybody else.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heron/link/session_fixture.h"

namespace heron::link {
namespace {

using std::chrono::milliseconds;

class SessionListenerTest : public SessionFixture {
 protected:
  void ExpectStillOpenForBusiness() {
    dialer = Dial(DialerOptions({1, 0}, 99), &client);
    EXPECT_TRUE(driver.RunUntil([&] { return client.present != nullptr; }));
  }
};

TEST_F(SessionListenerTest, RefusesWithAReason) {
  auto options = ListenerOptions();
  options.admit = [](const proto::Identity& caller) -> std::optional<Refusal> {
    if (caller.task() == 1) return Refusal{proto::NOT_READY, "no plan yet"};
    if (caller.task() == 2) return Refusal{proto::NOT_WANTED, "no such task"};
    return std::nullopt;
  };
  Listen(options);
  auto refusal_after = [&](const std::function<void(proto::Hello&)>& change) {
    proto::Hello hello = MakeHello(proto::CONTROL, RandomBytes(kSessionIdBytes));
    *hello.mutable_caller() = MakeIdentity(proto::EXECUTOR, 1, 0, {1, 0});
    change(hello);
    return RefusalOf(*MakeLane(hello));
  };
  EXPECT_EQ(refusal_after([](proto::Hello& h) { h.mutable_callee()->set_container(2); }),
            proto::WRONG_CALLEE);
  EXPECT_EQ(refusal_after([](proto::Hello& h) {
              SetEpoch({1, 1}, h.mutable_callee()->mutable_epoch());
            }),
            proto::WRONG_CALLEE);
  EXPECT_EQ(
      refusal_after([](proto::Hello& h) { h.mutable_caller()->set_role(proto::METRICS_MANAGER); }),
      proto::NOT_WANTED);
  EXPECT_EQ(refusal_after([](proto::Hello& h) { h.set_lane(proto::DATA); }), proto::MALFORMED)
      << "an executor has no data lane";
  EXPECT_EQ(refusal_after([](proto::Hello& h) { h.mutable_caller()->set_task(1); }),
            proto::NOT_READY);
  EXPECT_EQ(refusal_after([](proto::Hello& h) { h.mutable_caller()->set_task(2); }),
            proto::NOT_WANTED);
  credentials.topology_id = "words-other";
  EXPECT_EQ(refusal_after([](proto::Hello&) {}), proto::WRONG_TOPOLOGY);
  EXPECT_EQ(listener->counters().refused, 7u);
  EXPECT_EQ(listener->counters().malformed, 1u);
  EXPECT_EQ(listener->counters().accepted, 0u);
  EXPECT_EQ(server.ups, 0);
}

TEST_F(SessionListenerTest, ARaisedEpochOfItsOwnSatisfiesCallersThatAskForIt) {
  Listen();
  callee = MakeIdentity(proto::STREAM_MANAGER, 1, 0, {2, 0});
  dialer = Dial(DialerOptions(), &client);
  ASSERT_TRUE(driver.RunUntil([&] { return !refusals.empty(); }));
  EXPECT_EQ(refusals[0].reason(), proto::WRONG_CALLEE);
  listener->SetSelf(MakeIdentity(proto::STREAM_MANAGER, 1, 0, {2, 0}));
  EXPECT_TRUE(driver.RunUntil([&] { return client.present != nullptr; }));
}

TEST_F(SessionListenerTest, AWrongSecretIsRefusedByBothSidesAndCounted) {
  Listen();
  auto options = DialerOptions();
  options.credentials.secret = std::string(kSecretBytes, 'x');
  dialer = Dial(options, &client);
  ASSERT_TRUE(
      driver.RunUntil([&] { return !refusals.empty() && listener->counters().wrong_proof > 0; }));
  EXPECT_EQ(refusals[0].reason(), proto::WRONG_PROOF);
  // And one who does not look at the listener's proof.
  proto::Hello hello = MakeHello(proto::CONTROL, RandomBytes(kSessionIdBytes));
  auto lane = MakeLane(hello);
  lane->bad_proof = true;
  const uint64_t before = listener->counters().wrong_proof;
  EXPECT_EQ(RefusalOf(*lane), proto::WRONG_PROOF);
  EXPECT_GT(listener->counters().wrong_proof, before);
  EXPECT_EQ(client.ups + server.ups, 0);
}

TEST_F(SessionListenerTest, ASessionOfSomeLanesTimesOut) {
  session_options.handshake_timeout = milliseconds(150);
  Listen();
  const std::string session_id = RandomBytes(kSessionIdBytes);
  auto control = MakeLane(MakeHello(proto::CONTROL, session_id));
  auto data = MakeLane(MakeHello(proto::DATA, session_id));
  ASSERT_TRUE(driver.RunUntil([&] { return control->closed && data->closed; }));
  EXPECT_TRUE(control->proved && data->proved);
  EXPECT_FALSE(control->welcome() || data->welcome()) << "not before all lanes are there";
  EXPECT_EQ(server.ups, 0);
  EXPECT_GE(listener->counters().handshake_timeouts, 1u);
  session_options.handshake_timeout = std::chrono::seconds(10);
  ExpectStillOpenForBusiness();
}

TEST_F(SessionListenerTest, LanesOfDifferentSessionsDoNotMakeOne) {
  Listen();
  std::vector<std::unique_ptr<HandmadeLane>> lanes;
  for (proto::Lane lane : {proto::CONTROL, proto::DATA, proto::ACK}) {
    lanes.push_back(MakeLane(MakeHello(lane, RandomBytes(kSessionIdBytes))));
  }
  ASSERT_TRUE(
      driver.RunUntil([&] { return lanes[0]->proved && lanes[1]->proved && lanes[2]->proved; }));
  driver.RunFor(milliseconds(30));
  EXPECT_EQ(server.ups, 0);
}

TEST_F(SessionListenerTest, TheSameLaneTwiceAndMixedEpochsAreRefused) {
  Listen();
  const std::string session_id = RandomBytes(kSessionIdBytes);
  auto control = MakeLane(MakeHello(proto::CONTROL, session_id));
  ASSERT_TRUE(driver.RunUntil([&] { return control->proved; }));
  driver.RunFor(milliseconds(20));
  EXPECT_EQ(RefusalOf(*MakeLane(MakeHello(proto::CONTROL, session_id))), proto::MALFORMED);
  proto::Hello other = MakeHello(proto::DATA, session_id);
  SetEpoch({1, 5}, other.mutable_caller()->mutable_epoch());
  EXPECT_EQ(RefusalOf(*MakeLane(other)), proto::MALFORMED);
  EXPECT_FALSE(control->closed);
}

TEST_F(SessionListenerTest, ALaneThatDiesBeforeTheSessionIsUpTakesTheOthersAlong) {
  Listen();
  const std::string session_id = RandomBytes(kSessionIdBytes);
  auto control = MakeLane(MakeHello(proto::CONTROL, session_id));
  auto data = MakeLane(MakeHello(proto::DATA, session_id));
  ASSERT_TRUE(driver.RunUntil([&] { return control->proved && data->proved; }));
  driver.RunFor(milliseconds(20));
  data->connection->Close();
  EXPECT_TRUE(driver.RunUntil([&] { return control->closed; }));
  ExpectStillOpenForBusiness();
}

TEST_F(SessionListenerTest, ASilentCallerIsClosed) {
  session_options.handshake_timeout = milliseconds(100);
  Listen();
  HandmadeLane silent(loop, listener->port(), MakeHello(proto::CONTROL, "x"), credentials);
  silent.on_connected = [] {};
  ASSERT_TRUE(driver.RunUntil([&] { return silent.closed; }));
  EXPECT_EQ(listener->counters().handshake_timeouts, 1u);
}

TEST_F(SessionListenerTest, GarbageAndLargeFramesAheadOfTheHandshakeCloseTheConnection) {
  Listen();
  std::vector<std::string> attacks = {"GET / HTTP/1.1\r\n\r\n", std::string(100'000, '\xff'),
                                      std::string(20'000, '\0')};
  std::string large(net::kFrameHeaderBytes, '\0');
  net::EncodeFrameHeader({kMaxHandshakeBodyBytes + 1, proto::HELLO}, large.data());
  attacks.push_back(large);
  for (int i = 0; i < 50; ++i) attacks.push_back(RandomBytes(1 + static_cast<size_t>(i) * 13));
  for (const std::string& bytes : attacks) {
    HandmadeLane attacker(loop, listener->port(), MakeHello(proto::CONTROL, "x"), credentials);
    attacker.on_connected = [&] {
      attacker.connection->SendFrame(BufferSlice::Copy(bytes));
      // Short garbage may look like the beginning of something: say that it is all.
      attacker.connection->CloseAfterFlush();
      attacker.closed = true;
    };
    ASSERT_TRUE(driver.RunUntil([&] { return attacker.closed; }));
  }
  EXPECT_EQ(server.ups, 0);
  ExpectStillOpenForBusiness();
}

TEST_F(SessionListenerTest, HandshakesAtTheSameTimeAreBounded) {
  session_options.max_pending_handshakes = 8;
  Listen();
  std::vector<std::unique_ptr<HandmadeLane>> lanes;
  for (int i = 0; i < 40; ++i) {
    lanes.push_back(MakeLane(MakeHello(proto::CONTROL, RandomBytes(kSessionIdBytes))));
  }
  auto count = [&](auto what) { return std::count_if(lanes.begin(), lanes.end(), what); };
  ASSERT_TRUE(driver.RunUntil(
      [&] { return count([](const auto& lane) { return lane->closed || lane->proved; }) == 40; }));
  driver.RunFor(milliseconds(20));
  EXPECT_EQ(count([](const auto& lane) { return !lane->closed; }), 8);
  EXPECT_GE(count([](const auto& lane) {
              return lane->refused && lane->refused->reason() == proto::TOO_MANY;
            }),
            8);
  lanes.clear();
  ExpectStillOpenForBusiness();
}

TEST_F(SessionListenerTest, TheUserMayDestroyItWhileItAsks) {
  auto options = ListenerOptions();
  options.admit = [&](const proto::Identity&) -> std::optional<Refusal> {
    listener.reset();
    return std::nullopt;
  };
  Listen(options);
  auto lanes = MakeLanes();
  EXPECT_TRUE(driver.RunUntil([&] { return lanes[0]->closed && lanes[1]->closed; }));
  EXPECT_EQ(server.ups, 0);
}

TEST_F(SessionListenerTest, NeedsASecret) {
  auto options = ListenerOptions();
  options.credentials.secret.clear();
  EXPECT_FALSE(SessionListener::Listen(loop, options, &server).ok());
}

}  // namespace
}  // namespace heron::link
