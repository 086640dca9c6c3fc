// What a connection has to send: pieces in order, handed to the kernel in gather writes. I/O-free.
//
// Thread: that of its owner.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <string_view>

#include "heron/base/buffer.h"

namespace heron::net {

class SendQueue {
 public:
  static constexpr size_t kMaxPieces = 64;  // of one gather write

  struct Pieces {
    std::array<std::string_view, kMaxPieces> items;
    size_t count = 0;
    size_t bytes = 0;
  };

  void Push(BufferSlice piece);
  // The first pieces; they point into the queue's slices.
  Pieces Front() const;
  // The first `n` bytes have gone.
  void Consume(size_t n);
  void Clear();

  size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }

 private:
  std::deque<BufferSlice> pieces_;  // none is empty
  size_t first_offset_ = 0;         // bytes of the first piece that have gone
  size_t bytes_ = 0;
};

}  // namespace heron::net
