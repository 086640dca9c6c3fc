// A TCP connection that carries frames. Made by net::Listener and net::Connector, owned by
// heron/link.
//
// Thread: the loop's. Callbacks never come from inside a call into the connection; OnClosed comes
// exactly once, and nothing comes after it or after the destructor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "heron/base/buffer.h"
#include "heron/base/status.h"
#include "heron/net/event_loop.h"
#include "heron/net/frame.h"

namespace google::protobuf {
class MessageLite;
}

namespace heron::net {

struct ConnectionOptions {
  size_t max_body_bytes = 9u << 20;  // larger frames close the connection
  size_t read_chunk_bytes =
      256u << 10;  // one read; frames that fit are slices of it, larger ones get their own buffer
  int socket_buffer_bytes = 256 << 10;  // SO_SNDBUF and SO_RCVBUF; 0: the kernel's choice
  size_t low_watermark_bytes =
      64u << 10;  // OnWritable when the send queue falls to this after it was above
  // Unsent bytes without any progress for this long close the connection (a peer whose window is
  // zero makes no progress but answers probes: that is slowness and does not count).
  Duration stall_timeout = std::chrono::seconds(15);
};

class Connection {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void OnFrame(Frame frame) = 0;
    // The send queue fell to the low watermark.
    virtual void OnWritable() {}
    // Not called after the local Close().
    virtual void OnClosed(const Status& why) = 0;
  };

  virtual ~Connection() = default;  // closes

  // Before the first callback can come: right after the connection was handed out, or later to
  // change the handler.
  virtual void SetHandler(Handler* handler) = 0;
  virtual void SetMaxBodyBytes(size_t bytes) = 0;

  // Queue; never block. The caller bounds the queue by QueuedBytes(). After Close() they do
  // nothing.
  virtual void Send(uint16_t type, const google::protobuf::MessageLite& message) = 0;
  virtual void SendFrame(BufferSlice frame) = 0;  // a whole frame, header included
  virtual void SendFrame(BufferSlice head,
                         BufferSlice tail) = 0;  // one frame in two pieces (gather write)
  virtual size_t QueuedBytes() const = 0;        // not yet taken by the kernel

  // While paused no frame is delivered (not even one that has been read already).
  virtual void PauseReading() = 0;
  virtual void ResumeReading() = 0;

  // Sends nothing more. CloseAfterFlush sends what is queued first (bounded by one second).
  virtual void Close() = 0;
  virtual void CloseAfterFlush() = 0;

  virtual std::string peer_address() const = 0;  // "127.0.0.1:4711", "[::1]:4711"
  virtual MonotonicTime last_received() const = 0;
};

// Accepts until destroyed. Binds at construction by Listen(); port 0 takes any free one.
class Listener {
 public:
  using OnAccept = std::function<void(std::unique_ptr<Connection>)>;
  static Result<std::unique_ptr<Listener>> Listen(EventLoop& loop, const std::string& host,
                                                  uint16_t port, ConnectionOptions options,
                                                  OnAccept on_accept);
  virtual ~Listener() = default;
  virtual uint16_t port() const = 0;
};

// One asynchronous connect with a deadline. Destroying it before the answer cancels it (no callback
// then).
class Connector {
 public:
  using OnDone = std::function<void(Result<std::unique_ptr<Connection>>)>;
  static std::unique_ptr<Connector> Connect(EventLoop& loop, const std::string& host, uint16_t port,
                                            ConnectionOptions options, Duration timeout,
                                            OnDone on_done);
  virtual ~Connector() = default;
};

// "host:port" with brackets for IPv6; splits at the last colon.
Result<std::pair<std::string, uint16_t>> ParseHostPort(const std::string& text);
std::string FormatHostPort(const std::string& host, uint16_t port);

}  // namespace heron::net
