#include "heron/link/handshake.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "heron/link/identity.h"
#include "heron/net/frame.h"

namespace heron::link {
namespace {

class HandshakeTest : public ::testing::Test {
 protected:
  static proto::Hello MakeHello() {
    proto::Hello hello;
    *hello.mutable_caller() = MakeIdentity(proto::INSTANCE, 1, 7, {3, 1});
    *hello.mutable_callee() = MakeIdentity(proto::STREAM_MANAGER, 1, 0, {3, 0});
    hello.set_lane(proto::DATA);
    hello.set_session(std::string(kSessionIdBytes, 's'));
    hello.set_nonce(std::string(kNonceBytes, 'd'));
    return hello;
  }
  ListenerHandshake MakeListener(char nonce = 'l') const {
    return ListenerHandshake(self, credentials, std::string(kNonceBytes, nonce));
  }

  // HELLO with a change, to a listener; the reason it refuses with.
  proto::RefusalReason RefusalOf(const std::function<void(proto::Hello&)>& change) {
    proto::Hello hello;
    EXPECT_TRUE(hello.ParseFromString(DialerHandshake(MakeHello(), credentials).Hello().body));
    change(hello);
    ListenerHandshake listener = MakeListener();
    auto answer = listener.OnMessage(proto::HELLO, hello.SerializeAsString());
    if (listener.state() != ListenerHandshake::State::kFailed) return proto::REFUSAL_UNSPECIFIED;
    proto::Refused refused;
    EXPECT_TRUE(answer.has_value());
    if (answer) {
      EXPECT_EQ(answer->type, proto::REFUSED);
      EXPECT_TRUE(refused.ParseFromString(answer->body));
    }
    EXPECT_FALSE(refused.text().empty());
    EXPECT_EQ(refused.text().find(credentials.topology_id), std::string::npos);
    EXPECT_FALSE(listener.OnMessage(proto::HELLO, "").has_value()) << "goes on after the end";
    return refused.reason();
  }

  TopologyCredentials credentials{"words", "words-1a2b", std::string(kSecretBytes, 'k')};
  TopologyCredentials stranger{"words", "words-1a2b", std::string(kSecretBytes, 'x')};
  proto::Identity self = MakeIdentity(proto::STREAM_MANAGER, 1, 0, {3, 2});
};

TEST_F(HandshakeTest, TwoThatKnowTheSecretAgree) {
  DialerHandshake dialer(MakeHello(), credentials);
  ListenerHandshake listener = MakeListener();
  auto challenge = listener.OnMessage(proto::HELLO, dialer.Hello().body);
  ASSERT_TRUE(challenge.has_value());
  EXPECT_EQ(challenge->type, proto::CHALLENGE);
  auto proof = dialer.OnMessage(proto::CHALLENGE, challenge->body);
  ASSERT_TRUE(proof.has_value());
  EXPECT_EQ(proof->type, proto::PROOF);
  EXPECT_EQ(EpochOf(dialer.listener().epoch()), (Epoch{3, 2})) << "who really listens";
  EXPECT_FALSE(listener.OnMessage(proto::PROOF, proof->body).has_value());
  EXPECT_EQ(listener.state(), ListenerHandshake::State::kProved);
  EXPECT_EQ(listener.hello().caller().task(), 7);
  EXPECT_FALSE(dialer.OnMessage(proto::WELCOME, "").has_value());
  EXPECT_EQ(dialer.state(), DialerHandshake::State::kDone);
}

TEST_F(HandshakeTest, TheListenerRefusesForEachReason) {
  EXPECT_EQ(RefusalOf([](proto::Hello&) {}), proto::REFUSAL_UNSPECIFIED);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.set_protocol_version(2); }), proto::PROTOCOL_VERSION);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.set_topology_id("words-3c4d"); }),
            proto::WRONG_TOPOLOGY);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.set_topology_name("other"); }),
            proto::WRONG_TOPOLOGY);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.mutable_callee()->set_container(2); }),
            proto::WRONG_CALLEE);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.mutable_callee()->set_task(1); }),
            proto::WRONG_CALLEE);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.mutable_callee()->set_role(proto::EXECUTOR); }),
            proto::WRONG_CALLEE);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) {
              SetEpoch({3, 3}, h.mutable_callee()->mutable_epoch());
            }),
            proto::WRONG_CALLEE)
      << "an earlier life than the caller knows of";
  EXPECT_EQ(RefusalOf([](proto::Hello& h) {
              SetEpoch({2, 9}, h.mutable_callee()->mutable_epoch());
            }),
            proto::REFUSAL_UNSPECIFIED)
      << "a later life than the caller knows of is welcome";
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.set_nonce("short"); }), proto::MALFORMED);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.clear_session(); }), proto::MALFORMED);
  EXPECT_EQ(RefusalOf([](proto::Hello& h) { h.clear_lane(); }), proto::MALFORMED);
}

