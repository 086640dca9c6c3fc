#include "heron/model/ack_batch.h"

#include <cstring>

#include "heron/model/varint.h"

namespace heron::model {
namespace {

// Tags: field number and wire type.
enum Tag : uint8_t {
  kSourceTask = 1 << 3 | 0,
  kDestinationTask = 2 << 3 | 0,
  kLife = 3 << 3 | 5,
  kUpdates = 14 << 3 | 2,
  kFailures = 15 << 3 | 2,
};

char* WriteTask(Tag tag, TaskId task, char* at) {
  if (task == 0) return at;
  *at++ = static_cast<char>(tag);
  return WriteVarint(static_cast<uint64_t>(static_cast<int64_t>(task)), at);
}

char* WriteBytes(Tag tag, const void* data, size_t size, char* at) {
  if (size == 0) return at;
  *at++ = static_cast<char>(tag);
  at = WriteVarint(size, at);
  std::memcpy(at, data, size);
  return at + size;
}

Status Broken(const char* what) {
  return DataLoss(std::string("ack batch: ") + what + " is broken");
}

// Takes a length-delimited field whose items have `item` bytes.
const char* ReadItems(const char* at, const char* end, size_t item, std::string_view& items) {
  uint64_t size = 0;
  at = ReadVarint(at, end, size);
  if (at == nullptr || size > static_cast<uint64_t>(end - at) || size % item != 0) return nullptr;
  items = std::string_view(at, static_cast<size_t>(size));
  return at + size;
}

}  // namespace

size_t EncodeAckBatch(const AckHeader& header, std::span<const AckUpdate> updates,
                      std::span<const uint64_t> failures, char* out) {
  char* at = WriteTask(kSourceTask, header.source_task, out);
  at = WriteTask(kDestinationTask, header.destination_task, at);
  if (header.life != 0) {
    *at++ = static_cast<char>(kLife);
    std::memcpy(at, &header.life, sizeof header.life);
    at += sizeof header.life;
  }
  at = WriteBytes(kUpdates, updates.data(), updates.size_bytes(), at);
  at = WriteBytes(kFailures, failures.data(), failures.size_bytes(), at);
  return static_cast<size_t>(at - out);
}

AckUpdate AckView::update(size_t i) const {
  AckUpdate update;
  std::memcpy(&update, updates.data() + i * sizeof update, sizeof update);
  return update;
}

uint64_t AckView::failure(size_t i) const {
  uint64_t sequence = 0;
  std::memcpy(&sequence, failures.data() + i * sizeof sequence, sizeof sequence);
  return sequence;
}

Result<AckView> DecodeAckBatch(std::string_view body) {
  AckView view;
  const char* at = body.data();
  const char* const end = at + body.size();
  while (at != end) {
    const uint8_t tag = static_cast<uint8_t>(*at++);
    uint64_t value = 0;
    switch (tag) {
      case kSourceTask:
      case kDestinationTask:
        at = ReadVarint(at, end, value);
        if (at == nullptr) return Broken("a task");
        (tag == kSourceTask ? view.header.source_task : view.header.destination_task) =
            static_cast<TaskId>(value);
        break;
      case kLife:
        if (end - at < 4) return Broken("the life");
        std::memcpy(&view.header.life, at, 4);
        at += 4;
        break;
      case kUpdates:
        at = ReadItems(at, end, sizeof(AckUpdate), view.updates);
        if (at == nullptr) return Broken("the list of updates");
        break;
      case kFailures:
        at = ReadItems(at, end, sizeof(uint64_t), view.failures);
        if (at == nullptr) return Broken("the list of failures");
        break;
      default:
        return Broken("a field");
    }
  }
  return view;
}

}  // namespace heron::model
