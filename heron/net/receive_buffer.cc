#include "heron/net/receive_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heron::net {
namespace {

// With less room than this at its end a chunk counts as full: tiny reads cost more than the bytes
// are worth.
constexpr size_t kMinReadBytes = 4096;
constexpr size_t kMinChunkBytes = 2 * kMinReadBytes;
constexpr size_t kCopyOutDivisor = 256;

}  // namespace

ReceiveBuffer::ReceiveBuffer(size_t chunk_bytes, size_t max_body_bytes)
    : chunk_bytes_(std::max(chunk_bytes, kMinChunkBytes)),
      copy_out_bytes_(chunk_bytes_ / kCopyOutDivisor),
      max_body_bytes_(max_body_bytes) {}

ReceiveBuffer::Block ReceiveBuffer::NewBlock(size_t size) {
  return Block{std::shared_ptr<char[]>(new char[size]), size};
}

bool ReceiveBuffer::SoleOwner(const Block& block) {
  if (block.memory == nullptr || block.memory.use_count() != 1) return false;
  // use_count() orders nothing. Adding and dropping a reference does: what other threads did with
  // their slices before they released them has happened before we write here again.
  std::shared_ptr<char[]> ordering = block.memory;
  return true;
}

void ReceiveBuffer::MoveTo(Block block) {
  const size_t partial = end_ - begin_;
  if (partial > 0) std::memcpy(block.memory.get(), block_.memory.get() + begin_, partial);
  if (block_.size == chunk_bytes_) spare_ = std::move(block_);
  block_ = std::move(block);
  begin_ = 0;
  end_ = partial;
}

ReceiveBuffer::Space ReceiveBuffer::PrepareRead() {
  if (begin_ == end_ && block_.size == chunk_bytes_ && SoleOwner(block_)) begin_ = end_ = 0;
  const size_t room_from_begin = block_.size - begin_;
  const size_t room = block_.size - end_;
  const bool large = needed_ > chunk_bytes_;
  const bool fits = needed_ <= room_from_begin && room > 0;
  if (large ? !fits : (!fits || room < kMinReadBytes)) {
    if (large) {
      MoveTo(NewBlock(needed_));
    } else if (SoleOwner(spare_)) {
      MoveTo(std::exchange(spare_, Block{}));
    } else {
      MoveTo(NewBlock(chunk_bytes_));
    }
  }
  // Into a large frame's own buffer nothing but that frame is read.
  return Space{block_.memory.get() + end_, block_.size - end_};
}

void ReceiveBuffer::Commit(size_t n) {
  DCHECK_LE(n, block_.size - end_);
  end_ += n;
}

Result<std::optional<Frame>> ReceiveBuffer::Next() {
  const size_t available = end_ - begin_;
  needed_ = kFrameHeaderBytes;
  if (available < kFrameHeaderBytes) return std::optional<Frame>();
  const char* data = block_.memory.get() + begin_;
  Result<FrameHeader> header =
      DecodeFrameHeader(std::string_view(data, kFrameHeaderBytes), max_body_bytes_);
  if (!header.ok()) return header.status();
  const size_t total = kFrameHeaderBytes + header->body_bytes;
  if (available < total) {
    needed_ = total;
    return std::optional<Frame>();
  }
  begin_ += total;
  Frame frame;
  frame.type = header->type;
  frame.bytes = total <= copy_out_bytes_ ? BufferSlice::Copy(std::string_view(data, total))
                                         : BufferSlice(block_.memory, data, total);
  if (block_.size != chunk_bytes_ && begin_ == end_) {
    // The frame alone keeps its exact buffer.
    block_ = Block{};
    begin_ = end_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

}  // namespace heron::net
