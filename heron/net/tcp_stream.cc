#include "heron/net/tcp_stream.h"

#include <google/protobuf/message_lite.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <utility>

#include "heron/net/event_loop_impl.h"

namespace heron::net {
namespace {

constexpr Duration kFlushTime = std::chrono::seconds(1);  // of CloseAfterFlush, until the end
constexpr size_t kMaxLingerBytes = 64 << 10;
// Written in one turn, so that one fast peer does not keep the loop from the others.
constexpr size_t kWriteBudget = 1 << 20;
constexpr int kStallChecksPerTimeout = 4;

// The pieces as asio wants to see them.
struct GatherList {
  explicit GatherList(const SendQueue::Pieces& pieces) : count(pieces.count) {
    for (size_t i = 0; i < count; ++i) {
      buffers[i] = asio::const_buffer(pieces.items[i].data(), pieces.items[i].size());
    }
  }
  using value_type = asio::const_buffer;
  const asio::const_buffer* begin() const { return buffers.data(); }
  const asio::const_buffer* end() const { return buffers.data() + count; }

  std::array<asio::const_buffer, SendQueue::kMaxPieces> buffers;
  size_t count;
};

class TcpConnection final : public Connection {
 public:
  TcpConnection(EventLoop& loop, std::shared_ptr<TcpStream> stream)
      : loop_(loop), stream_(std::move(stream)) {}
  ~TcpConnection() override { stream_->Detach(); }

  void SetHandler(Handler* handler) override { stream().SetHandler(handler); }
  void SetMaxBodyBytes(size_t bytes) override { stream().SetMaxBodyBytes(bytes); }
  void Send(uint16_t type, const google::protobuf::MessageLite& message) override {
    stream().Send(EncodeFrame(type, message), BufferSlice());
  }
  void SendFrame(BufferSlice frame) override { stream().Send(std::move(frame), BufferSlice()); }
  void SendFrame(BufferSlice head, BufferSlice tail) override {
    stream().Send(std::move(head), std::move(tail));
  }
  size_t QueuedBytes() const override { return stream_->QueuedBytes(); }
  void PauseReading() override { stream().PauseReading(); }
  void ResumeReading() override { stream().ResumeReading(); }
  void Close() override { stream().Close(); }
  void CloseAfterFlush() override { stream().CloseAfterFlush(); }
  std::string peer_address() const override { return stream_->peer(); }
  MonotonicTime last_received() const override { return stream_->last_received(); }

 private:
  TcpStream& stream() {
    DCHECK(loop_.InLoopThread()) << "a connection is used in its loop's thread only";
    return *stream_;
  }

