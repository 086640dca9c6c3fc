// Cuts a byte stream into frames without copying them. I/O-free: the connection reads into
// PrepareRead() and takes frames from Next().
//
// Memory. Bytes are read into a chunk that all frames of it share, until it is full; only then a
// new one is started, so that a queue of frames holds about as much memory as its frames have
// bytes. Frames too small to be worth a share in a chunk (1/256 of it) are copied out: a few of
// them, left in a queue for long, would pin a chunk each. A frame larger than a chunk gets a buffer
// of its exact size. A chunk that nobody shares any more is used again.
//
// Thread: that of its owner; the frames may be released in any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "heron/base/status.h"
#include "heron/net/frame.h"

namespace heron::net {

class ReceiveBuffer {
 public:
  struct Space {
    char* data;
    size_t size;
  };

  ReceiveBuffer(size_t chunk_bytes, size_t max_body_bytes);

  void SetMaxBodyBytes(size_t bytes) { max_body_bytes_ = bytes; }

  // Where the next bytes go, at least one. Call it only after Next() returned nothing, or before
  // the first Commit().
  Space PrepareRead();
  // `n` bytes were written at PrepareRead().
  void Commit(size_t n);

  // The next whole frame, nothing if it has not come as a whole yet, or an error (over the limit,
  // not a frame) after which the stream cannot be read any more.
  Result<std::optional<Frame>> Next();

  // Throws away what was received and not taken.
  void DropAll() {
    begin_ = end_;
    needed_ = kFrameHeaderBytes;
  }

  // Bytes of a frame that is not complete.
  size_t partial_bytes() const { return end_ - begin_; }

 private:
  struct Block {
    std::shared_ptr<char[]> memory;
    size_t size = 0;
  };
  static Block NewBlock(size_t size);
  static bool SoleOwner(const Block& block);
  void MoveTo(Block block);

  const size_t chunk_bytes_;
  const size_t copy_out_bytes_;
  size_t max_body_bytes_;
  Block block_;       // where bytes go: a chunk, or the exact buffer of a large frame
  size_t begin_ = 0;  // in block_: first byte that was not handed out
  size_t end_ = 0;    // in block_: first byte that was not received
  size_t needed_ = kFrameHeaderBytes;  // bytes from begin_ to the end of the present frame, as far
                                       // as it is known
  Block spare_;                        // the chunk before this one, perhaps still shared
};

}  // namespace heron::net
