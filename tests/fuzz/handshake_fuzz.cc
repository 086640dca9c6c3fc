// Arbitrary messages to both sides of the handshake. Input: repeated (type byte, length byte x 16
// plus length byte, body). A first byte of the input chooses the side, and whether a right HELLO or
// CHALLENGE comes first. Checked: nobody who does not know the secret is ever let in.
#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "heron/link/credentials.h"
#include "heron/link/handshake.h"
#include "heron/link/identity.h"
#include "proto/frame.pb.h"
#include "proto/handshake.pb.h"

namespace {

using heron::link::DialerHandshake;
using heron::link::ListenerHandshake;

const heron::link::TopologyCredentials& Credentials() {
  static const heron::link::TopologyCredentials credentials{"words", "words-1",
                                                            std::string(32, 'k')};
  return credentials;
}

heron::proto::Identity StreamManager() {
  return heron::link::MakeIdentity(heron::proto::STREAM_MANAGER, 1, 0, {1, 0});
}

heron::proto::Hello RightHello() {
  heron::proto::Hello hello;
  *hello.mutable_caller() = heron::link::MakeIdentity(heron::proto::INSTANCE, 1, 7, {1, 0});
  *hello.mutable_callee() = StreamManager();
  hello.set_lane(heron::proto::DATA);
  hello.set_session(std::string(heron::link::kSessionIdBytes, 's'));
  hello.set_nonce(std::string(heron::link::kNonceBytes, 'd'));
  return hello;
}

// The next (type, body) of the input.
std::optional<std::pair<uint16_t, std::string_view>> NextMessage(std::string_view* input) {
  if (input->size() < 3) return std::nullopt;
  auto byte = [input](size_t i) { return static_cast<uint8_t>((*input)[i]); };
  const uint16_t type = byte(0);
  const size_t length = std::min<size_t>(byte(1) * size_t{16} + byte(2), input->size() - 3);
  const std::string_view body = input->substr(3, length);
  input->remove_prefix(3 + length);
  return std::pair(type, body);
}

void AttackListener(bool hello_first, std::string_view input) {
  ListenerHandshake listener(StreamManager(), Credentials(),
                             std::string(heron::link::kNonceBytes, 'l'));
  if (hello_first) {
    DialerHandshake dialer(RightHello(), Credentials());
    listener.OnMessage(heron::proto::HELLO, dialer.Hello().body);
    CHECK(listener.state() == ListenerHandshake::State::kAwaitProof);
  }
  while (auto message = NextMessage(&input)) {
    auto answer = listener.OnMessage(message->first, message->second);
    if (answer) CHECK_LE(answer->body.size(), heron::link::kMaxHandshakeBodyBytes);
    CHECK(listener.state() != ListenerHandshake::State::kProved) << "let in without the secret";
  }
}

void AttackDialer(bool challenge_first, std::string_view input) {
  DialerHandshake dialer(RightHello(), Credentials());
  if (challenge_first) {
    ListenerHandshake listener(StreamManager(), Credentials(),
                               std::string(heron::link::kNonceBytes, 'l'));
    auto challenge = listener.OnMessage(heron::proto::HELLO, dialer.Hello().body);
    dialer.OnMessage(heron::proto::CHALLENGE, challenge->body);
    CHECK(dialer.state() == DialerHandshake::State::kAwaitWelcome);
  }
  while (auto message = NextMessage(&input)) {
    auto answer = dialer.OnMessage(message->first, message->second);
    if (answer) CHECK_LE(answer->body.size(), heron::link::kMaxHandshakeBodyBytes);
    if (challenge_first) continue;
    CHECK(dialer.state() != DialerHandshake::State::kDone) << "trusts one without the secret";
    CHECK(dialer.state() != DialerHandshake::State::kAwaitWelcome);
    CHECK(!dialer.failure().by_peer || !dialer.failure().trusted);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool primed = (data[0] & 2) != 0;
  if ((data[0] & 1) != 0) {
    AttackDialer(primed, input);
  } else {
    AttackListener(primed, input);
  }
  return 0;
}
