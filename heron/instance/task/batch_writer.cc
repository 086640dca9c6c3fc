#include "heron/instance/task/batch_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "heron/model/tuple_batch.h"
#include "heron/net/frame.h"
#include "proto/frame.pb.h"

namespace heron::instance {
namespace {

// In front of the payload.
constexpr size_t kRoom = net::kFrameHeaderBytes + model::kMaxBatchHeaderBytes;
constexpr size_t kFirstCapacity = 1024;

std::shared_ptr<char[]> NewBuffer(size_t bytes) { return std::shared_ptr<char[]>(new char[bytes]); }

}  // namespace

BatchWriter::BatchWriter(Options options, Sink* sink)
    : options_(options), sink_(sink), edge_salt_(model::EdgeSalt(options.task, options.epoch)) {}

uint64_t BatchWriter::FreshEdge() {
  if (fresh_base_ == 0 || fresh_used_ == uint64_t{1} << kEdgeBlockBits) {
    fresh_base_ = NextEdgeBlock();
    fresh_used_ = 0;
  }
  return model::EdgeId(fresh_base_, fresh_used_++);
}

BatchWriter::OpenBatch& BatchWriter::Of(uint32_t stream, TaskId destination) {
  if (stream >= open_.size()) open_.resize(stream + 1);
  std::vector<std::unique_ptr<OpenBatch>>& by_task = open_[stream];
  const size_t index = static_cast<size_t>(destination);
  if (index >= by_task.size()) by_task.resize(index + 1);
  std::unique_ptr<OpenBatch>& batch = by_task[index];
  if (batch == nullptr) {
    batch = std::make_unique<OpenBatch>();
    batch->stream = stream;
    batch->destination = destination;
    batch->number = &numbers_[destination];
  }
  return *batch;
}

void BatchWriter::Grow(OpenBatch& batch, size_t needed) {
  size_t capacity = std::max(kFirstCapacity, batch.capacity * 2);
  capacity = std::max(needed, std::min(capacity, options_.batch_max_bytes));
  std::shared_ptr<char[]> buffer = NewBuffer(kRoom + capacity);
  if (batch.size > 0) std::memcpy(buffer.get() + kRoom, batch.buffer.get() + kRoom, batch.size);
  batch.buffer = std::move(buffer);
  batch.capacity = capacity;
}

char* BatchWriter::Reserve(uint32_t stream, TaskId destination, size_t bytes) {
  OpenBatch& batch = Of(stream, destination);
  if (batch.tuples > 0 && batch.size + bytes > options_.batch_max_bytes) {
    Close(batch);
    dirty_.erase(std::find(dirty_.begin(), dirty_.end(), &batch));
  }
  if (batch.buffer == nullptr || batch.size + bytes > batch.capacity) Grow(batch, batch.size + bytes);
  if (options_.anchored && batch.tuples == 0) {
    batch.edge_base = NextEdgeBlock();
    if (batch.edge_base == 0) batch.edge_base = NextEdgeBlock();  // 0 means: none
    batch.anchors = model::AnchorContext();
  }
  reserved_ = &batch;
  reserved_bytes_ = bytes;
  return batch.buffer.get() + kRoom + batch.size;
}

void BatchWriter::Commit(size_t bytes) {
  OpenBatch& batch = *reserved_;
  batch.size += bytes;
  ++batch.tuples;
  if (!std::exchange(batch.dirty, true)) dirty_.push_back(&batch);
  if (batch.size < options_.batch_max_bytes && batch.tuples < (1u << kEdgeBlockBits)) return;
  Close(batch);
  dirty_.erase(std::find(dirty_.begin(), dirty_.end(), &batch));
}

void BatchWriter::CloseAll() {
  for (OpenBatch* batch : dirty_) Close(*batch);
  dirty_.clear();
}

void BatchWriter::Close(OpenBatch& batch) {
  model::BatchHeader header;
  header.source_task = options_.task;
  header.source_epoch = options_.epoch;
  header.destination_task = batch.destination;
  header.stream = batch.stream;
  header.tuple_count = batch.tuples;
  header.number = ++*batch.number;
  header.routing_version = options_.routing_version;
  header.edge_base = batch.edge_base;
  char encoded[model::kMaxBatchHeaderBytes];
  const size_t header_bytes = model::EncodeBatchHeader(header, batch.size, encoded);
  const size_t frame_bytes = net::kFrameHeaderBytes + header_bytes + batch.size;

  const bool copy_out = batch.size < batch.capacity / 4;
  std::shared_ptr<char[]> buffer = batch.buffer;
  char* begin = buffer.get() + kRoom - header_bytes - net::kFrameHeaderBytes;
  if (copy_out) {
    buffer = NewBuffer(frame_bytes);
    begin = buffer.get();
    std::memcpy(begin + frame_bytes - batch.size, batch.buffer.get() + kRoom, batch.size);
  } else {
    batch.buffer.reset();
  }
  net::EncodeFrameHeader({.body_bytes = static_cast<uint32_t>(header_bytes + batch.size),
                          .type = static_cast<uint16_t>(proto::TUPLE_BATCH)},
                         begin);
  std::memcpy(begin + net::kFrameHeaderBytes, encoded, header_bytes);
  if (!copy_out) {
    // The next one is as large as this one came to be, unless a single tuple had made it larger than a batch.
    if (batch.capacity > options_.batch_max_bytes) {
      batch.capacity = 0;
    } else {
      batch.buffer = NewBuffer(kRoom + batch.capacity);
    }
  }
  batch.size = 0;
  batch.tuples = 0;
  batch.dirty = false;
  sink_->OnBatch(BufferSlice(std::move(buffer), begin, frame_bytes));
}

}  // namespace heron::instance
