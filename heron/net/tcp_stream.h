// The TCP connection behind net::Connection. It outlives the Connection while a flush or an
// asynchronous operation is under way, which is why it is a shared object of its own. For heron/net
// only.
//
// Thread: the loop's. Everything that reaches the handler starts in a loop callback (OnTurn,
// OnRead, timers), never in a call of the owner: those only note what is to do and schedule a turn.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "heron/base/buffer.h"
#include "heron/base/status.h"
#include "heron/net/connection.h"
#include "heron/net/event_loop.h"
#include "heron/net/receive_buffer.h"
#include "heron/net/send_queue.h"
#include "heron/net/stall_judge.h"
#include "heron/net/tcp_socket.h"

namespace heron::net {

class TcpStream final : public std::enable_shared_from_this<TcpStream> {
 public:
  TcpStream(EventLoop& loop, TcpSocket socket, const ConnectionOptions& options, std::string peer);

  // Hands out the Connection that owns the stream.
  static std::unique_ptr<Connection> MakeConnection(EventLoop& loop, TcpSocket socket,
                                                    const ConnectionOptions& options,
                                                    std::string peer);

  void SetHandler(Connection::Handler* handler);
  void SetMaxBodyBytes(size_t bytes) { receive_.SetMaxBodyBytes(bytes); }
  void Send(BufferSlice head, BufferSlice tail);
  size_t QueuedBytes() const { return queue_.bytes(); }
  void PauseReading() { paused_ = true; }
  void ResumeReading();
  void Close();
  void CloseAfterFlush();
  // The Connection is gone: closes, unless a flush is under way, which goes on.
  void Detach();

  const std::string& peer() const { return peer_; }
  MonotonicTime last_received() const { return last_received_; }

 private:
  enum class State {
    kOpen,
    kFlushing,   // CloseAfterFlush: the queue is being sent, nothing is delivered
    kLingering,  // all sent, end of stream sent; waits for the peer's, so that no reset overtakes
                 // our last bytes
    kClosed,
  };

  void ScheduleTurn();
  void OnTurn();
  void DeliverFrames();
  void StartRead();
  void OnRead(const asio::error_code& ec, size_t n);
  void OnReadWhileClosing(const asio::error_code& ec, size_t n);
  void Flush();
  void WaitWritable();
  void OnWriteError(const asio::error_code& ec);
  void StartLingering();
  void WatchForStall();
  void OnStallTimer();
  // From loop callbacks only: closes and tells the handler.
  void Fail(const Status& why);
  void TellClosed();
  void CloseSocket();

  EventLoop& loop_;
  TcpSocket socket_;
  const ConnectionOptions options_;
  const std::string peer_;
  Connection::Handler* handler_ = nullptr;
  State state_ = State::kOpen;
  std::optional<Status> failure_;  // not told yet
  ReceiveBuffer receive_;
  SendQueue queue_;
  StallJudge stall_judge_;
  MonotonicTime last_received_;
  TimerId stall_timer_ = 0;
  TimerId linger_timer_ = 0;
  size_t lingered_bytes_ = 0;
  bool paused_ = false;
  bool turn_scheduled_ = false;
  bool reading_ = false;        // a read operation is under way
  bool write_waiting_ = false;  // a wait for writability is under way
  bool write_broken_ = false;   // no more writes; what the peer said last is still to be read
  bool above_low_watermark_ = false;
};

}  // namespace heron::net
