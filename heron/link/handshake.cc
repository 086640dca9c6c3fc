#include "heron/link/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>
#include <utility>

#include "heron/link/identity.h"
#include "heron/net/frame.h"

namespace heron::link {
namespace {

constexpr char kListenerSide = 'L';
constexpr char kDialerSide = 'D';
constexpr size_t kMaxTextBytes = 200;

// HMAC-SHA256 over the side and both messages; the length in front of HELLO keeps the border
// between the two fixed.
std::string MakeProof(const std::string& secret, char side, const std::string& hello,
                      const std::string& challenge) {
  std::string input(1, side);
  for (int i = 0; i < 4; ++i) input += static_cast<char>(hello.size() >> (8 * i) & 0xff);
  input += hello;
  input += challenge;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_bytes = 0;
  const unsigned char* done = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                                   reinterpret_cast<const unsigned char*>(input.data()),
                                   input.size(), digest, &digest_bytes);
  CHECK(done != nullptr) << "OpenSSL cannot compute HMAC-SHA256";
  return std::string(reinterpret_cast<const char*>(digest), digest_bytes);
}

// In constant time: how long it takes says nothing about where the two differ.
bool SameProof(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// A peer's text for our log: short, one line, no control characters.
std::string Printable(const std::string& text) {
  std::string out = text.substr(0, kMaxTextBytes);
  for (char& c : out) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return out;
}

HandshakeFailure RefusedByPeer(std::string_view body, bool trusted) {
  HandshakeFailure failure;
  failure.by_peer = true;
  failure.trusted = trusted;
  if (!net::ParseBody(body, failure.refused).ok()) {
    failure.refused.Clear();
    failure.refused.set_reason(proto::MALFORMED);
    failure.refused.set_text("refused, with a reason that cannot be read");
  }
  failure.refused.set_text(Printable(failure.refused.text()));
  return failure;
}

// Is `actual` the process that `wanted` names, in the epoch named or a later one?
bool IsWanted(const proto::Identity& actual, const proto::Identity& wanted) {
  return PlaceOf(actual) == PlaceOf(wanted) && EpochOf(actual.epoch()) >= EpochOf(wanted.epoch());
}

}  // namespace

BufferSlice HandshakeMessage::ToFrame() const {
  std::string frame(net::kFrameHeaderBytes, '\0');
  net::EncodeFrameHeader({static_cast<uint32_t>(body.size()), static_cast<uint16_t>(type)},
                         frame.data());
  frame += body;
  return BufferSlice::Take(std::move(frame));
}

HandshakeMessage RefusedMessage(proto::RefusalReason reason, const std::string& text) {
  proto::Refused refused;
  refused.set_reason(reason);
  refused.set_text(text);
  return {proto::REFUSED, refused.SerializeAsString()};
}

ListenerHandshake::ListenerHandshake(const proto::Identity& self,
                                     const TopologyCredentials& credentials, std::string nonce)
    : self_(self), credentials_(credentials), nonce_(std::move(nonce)) {}

std::optional<HandshakeMessage> ListenerHandshake::OnMessage(uint16_t type, std::string_view body) {
  if (state_ == State::kFailed) return std::nullopt;
  if (type == proto::REFUSED) {
    state_ = State::kFailed;
    failure_ = RefusedByPeer(body, false);
    return std::nullopt;
  }
  if (body.size() > kMaxHandshakeBodyBytes) {
    return Refuse(proto::MALFORMED, "handshake message too large");
  }
  if (state_ == State::kAwaitHello && type == proto::HELLO) return OnHello(body);
  if (state_ == State::kAwaitProof && type == proto::PROOF) return OnProof(body);
  return Refuse(proto::MALFORMED, "message out of order in the handshake");
}

std::optional<HandshakeMessage> ListenerHandshake::OnHello(std::string_view body) {
  if (!net::ParseBody(body, hello_).ok()) {
    return Refuse(proto::MALFORMED, "HELLO cannot be read");
  }
  if (hello_.protocol_version() != kProtocolVersion) {
    return Refuse(proto::PROTOCOL_VERSION, "this process speaks protocol version " +
                                               std::to_string(kProtocolVersion) + ", not " +
                                               std::to_string(hello_.protocol_version()));
  }
  if (hello_.topology_name() != credentials_.topology_name ||
      hello_.topology_id() != credentials_.topology_id) {
    return Refuse(proto::WRONG_TOPOLOGY, "this process belongs to another topology");
  }
  if (hello_.session().size() != kSessionIdBytes || hello_.nonce().size() != kNonceBytes ||
      !proto::Lane_IsValid(hello_.lane()) || hello_.lane() == proto::LANE_UNSPECIFIED) {
    return Refuse(proto::MALFORMED, "HELLO has a wrong nonce, session or lane");
  }
  if (!IsWanted(self_, hello_.callee())) {
    return Refuse(proto::WRONG_CALLEE,
                  "this is not " + DescribeIdentity(hello_.callee()) + " or a later one");
  }
  hello_bytes_ = std::string(body);
  proto::Challenge challenge;
  challenge.set_protocol_version(kProtocolVersion);
  *challenge.mutable_callee() = self_;
  challenge.set_nonce(nonce_);
  challenge_bytes_ = challenge.SerializeAsString();
  challenge.set_proof(
      MakeProof(credentials_.secret, kListenerSide, hello_bytes_, challenge_bytes_));
  state_ = State::kAwaitProof;
  return HandshakeMessage{proto::CHALLENGE, challenge.SerializeAsString()};
}

std::optional<HandshakeMessage> ListenerHandshake::OnProof(std::string_view body) {
  proto::Proof proof;
  if (!net::ParseBody(body, proof).ok()) {
    return Refuse(proto::MALFORMED, "PROOF cannot be read");
  }
  const std::string expected =
      MakeProof(credentials_.secret, kDialerSide, hello_bytes_, challenge_bytes_);
  if (!SameProof(proof.proof(), expected)) {
    return Refuse(proto::WRONG_PROOF, "the caller does not know the topology's secret");
  }
  state_ = State::kProved;
  return std::nullopt;
}

std::optional<HandshakeMessage> ListenerHandshake::Refuse(proto::RefusalReason reason,
                                                          const std::string& text) {
  state_ = State::kFailed;
  failure_.refused.set_reason(reason);
  failure_.refused.set_text(text);
  return RefusedMessage(reason, text);
}

DialerHandshake::DialerHandshake(proto::Hello hello, const TopologyCredentials& credentials)
    : credentials_(credentials), hello_(std::move(hello)) {
  hello_.set_protocol_version(kProtocolVersion);
  hello_.set_topology_name(credentials.topology_name);
  hello_.set_topology_id(credentials.topology_id);
  hello_bytes_ = hello_.SerializeAsString();
}

HandshakeMessage DialerHandshake::Hello() const { return {proto::HELLO, hello_bytes_}; }

std::optional<HandshakeMessage> DialerHandshake::OnMessage(uint16_t type, std::string_view body) {
  if (state_ == State::kFailed || state_ == State::kDone) return std::nullopt;
  if (type == proto::REFUSED) {
    failure_ = RefusedByPeer(body, state_ == State::kAwaitWelcome);
    state_ = State::kFailed;
    return std::nullopt;
  }
  if (body.size() > kMaxHandshakeBodyBytes) {
    return Refuse(proto::MALFORMED, "handshake message too large");
  }
  if (state_ == State::kAwaitChallenge && type == proto::CHALLENGE) return OnChallenge(body);
  if (state_ == State::kAwaitWelcome && type == proto::WELCOME) {
    state_ = State::kDone;
    return std::nullopt;
  }
  return Refuse(proto::MALFORMED, "message out of order in the handshake");
}

std::optional<HandshakeMessage> DialerHandshake::OnChallenge(std::string_view body) {
  proto::Challenge challenge;
  if (!net::ParseBody(body, challenge).ok()) {
    return Refuse(proto::MALFORMED, "CHALLENGE cannot be read");
  }
  if (challenge.protocol_version() != kProtocolVersion) {
    return Refuse(proto::PROTOCOL_VERSION, "the callee speaks protocol version " +
                                               std::to_string(challenge.protocol_version()) +
                                               ", not " + std::to_string(kProtocolVersion));
  }
  if (challenge.nonce().size() != kNonceBytes) {
    return Refuse(proto::MALFORMED, "CHALLENGE has a wrong nonce");
  }
  const std::string proof = challenge.proof();
  challenge.clear_proof();
  const std::string challenge_bytes = challenge.SerializeAsString();
  if (!SameProof(proof,
                 MakeProof(credentials_.secret, kListenerSide, hello_bytes_, challenge_bytes))) {
    return Refuse(proto::WRONG_PROOF, "the callee does not know the topology's secret");
  }
  if (!IsWanted(challenge.callee(), hello_.callee())) {
    return Refuse(proto::WRONG_CALLEE, "called " + DescribeIdentity(hello_.callee()) + ", got " +
                                           DescribeIdentity(challenge.callee()));
  }
  listener_ = challenge.callee();
  state_ = State::kAwaitWelcome;
  proto::Proof answer;
  answer.set_proof(MakeProof(credentials_.secret, kDialerSide, hello_bytes_, challenge_bytes));
  return HandshakeMessage{proto::PROOF, answer.SerializeAsString()};
}

std::optional<HandshakeMessage> DialerHandshake::Refuse(proto::RefusalReason reason,
                                                        const std::string& text) {
  state_ = State::kFailed;
  failure_.refused.set_reason(reason);
  failure_.refused.set_text(text);
  return RefusedMessage(reason, text);
}

}  // namespace heron::link
