// For tests of sessions: a handler that notes what it hears, a listener, and a caller that does the
// handshake of one lane by hand and may misbehave afterwards.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heron/base/random.h"
#include "heron/link/handshake.h"
#include "heron/link/session.h"
#include "heron/net/loop_driver.h"

namespace heron::link {

class SessionRecorder : public SessionHandler {
 public:
  explicit SessionRecorder(std::string name = "", std::vector<std::string>* events = nullptr)
      : name_(std::move(name)), events_(events) {}

  void OnSessionUp(Session& session) override {
    Note("up");
    ++ups;
    present = &session;
    peer = session.peer();
    if (on_up) on_up(session);
  }
  void OnFrame(Session& session, proto::Lane lane, net::Frame frame) override {
    Note("frame");
    frames.emplace_back(lane, frame);
    if (on_frame) on_frame(session, lane, frame);
  }
  void OnWritable(Session&, proto::Lane lane) override { writable.push_back(lane); }
  void OnSessionDown(Session& session, const Status& why) override {
    Note("down");
    ++downs;
    if (present == &session) present = nullptr;
    status = why;
    if (on_down) on_down(session);
  }

  int ups = 0;
  int downs = 0;
  Session* present = nullptr;
  proto::Identity peer;
  Status status;
  std::vector<std::pair<proto::Lane, net::Frame>> frames;
  std::vector<proto::Lane> writable;
  bool inside_call = false;  // set by tests around their calls
  std::function<void(Session&)> on_up;
  std::function<void(Session&, proto::Lane, const net::Frame&)> on_frame;
  std::function<void(Session&)> on_down;

 private:
  void Note(const std::string& what) {
    EXPECT_FALSE(inside_call) << what << " came from inside a call";
    if (events_ != nullptr) events_->push_back(name_ + what);
  }

  std::string name_;
  std::vector<std::string>* events_;
};

// One lane, dialled by hand. Sends no heartbeats.
class HandmadeLane : public net::Connection::Handler {
 public:
  HandmadeLane(net::EventLoop& loop, uint16_t port, const proto::Hello& hello,
               const TopologyCredentials& credentials)
      : handshake_(hello, credentials) {
    connector_ = net::Connector::Connect(loop, "127.0.0.1", port, {}, std::chrono::seconds(10),
                                         [this](Result<std::unique_ptr<net::Connection>> result) {
                                           if (!result.ok()) {
                                             closed = true;
                                             return;
                                           }
                                           connection = std::move(*result);
                                           connection->SetHandler(this);
                                           if (on_connected) {
                                             on_connected();
                                           } else {
                                             connection->SendFrame(handshake_.Hello().ToFrame());
                                           }
                                         });
  }

  void OnFrame(net::Frame frame) override {
    if (handshake_.state() == DialerHandshake::State::kDone) {
      ++frames;
      return;
    }
    if (bad_proof && frame.type == proto::CHALLENGE) {
      proto::Proof proof;
      proof.set_proof(std::string(32, 'p'));
      connection->Send(proto::PROOF, proof);
      return;
    }
    if (frame.type == proto::REFUSED) {
      proto::Refused message;
      EXPECT_TRUE(net::ParseBody(frame.body(), message).ok());
      refused = message;
    }
    auto answer = handshake_.OnMessage(frame.type, frame.body());
    if (answer && answer->type == proto::PROOF) proved = true;
    if (answer && connection) connection->SendFrame(answer->ToFrame());
  }
  void OnClosed(const Status&) override { closed = true; }

  bool welcome() const { return handshake_.state() == DialerHandshake::State::kDone; }

  bool bad_proof = false;
  std::function<void()> on_connected;
  std::unique_ptr<net::Connection> connection;
  std::optional<proto::Refused> refused;
  bool proved = false;
  bool closed = false;
  int frames = 0;

