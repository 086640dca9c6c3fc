// The two sides of the handshake of proto/handshake.proto as state machines without I/O, clock and
// randomness: messages in, messages and a verdict out. Neither side acts on anything the other says
// before the other has proved that it knows the topology's secret; the listener proves itself
// first.
//
// What a caller may do (role, lane, admission, fencing) is judged by the session listener, after
// the proof.
//
// Thread: that of the owner. Bytes of the peer lead to a refusal, never further.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heron/base/buffer.h"
#include "heron/link/credentials.h"
#include "proto/frame.pb.h"
#include "proto/handshake.pb.h"

namespace heron::link {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr size_t kNonceBytes = 32;
inline constexpr size_t kSessionIdBytes = 16;
inline constexpr size_t kMaxHandshakeBodyBytes = 4096;

struct HandshakeMessage {
  proto::MessageType type;
  std::string body;
  BufferSlice ToFrame() const;
};

HandshakeMessage RefusedMessage(proto::RefusalReason reason, const std::string& text);

// How a handshake ended without success.
struct HandshakeFailure {
  proto::Refused refused;
  bool by_peer = false;  // the peer refused; otherwise this side did
  // The peer had proved itself before it refused (always so for a refusal of this side). Without
  // that, anybody who happens to listen on a recycled port could tell a process that it is fenced.
  bool trusted = true;
};

class ListenerHandshake {
 public:
  enum class State { kAwaitHello, kAwaitProof, kProved, kFailed };

  // `nonce`: kNonceBytes random bytes. `credentials` must outlive it.
  ListenerHandshake(const proto::Identity& self, const TopologyCredentials& credentials,
                    std::string nonce);

  // The peer's next message; the result is to be sent. When the state is kFailed afterwards: send
  // it, then close.
  std::optional<HandshakeMessage> OnMessage(uint16_t type, std::string_view body);

  State state() const { return state_; }
  const proto::Hello& hello() const { return hello_; }          // the peer's word until kProved
  const HandshakeFailure& failure() const { return failure_; }  // kFailed

 private:
  std::optional<HandshakeMessage> OnHello(std::string_view body);
  std::optional<HandshakeMessage> OnProof(std::string_view body);
  std::optional<HandshakeMessage> Refuse(proto::RefusalReason reason, const std::string& text);

  const proto::Identity self_;
  const TopologyCredentials& credentials_;
  const std::string nonce_;
  State state_ = State::kAwaitHello;
  proto::Hello hello_;
  std::string hello_bytes_;
  std::string challenge_bytes_;  // without the proof
  HandshakeFailure failure_;
};

class DialerHandshake {
 public:
  enum class State { kAwaitChallenge, kAwaitWelcome, kDone, kFailed };

  // `hello` without version and topology, which come from `credentials` (must outlive it).
  DialerHandshake(proto::Hello hello, const TopologyCredentials& credentials);

  HandshakeMessage Hello() const;
  std::optional<HandshakeMessage> OnMessage(uint16_t type, std::string_view body);

  State state() const { return state_; }
  const proto::Identity& listener() const { return listener_; }  // proved from kAwaitWelcome on
  const HandshakeFailure& failure() const { return failure_; }

 private:
  std::optional<HandshakeMessage> OnChallenge(std::string_view body);
  std::optional<HandshakeMessage> Refuse(proto::RefusalReason reason, const std::string& text);

  const TopologyCredentials& credentials_;
  State state_ = State::kAwaitChallenge;
  proto::Hello hello_;
  std::string hello_bytes_;
  proto::Identity listener_;
  HandshakeFailure failure_;
};

}  // namespace heron::link
