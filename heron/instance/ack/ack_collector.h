// What a task acknowledges and fails, until it leaves: updates for the same root are merged,
// updates for one life of a spout task leave in one frame. Plain object; the task's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heron/base/buffer.h"
#include "heron/base/ids.h"
#include "heron/model/ack_batch.h"
#include "heron/model/anchors.h"

namespace heron::instance {

class AckCollector {
 public:
  // Updates of one frame: it is full then.
  static constexpr size_t kMostUpdates = 2048;

  explicit AckCollector(TaskId self) : self_(self) {}

  void Add(const model::RootId& root, uint64_t edges);
  void Fail(const model::RootId& root);

  bool empty() const { return dirty_.empty(); }
  bool full() const { return full_; }  // a frame is: take them soon
  // Appends whole frames of type ACK_BATCH.
  void TakeFrames(std::vector<BufferSlice>& frames);

 private:
  static constexpr size_t kPlaces = 1024;  // a power of two

  struct Spout {
    TaskId task = 0;
    uint32_t life = 0;
    std::vector<model::AckUpdate> updates;
    std::vector<uint64_t> failures;
    // Where the update for a sequence stands, by its low bits: right if the update there says so.
    std::vector<uint16_t> places;
  };

  Spout& Of(const model::RootId& root);

  const TaskId self_;
  std::vector<std::unique_ptr<Spout>> spouts_;
  Spout* last_ = nullptr;
  std::vector<Spout*> dirty_;
  bool full_ = false;
};

}  // namespace heron::instance
