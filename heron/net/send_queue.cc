#include "heron/net/send_queue.h"

#include <utility>

namespace heron::net {

void SendQueue::Push(BufferSlice piece) {
  if (piece.empty()) return;
  bytes_ += piece.size();
  pieces_.push_back(std::move(piece));
}

SendQueue::Pieces SendQueue::Front() const {
  Pieces out;
  size_t offset = first_offset_;
  for (const BufferSlice& piece : pieces_) {
    if (out.count == kMaxPieces) break;
    out.items[out.count] = piece.view().substr(offset);
    out.bytes += out.items[out.count].size();
    ++out.count;
    offset = 0;
  }
  return out;
}

void SendQueue::Consume(size_t n) {
  bytes_ -= n;
  n += first_offset_;
  while (!pieces_.empty() && n >= pieces_.front().size()) {
    n -= pieces_.front().size();
    pieces_.pop_front();
  }
  first_offset_ = n;
}

void SendQueue::Clear() {
  pieces_.clear();
  first_offset_ = 0;
  bytes_ = 0;
}

}  // namespace heron::net
