// A session: the lanes (TCP connections) between two processes of a topology, after the mutual
// handshake of proto/handshake.proto. The lanes share a nonce, come up together and die together;
// the newest session between the same two processes wins; a lower epoch of the caller than one that
// had a session here is refused as fenced. A caller whose incarnation is 0 (an executor that has
// not been given one) has no epoch to compare: it is not fenced.
//
// Every OnSessionUp is followed by one OnSessionDown, except after Session::Close() and the
// destruction of the listener or dialer. A callback may destroy its session's listener or dialer. A
// lane paused by the user still dies with the session; the control lane should not be paused, it
// carries the signs of life.
//
// Who dials whom: instance -> stream manager; stream manager -> topology master; executor ->
// topology master; child -> executor; between stream managers the one with the lower container id
// dials the other.
//
// Thread: the loop's. Callbacks never come from inside a call into the session or dialer.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heron/base/buffer.h"
#include "heron/base/status.h"
#include "heron/link/credentials.h"
#include "heron/link/identity.h"
#include "heron/net/connection.h"
#include "heron/net/event_loop.h"
#include "proto/frame.pb.h"
#include "proto/handshake.pb.h"

namespace heron::link {

struct SessionOptions {
  net::ConnectionOptions connection;          // of the data and ack lanes
  size_t control_max_body_bytes = 64u << 20;  // plans of ten thousand tasks fit
  Duration heartbeat_interval = std::chrono::milliseconds(500);
  Duration heartbeat_timeout =
      std::chrono::seconds(3);  // silence on the control lane closes the session
  Duration handshake_timeout = std::chrono::seconds(5);
  size_t max_pending_handshakes = 256;
};

class Session {
 public:
  virtual ~Session() = default;
  virtual const proto::Identity& peer() const = 0;
  virtual std::string peer_address() const = 0;
  // Queue; never block.
  virtual void Send(proto::Lane lane, proto::MessageType type,
                    const google::protobuf::MessageLite& message) = 0;
  virtual void SendFrame(proto::Lane lane, BufferSlice frame) = 0;
  virtual void SendFrame(proto::Lane lane, BufferSlice head, BufferSlice tail) = 0;
  virtual size_t QueuedBytes(proto::Lane lane) const = 0;
  virtual void PauseReading(proto::Lane lane) = 0;
  virtual void ResumeReading(proto::Lane lane) = 0;
  // Closes all lanes. No callback follows. The session is destroyed when the loop's present handler
  // has returned. A dialer's session is dialled again after the back-off, unless ClearTarget() was
  // called.
  virtual void Close() = 0;
};

class SessionHandler {
 public:
  virtual ~SessionHandler() = default;
  virtual void OnSessionUp(Session& session) = 0;
  // HEARTBEATs and handshake messages are not delivered.
  virtual void OnFrame(Session& session, proto::Lane lane, net::Frame frame) = 0;
  // The lane's send queue fell to its low watermark.
  virtual void OnWritable(Session& /*session*/, proto::Lane /*lane*/) {}
  // Last callback of this session; it is destroyed after the return.
  virtual void OnSessionDown(Session& session, const Status& why) = 0;
};

// What a listener says to a caller after the proof was found right.
struct Refusal {
  proto::RefusalReason reason;
  std::string text;
};

class SessionListener {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    uint16_t port = 0;
    proto::Identity self;
    TopologyCredentials credentials;
    SessionOptions session;
    // Lanes that a session of this caller role consists of; a role that is absent is refused.
    std::map<proto::Role, std::vector<proto::Lane>> lanes;
    // Further admission; empty: everybody with a right proof. Runs when the last lane of a session
    // is proved.
    std::function<std::optional<Refusal>(const proto::Identity& caller)> admit;
  };
  // Counters of what was refused, by reason.
  struct Counters {
    uint64_t accepted = 0;
    uint64_t refused = 0;
    uint64_t wrong_proof = 0;
    uint64_t malformed = 0;
    uint64_t handshake_timeouts = 0;
  };

  // `handler` and `loop` must outlive it.
  static Result<std::unique_ptr<SessionListener>> Listen(net::EventLoop& loop, Options options,
                                                         SessionHandler* handler);
  virtual ~SessionListener() = default;  // closes all its sessions, without callbacks
  virtual uint16_t port() const = 0;
  virtual void SetSelf(proto::Identity self) = 0;  // e.g. when the epoch becomes known
  virtual const Counters& counters() const = 0;
};

// Keeps a session to one callee: dials, reconnects with jittered back-off (50 ms to 2 s), follows
// address changes.
class SessionDialer {
 public:
  struct Options {
    proto::Identity self;
    proto::Identity callee;
    TopologyCredentials credentials;
    SessionOptions session;
    std::vector<proto::Lane> lanes;
    // The callee refused, or could not prove itself (WRONG_PROOF, WRONG_CALLEE). FENCED and
    // NOT_WANTED come only from a callee that has proved itself. Dialling goes on with back-off
    // unless the dialer is stopped in it or later.
    std::function<void(const proto::Refused&)> on_refused;
  };

  static std::unique_ptr<SessionDialer> Make(net::EventLoop& loop, Options options,
                                             SessionHandler* handler);
  virtual ~SessionDialer() = default;  // closes, without callbacks
  // Where the callee is; a change of address or of the callee's epoch drops the present session
  // (with OnSessionDown) and dials the new one at once. The same address again does nothing.
  virtual void SetTarget(const std::string& host, uint16_t port, const proto::Identity& callee) = 0;
  // The callee is gone for now: closes (with OnSessionDown, in a callback of its own) and stops
  // dialling.
  virtual void ClearTarget() = 0;
  virtual void SetSelf(proto::Identity self) = 0;  // used from the next dial on
  virtual Session* session() = 0;                  // nullptr while down
};

}  // namespace heron::link