  EventLoop& loop_;
  std::shared_ptr<TcpStream> stream_;
};

}  // namespace

TcpStream::TcpStream(EventLoop& loop, TcpSocket socket, const ConnectionOptions& options,
                     std::string peer)
    : loop_(loop),
      socket_(std::move(socket)),
      options_(options),
      peer_(std::move(peer)),
      receive_(options.read_chunk_bytes, options.max_body_bytes),
      stall_judge_(options.stall_timeout),
      last_received_(loop.clock().Now()) {}

std::unique_ptr<Connection> TcpStream::MakeConnection(EventLoop& loop, TcpSocket socket,
                                                      const ConnectionOptions& options,
                                                      std::string peer) {
  return std::make_unique<TcpConnection>(
      loop, std::make_shared<TcpStream>(loop, std::move(socket), options, std::move(peer)));
}

void TcpStream::SetHandler(Connection::Handler* handler) {
  if (state_ == State::kFlushing || state_ == State::kLingering) return;
  handler_ = handler;
  if (handler != nullptr) ScheduleTurn();
}

void TcpStream::Send(BufferSlice head, BufferSlice tail) {
  if (state_ != State::kOpen || write_broken_) return;
  queue_.Push(std::move(head));
  queue_.Push(std::move(tail));
  if (queue_.bytes() > options_.low_watermark_bytes) above_low_watermark_ = true;
  // Not now: frames sent in a row leave in one gather write.
  if (!write_waiting_) ScheduleTurn();
}

void TcpStream::ResumeReading() {
  if (!paused_) return;
  paused_ = false;
  if (state_ == State::kOpen) ScheduleTurn();
}

void TcpStream::Close() {
  handler_ = nullptr;
  failure_.reset();
  if (state_ != State::kClosed) CloseSocket();
}

void TcpStream::CloseAfterFlush() {
  handler_ = nullptr;
  failure_.reset();
  if (state_ != State::kOpen) return;
  state_ = State::kFlushing;
  linger_timer_ = loop_.RunAfter(kFlushTime, [self = shared_from_this()] {
    self->linger_timer_ = 0;
    if (self->state_ != State::kClosed) self->CloseSocket();
  });
  if (!write_waiting_) ScheduleTurn();
}

void TcpStream::Detach() {
  handler_ = nullptr;
  failure_.reset();
  if (state_ == State::kOpen) CloseSocket();
}

void TcpStream::ScheduleTurn() {
  if (turn_scheduled_) return;
  turn_scheduled_ = true;
  asio::post(loop_.impl().io, [self = shared_from_this()] {
    self->turn_scheduled_ = false;
    self->OnTurn();
  });
}

void TcpStream::OnTurn() {
  if (failure_.has_value()) {
    TellClosed();
    return;
  }
  Flush();
  DeliverFrames();
  StartRead();
}

void TcpStream::DeliverFrames() {
  while (state_ == State::kOpen && handler_ != nullptr && !paused_) {
    Result<std::optional<Frame>> next = receive_.Next();
    if (!next.ok()) {
      Fail(next.status());
      return;
    }
    if (!next->has_value()) return;
    handler_->OnFrame(std::move(**next));
  }
}

void TcpStream::StartRead() {
  const bool wanted =
      (state_ == State::kOpen && handler_ != nullptr && !paused_) || state_ == State::kLingering;
  if (!wanted || reading_) return;
  reading_ = true;
  const ReceiveBuffer::Space space = receive_.PrepareRead();
  socket_.async_read_some(asio::mutable_buffer(space.data, space.size),
                          [self = shared_from_this()](const asio::error_code& ec, size_t n) {
                            self->reading_ = false;
                            self->OnRead(ec, n);
                          });
}

void TcpStream::OnRead(const asio::error_code& ec, size_t n) {
  if (state_ == State::kClosed) return;
  if (state_ != State::kOpen) {
    OnReadWhileClosing(ec, n);
    return;
  }
  if (ec == asio::error::eof) {
    Fail(Unavailable(receive_.partial_bytes() == 0
                         ? "closed by the peer"
                         : "closed by the peer in the middle of a frame"));
    return;
  }
  if (ec) {
    Fail(Unavailable("connection lost: " + ec.message()));
    return;
  }
  last_received_ = loop_.clock().Now();
  receive_.Commit(n);
  DeliverFrames();
  StartRead();
}

void TcpStream::OnReadWhileClosing(const asio::error_code& ec, size_t n) {
  // Not committed: what comes now is thrown away.
  lingered_bytes_ += n;
  if (ec || (state_ == State::kLingering && lingered_bytes_ > kMaxLingerBytes)) {
    CloseSocket();
    return;
  }
  StartRead();
}

void TcpStream::Flush() {
  if (state_ == State::kClosed || state_ == State::kLingering) return;
  if (write_waiting_ || write_broken_) return;
  size_t written = 0;
  while (!queue_.empty()) {
    const SendQueue::Pieces pieces = queue_.Front();
    asio::error_code ec;
    const size_t n = socket_.write_some(GatherList(pieces), ec);
    if (ec == asio::error::interrupted) continue;
    if (ec == asio::error::would_block || ec == asio::error::try_again) {
      WaitWritable();
      break;
    }
    if (ec) {
      OnWriteError(ec);
      return;
    }
    queue_.Consume(n);
    written += n;
    if (n < pieces.bytes) {  // the kernel's buffer is full
      WaitWritable();
      break;
    }
    if (written >= kWriteBudget) {
      ScheduleTurn();
      break;
    }
  }
  if (written > 0) WatchForStall();
  if (queue_.empty() && state_ == State::kFlushing) {
    StartLingering();
    return;
  }
  if (above_low_watermark_ && queue_.bytes() <= options_.low_watermark_bytes) {
    above_low_watermark_ = false;
    if (handler_ != nullptr) handler_->OnWritable();
  }
}

void TcpStream::WaitWritable() {
  write_waiting_ = true;
  WatchForStall();
  socket_.async_wait(TcpSocket::wait_write,
                     [self = shared_from_this()](const asio::error_code& ec) {
                       self->write_waiting_ = false;
                       if (!ec) self->Flush();
                     });
}

void TcpStream::OnWriteError(const asio::error_code& ec) {
  write_broken_ = true;
  queue_.Clear();
  // The peer's last words (why it refused us) may lie in the receive buffer: reading meets the end
  // soon. Without a reader this is the end.
  const bool reader = state_ == State::kOpen && handler_ != nullptr && !paused_;
  if (!reader) Fail(Unavailable("connection lost: " + ec.message()));
}

void TcpStream::StartLingering() {
  asio::error_code ec;
  socket_.shutdown(TcpSocket::shutdown_send, ec);
  if (ec) {
    CloseSocket();
    return;
  }
  state_ = State::kLingering;
  receive_.DropAll();  // nobody takes it any more; it would be in the way of what is still to come
  StartRead();
}

void TcpStream::WatchForStall() {
  if (stall_timer_ != 0 || options_.stall_timeout <= Duration::zero()) return;
  stall_timer_ =
      loop_.RunAfter(options_.stall_timeout / kStallChecksPerTimeout, [weak = weak_from_this()] {
        if (auto self = weak.lock()) self->OnStallTimer();
      });
}

void TcpStream::OnStallTimer() {
  stall_timer_ = 0;
  if (state_ != State::kOpen) return;
  SendProgress progress = ReadSendProgress(socket_.native_handle());
  progress.unsent_bytes += queue_.bytes();
  if (stall_judge_.IsGone(progress, loop_.clock().Now())) {
    Fail(DeadlineExceeded("the peer has taken none of " + std::to_string(progress.unsent_bytes) +
                          " bytes for too long and does not answer"));
    return;
  }
  if (progress.unsent_bytes > 0) WatchForStall();
}

void TcpStream::Fail(const Status& why) {
  if (state_ == State::kClosed) return;
  const bool tell = state_ == State::kOpen;
  CloseSocket();
  if (!tell) return;
  failure_ = why.WithContext(peer_);
  TellClosed();
}

void TcpStream::TellClosed() {
  // Without a handler it waits for one.
  if (handler_ == nullptr || !failure_.has_value()) return;
  Connection::Handler* handler = std::exchange(handler_, nullptr);
  const Status why = *std::exchange(failure_, std::nullopt);
  handler->OnClosed(why);
}

void TcpStream::CloseSocket() {
  state_ = State::kClosed;
  asio::error_code ec;
  socket_.close(ec);
  loop_.CancelTimer(std::exchange(stall_timer_, 0));
  loop_.CancelTimer(std::exchange(linger_timer_, 0));
  queue_.Clear();
}

}  // namespace heron::net
