// The header of a proto::TupleBatch, read and written by hand: a generated parser would copy the
// payload. The bytes are those that protobuf would write with the fields in order and the payload
// last; tuple_batch_test compares.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heron/base/ids.h"
#include "heron/base/status.h"

namespace heron::model {

struct BatchHeader {
  TaskId source_task = 0;
  Epoch source_epoch;
  TaskId destination_task = 0;
  uint32_t stream = 0;
  uint32_t tuple_count = 0;
  uint64_t number = 0;
  uint64_t routing_version = 0;
  uint64_t generation = 0;
  // Not 0: each tuple is preceded by its anchors (heron/model/anchors.h), whose edges begin here.
  uint64_t edge_base = 0;
};

// Largest encoded header, with the payload's tag and length.
inline constexpr size_t kMaxBatchHeaderBytes = 112;

// Appends header, payload tag and payload length; the payload's bytes are to follow. Returns the
// bytes written at `out`, which has room for kMaxBatchHeaderBytes.
size_t EncodeBatchHeader(const BatchHeader& header, size_t payload_bytes, char* out);

struct BatchView {
  BatchHeader header;
  std::string_view payload;  // into the bytes that were decoded
};

// DataLoss for anything that is not a whole TupleBatch. Unknown fields before the payload are
// skipped.
Result<BatchView> DecodeBatch(std::string_view body);

}  // namespace heron::model
