#include "heron/model/tuple_batch.h"

#include <cstring>

#include "heron/model/varint.h"

namespace heron::model {

namespace {

enum Field : uint32_t {
  kSourceTask = 1,
  kSourceIncarnation = 2,
  kSourceRestart = 3,
  kDestinationTask = 4,
  kStream = 5,
  kTupleCount = 6,
  kNumber = 7,
  kRoutingVersion = 8,
  kGeneration = 9,
  kEdgeBase = 10,
  kPayload = 15,
};

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

// As proto3 does: a zero is not written.
char* WriteField(Field field, uint64_t value, char* out) {
  if (value == 0) return out;
  *out++ = static_cast<char>(field << 3 | kVarint);
  return WriteVarint(value, out);
}

// Negative int32 travel sign-extended to 64 bits.
uint64_t Widened(int32_t value) { return static_cast<uint64_t>(static_cast<int64_t>(value)); }

// Takes bytes off the front of `rest`; false when they are cut off or no varint.
bool TakeVarint(std::string_view& rest, uint64_t& value) {
  const char* end = rest.data() + rest.size();
  const char* at = ReadVarint(rest.data(), end, value);
  if (at == nullptr) return false;
  rest = std::string_view(at, static_cast<size_t>(end - at));
  return true;
}

bool Skip(std::string_view& rest, uint64_t wire_type) {
  uint64_t size = 0;
  switch (wire_type) {
    case kVarint:
      return TakeVarint(rest, size);
    case kFixed64:
      size = 8;
      break;
    case kFixed32:
      size = 4;
      break;
    case kLengthDelimited:
      if (!TakeVarint(rest, size)) return false;
      break;
    default:  // groups do not exist in proto3
      return false;
  }
  if (size > rest.size()) return false;
  rest.remove_prefix(size);
  return true;
}

void SetField(uint64_t field, uint64_t value, BatchHeader& header) {
  switch (field) {
    case kSourceTask:
      header.source_task = static_cast<TaskId>(value);
      break;
    case kSourceIncarnation:
      header.source_epoch.incarnation = value;
      break;
    case kSourceRestart:
      header.source_epoch.restart = value;
      break;
    case kDestinationTask:
      header.destination_task = static_cast<TaskId>(value);
      break;
    case kStream:
      header.stream = static_cast<uint32_t>(value);
      break;
    case kTupleCount:
      header.tuple_count = static_cast<uint32_t>(value);
      break;
    case kNumber:
      header.number = value;
      break;
    case kRoutingVersion:
      header.routing_version = value;
      break;
    case kGeneration:
      header.generation = value;
      break;
    default:
      break;
  }
}

}  // namespace

size_t EncodeBatchHeader(const BatchHeader& header, size_t payload_bytes, char* out) {
  char* at = out;
  at = WriteField(kSourceTask, Widened(header.source_task), at);
  at = WriteField(kSourceIncarnation, header.source_epoch.incarnation, at);
  at = WriteField(kSourceRestart, header.source_epoch.restart, at);
  at = WriteField(kDestinationTask, Widened(header.destination_task), at);
  at = WriteField(kStream, header.stream, at);
  at = WriteField(kTupleCount, header.tuple_count, at);
  at = WriteField(kNumber, header.number, at);
  at = WriteField(kRoutingVersion, header.routing_version, at);
  at = WriteField(kGeneration, header.generation, at);
  if (header.edge_base != 0) {
    *at++ = static_cast<char>(kEdgeBase << 3 | kFixed64);
    std::memcpy(at, &header.edge_base, sizeof header.edge_base);
    at += sizeof header.edge_base;
  }
  if (payload_bytes > 0) {
    *at++ = static_cast<char>(kPayload << 3 | kLengthDelimited);
    at = WriteVarint(payload_bytes, at);
  }
  return static_cast<size_t>(at - out);
}

Result<BatchView> DecodeBatch(std::string_view body) {
  BatchView view;
  std::string_view rest = body;
  while (!rest.empty()) {
    uint64_t tag = 0;
    if (!TakeVarint(rest, tag) || tag > 0xffffffffu || (tag >> 3) == 0) {
      return DataLoss("tuple batch: a broken field tag at byte " +
                      std::to_string(body.size() - rest.size()));
    }
    uint64_t field = tag >> 3;
    uint64_t wire_type = tag & 7;
    uint64_t value = 0;
    if (field == kPayload && wire_type == kLengthDelimited) {
      if (!TakeVarint(rest, value)) return DataLoss("tuple batch: the payload's length is broken");
      if (value != rest.size()) {
        return DataLoss("tuple batch: the payload has " + std::to_string(rest.size()) +
                        " bytes, its length says " + std::to_string(value));
      }
      view.payload = rest;
      return view;
    }
    if (field == kEdgeBase && wire_type == kFixed64) {
      if (rest.size() < sizeof view.header.edge_base) {
        return DataLoss("tuple batch: field " + std::to_string(field) + " is broken");
      }
      std::memcpy(&view.header.edge_base, rest.data(), sizeof view.header.edge_base);
      rest.remove_prefix(sizeof view.header.edge_base);
    } else if (field <= kGeneration && wire_type == kVarint) {
      if (!TakeVarint(rest, value)) {
        return DataLoss("tuple batch: field " + std::to_string(field) + " is broken");
      }
      SetField(field, value, view.header);
    } else if (!Skip(rest, wire_type)) {
      return DataLoss("tuple batch: field " + std::to_string(field) + " is broken");
    }
  }
  return view;
}

}  // namespace heron::model