TEST_F(HandshakeTest, MessagesThatAreDamagedOutOfOrderOrTooLargeAreRefused) {
  const std::string hello = DialerHandshake(MakeHello(), credentials).Hello().body;
  struct Case {
    uint16_t type;
    std::string body;
  };
  for (const Case& wrong : {Case{proto::HELLO, "\xff\xff"}, Case{proto::PROOF, ""},
                            Case{proto::WELCOME, ""}, Case{proto::TUPLE_BATCH, "data"},
                            Case{9999, ""}, Case{proto::HELLO, std::string(5000, 'x')}}) {
    ListenerHandshake listener = MakeListener();
    auto answer = listener.OnMessage(wrong.type, wrong.body);
    EXPECT_EQ(listener.state(), ListenerHandshake::State::kFailed) << wrong.type;
    EXPECT_EQ(listener.failure().refused.reason(), proto::MALFORMED);
    EXPECT_TRUE(answer.has_value());
    DialerHandshake dialer(MakeHello(), credentials);
    dialer.OnMessage(wrong.type, wrong.body);
    EXPECT_EQ(dialer.state(), DialerHandshake::State::kFailed) << wrong.type;
  }
  ListenerHandshake listener = MakeListener();
  listener.OnMessage(proto::HELLO, hello);
  listener.OnMessage(proto::HELLO, hello);
  EXPECT_EQ(listener.failure().refused.reason(), proto::MALFORMED);
}

TEST_F(HandshakeTest, ADialerTellsAListenerWithoutTheSecretNothing) {
  DialerHandshake dialer(MakeHello(), credentials);
  ListenerHandshake impostor(self, stranger, std::string(kNonceBytes, 'l'));
  auto challenge = impostor.OnMessage(proto::HELLO, dialer.Hello().body);
  auto answer = dialer.OnMessage(proto::CHALLENGE, challenge->body);
  EXPECT_EQ(dialer.state(), DialerHandshake::State::kFailed);
  EXPECT_EQ(dialer.failure().refused.reason(), proto::WRONG_PROOF);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->type, proto::REFUSED) << "not a proof";
}

TEST_F(HandshakeTest, ACallerWithoutTheSecretIsRefused) {
  ListenerHandshake listener = MakeListener();
  listener.OnMessage(proto::HELLO, DialerHandshake(MakeHello(), stranger).Hello().body);
  ASSERT_EQ(listener.state(), ListenerHandshake::State::kAwaitProof);
  proto::Proof proof;
  proof.set_proof(std::string(32, 'p'));
  listener.OnMessage(proto::PROOF, proof.SerializeAsString());
  EXPECT_EQ(listener.failure().refused.reason(), proto::WRONG_PROOF);
}

TEST_F(HandshakeTest, TheListenersOwnProofSentBackProvesNothing) {
  ListenerHandshake listener = MakeListener();
  auto answer =
      listener.OnMessage(proto::HELLO, DialerHandshake(MakeHello(), stranger).Hello().body);
  proto::Challenge challenge;
  ASSERT_TRUE(challenge.ParseFromString(answer->body));
  proto::Proof proof;
  proof.set_proof(challenge.proof());
  listener.OnMessage(proto::PROOF, proof.SerializeAsString());
  EXPECT_EQ(listener.failure().refused.reason(), proto::WRONG_PROOF);
}

