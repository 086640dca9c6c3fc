// The open batches of a task: one per (stream, destination task). Tuples are written straight into them; a closed batch
// is a whole frame in one piece, header in front, so nothing is copied on its way to the socket.
//
// Numbers of a channel are given where a batch is closed, in the order in which batches are handed to the sink.
//
// Memory: a buffer starts small and doubles up to the batch size; a batch that fills little of its buffer is copied out
// when it is closed, so that what waits in queues is as large as it says.
//
// Thread: the task's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "heron/base/buffer.h"
#include "heron/base/ids.h"
#include "heron/model/anchors.h"

namespace heron::instance {

class BatchWriter {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    // A frame of type TUPLE_BATCH, header included.
    virtual void OnBatch(BufferSlice frame) = 0;
  };
  struct Options {
    TaskId task = 0;
    Epoch epoch;
    uint64_t routing_version = 0;
    size_t batch_max_bytes = 32u << 10;  // of payload; a larger tuple makes a batch of its own
    bool anchored = false;               // each tuple is preceded by its anchors
  };

  // `sink` must outlive it.
  BatchWriter(Options options, Sink* sink);

  // Room for a tuple of `bytes` in the batch of (stream, destination); Commit before the next Reserve. May close the
  // batch that is open there.
  char* Reserve(uint32_t stream, TaskId destination, size_t bytes);
  // The bytes of the last Reserve are written, or only the first so many. Closes the batch if it is
  // full.
  void Commit() { Commit(reserved_bytes_); }
  void Commit(size_t bytes);

  // With Options.anchored, between Reserve and Commit. Of the batch: the anchors written before.
  model::AnchorContext& anchor_context() { return reserved_->anchors; }
  // The edge of the tuple if it has one anchor.
  uint64_t edge() const { return model::EdgeId(reserved_->edge_base, reserved_->tuples); }
  // Any time: an edge that no other tuple has.
  uint64_t FreshEdge();

  bool HasOpen() const { return !dirty_.empty(); }
  void CloseAll();

  // Of every channel that was written to.
  const std::map<TaskId, uint64_t>& last_numbers() const { return numbers_; }

 private:
  struct OpenBatch {
    uint32_t stream = 0;
    TaskId destination = 0;
    uint64_t* number = nullptr;  // of the channel
    std::shared_ptr<char[]> buffer;
    size_t capacity = 0;  // of payload
    size_t size = 0;
    uint32_t tuples = 0;
    uint64_t edge_base = 0;  // 0: not anchored
    model::AnchorContext anchors;
    bool dirty = false;
  };

  OpenBatch& Of(uint32_t stream, TaskId destination);
  // A batch takes the edges of a block; a task has 2^44 of them.
  uint64_t NextEdgeBlock() { return edge_salt_ + (edge_blocks_++ << kEdgeBlockBits); }
  void Grow(OpenBatch& batch, size_t needed);
  void Close(OpenBatch& batch);

  const Options options_;
  Sink* const sink_;
  std::vector<std::vector<std::unique_ptr<OpenBatch>>> open_;  // by stream, then task id
  std::vector<OpenBatch*> dirty_;                              // those with tuples, oldest first
  std::map<TaskId, uint64_t> numbers_;
  static constexpr int kEdgeBlockBits = 20;

  const uint64_t edge_salt_;
  uint64_t edge_blocks_ = 0;
  uint64_t fresh_base_ = 0;
  uint64_t fresh_used_ = 0;
  OpenBatch* reserved_ = nullptr;
  size_t reserved_bytes_ = 0;
};

}  // namespace heron::instance