 private:
  DialerHandshake handshake_;
  std::unique_ptr<net::Connector> connector_;
};

class SessionFixture : public ::testing::Test {
 protected:
  SessionFixture() {
    // Fast enough for tests, slow enough for sanitizers on a busy machine.
    session_options.heartbeat_interval = std::chrono::milliseconds(100);
    session_options.heartbeat_timeout = std::chrono::seconds(2);
    session_options.handshake_timeout = std::chrono::seconds(10);
  }

  SessionListener::Options ListenerOptions() {
    SessionListener::Options options;
    options.self = MakeIdentity(proto::STREAM_MANAGER, 1, 0, {1, 0});
    options.credentials = credentials;
    options.session = session_options;
    options.lanes[proto::INSTANCE] = {proto::CONTROL, proto::DATA, proto::ACK};
    options.lanes[proto::STREAM_MANAGER] = {proto::CONTROL, proto::DATA};
    options.lanes[proto::EXECUTOR] = {proto::CONTROL};
    return options;
  }
  void Listen(SessionListener::Options options) {
    auto result = SessionListener::Listen(loop, std::move(options), &server);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    listener = std::move(*result);
  }
  void Listen() { Listen(ListenerOptions()); }

  SessionDialer::Options DialerOptions(Epoch epoch = {1, 0}, TaskId task = 7) {
    SessionDialer::Options options;
    options.self = MakeIdentity(proto::INSTANCE, 1, task, epoch);
    options.credentials = credentials;
    options.session = session_options;
    options.lanes = {proto::CONTROL, proto::DATA, proto::ACK};
    options.on_refused = [this](const proto::Refused& refused) { refusals.push_back(refused); };
    return options;
  }
  std::unique_ptr<SessionDialer> Dial(SessionDialer::Options options, SessionHandler* handler) {
    auto result = SessionDialer::Make(loop, std::move(options), handler);
    result->SetTarget("127.0.0.1", listener->port(), callee);
    return result;
  }
  // Listener and dialer with a session between them.
  void BringUp() {
    Listen();
    dialer = Dial(DialerOptions(), &client);
    ASSERT_TRUE(driver.RunUntil([&] { return client.present && server.present; }));
  }

  proto::Hello MakeHello(proto::Lane lane, const std::string& session_id, Epoch epoch = {1, 0}) {
    proto::Hello hello;
    *hello.mutable_caller() = MakeIdentity(proto::INSTANCE, 1, 7, epoch);
    *hello.mutable_callee() = callee;
    hello.set_lane(lane);
    hello.set_session(session_id);
    hello.set_nonce(RandomBytes(kNonceBytes));
    return hello;
  }
  std::unique_ptr<HandmadeLane> MakeLane(const proto::Hello& hello) {
    return std::make_unique<HandmadeLane>(loop, listener->port(), hello, credentials);
  }
  // A whole session by hand.
  std::vector<std::unique_ptr<HandmadeLane>> MakeLanes(Epoch epoch = {1, 0}) {
    const std::string session_id = RandomBytes(kSessionIdBytes);
    std::vector<std::unique_ptr<HandmadeLane>> lanes;
    for (proto::Lane lane : {proto::CONTROL, proto::DATA, proto::ACK}) {
      lanes.push_back(MakeLane(MakeHello(lane, session_id, epoch)));
    }
    return lanes;
  }
  // The refusal of a lane that is expected to be refused.
  proto::RefusalReason RefusalOf(HandmadeLane& lane) {
    EXPECT_TRUE(driver.RunUntil([&] { return lane.closed; }));
    return lane.refused ? lane.refused->reason() : proto::REFUSAL_UNSPECIFIED;
  }

  TopologyCredentials credentials{"words", "words-1a2b", std::string(kSecretBytes, 'k')};
  proto::Identity callee = MakeIdentity(proto::STREAM_MANAGER, 1, 0, {1, 0});
  SessionOptions session_options;
  net::EventLoop loop;
  net::LoopDriver driver{loop};
  SessionRecorder server;
  SessionRecorder client;
  std::vector<proto::Refused> refusals;
  std::unique_ptr<SessionListener> listener;
  std::unique_ptr<SessionDialer> dialer;
};

}  // namespace heron::link