TEST_F(HandshakeTest, ARecordedProofDoesNotOpenAnotherConnection) {
  DialerHandshake dialer(MakeHello(), credentials);
  ListenerHandshake first = MakeListener('1');
  auto challenge = first.OnMessage(proto::HELLO, dialer.Hello().body);
  auto proof = dialer.OnMessage(proto::CHALLENGE, challenge->body);
  ListenerHandshake second = MakeListener('2');
  second.OnMessage(proto::HELLO, dialer.Hello().body);
  second.OnMessage(proto::PROOF, proof->body);
  EXPECT_EQ(second.failure().refused.reason(), proto::WRONG_PROOF);
}

TEST_F(HandshakeTest, AProofCoversWhatHelloSays) {
  // Somebody in the middle makes another lane of it.
  DialerHandshake dialer(MakeHello(), credentials);
  proto::Hello changed;
  ASSERT_TRUE(changed.ParseFromString(dialer.Hello().body));
  changed.set_lane(proto::CONTROL);
  ListenerHandshake listener = MakeListener();
  auto challenge = listener.OnMessage(proto::HELLO, changed.SerializeAsString());
  dialer.OnMessage(proto::CHALLENGE, challenge->body);
  EXPECT_EQ(dialer.failure().refused.reason(), proto::WRONG_PROOF);
}

TEST_F(HandshakeTest, ADialerChecksWhoReallyListens) {
  for (const proto::Identity& other : {MakeIdentity(proto::STREAM_MANAGER, 1, 0, {2, 9}),
                                       MakeIdentity(proto::STREAM_MANAGER, 2, 0, {3, 2})}) {
    // One that knows the secret but does not look whom the caller wants.
    proto::Hello hello = MakeHello();
    *hello.mutable_callee() = other;
    DialerHandshake dialer(MakeHello(), credentials);
    ListenerHandshake listener(other, credentials, std::string(kNonceBytes, 'l'));
    auto challenge =
        listener.OnMessage(proto::HELLO, DialerHandshake(hello, credentials).Hello().body);
    ASSERT_TRUE(challenge.has_value());
    dialer.OnMessage(proto::CHALLENGE, challenge->body);
    EXPECT_EQ(dialer.state(), DialerHandshake::State::kFailed);
  }
}

TEST_F(HandshakeTest, ARefusalCountsAsTrustedOnlyAfterTheListenersProof) {
  const HandshakeMessage fenced = RefusedMessage(proto::FENCED, "gone\x1b[31m\n");
  DialerHandshake before(MakeHello(), credentials);
  before.OnMessage(proto::REFUSED, fenced.body);
  EXPECT_TRUE(before.failure().by_peer);
  EXPECT_FALSE(before.failure().trusted);
  EXPECT_EQ(before.failure().refused.text(), "gone?[31m?") << "for a log line";

  DialerHandshake after(MakeHello(), credentials);
  auto challenge = MakeListener().OnMessage(proto::HELLO, after.Hello().body);
  after.OnMessage(proto::CHALLENGE, challenge->body);
  after.OnMessage(proto::REFUSED, fenced.body);
  EXPECT_TRUE(after.failure().trusted);
  EXPECT_EQ(after.failure().refused.reason(), proto::FENCED);
}

TEST_F(HandshakeTest, AMessageBecomesAFrame) {
  const BufferSlice frame = RefusedMessage(proto::TOO_MANY, "later").ToFrame();
  auto header = net::DecodeFrameHeader(frame.view(), kMaxHandshakeBodyBytes);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->type, proto::REFUSED);
  EXPECT_EQ(header->body_bytes, frame.size() - net::kFrameHeaderBytes);
}

}  // namespace
}  // namespace heron::link
