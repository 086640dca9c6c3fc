// A proto::AckBatch, read and written by hand like a batch of tuples: one goes back for each few
// batches that come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "heron/base/ids.h"
#include "heron/base/status.h"

namespace heron::model {

struct AckHeader {
  TaskId source_task = 0;       // who acks
  TaskId destination_task = 0;  // the spout's
  uint32_t life = 0;            // of the roots
};

struct AckUpdate {
  uint64_t sequence = 0;
  uint64_t edges = 0;  // to be XORed into the root's
};
static_assert(sizeof(AckUpdate) == 16);

inline constexpr size_t kMaxAckHeaderBytes = 11 + 11 + 5 + 2 * 6;

// Writes the whole message at `out`, which has room for kMaxAckHeaderBytes, 16 bytes for each
// update and 8 for each failure. Returns the bytes written.
size_t EncodeAckBatch(const AckHeader& header, std::span<const AckUpdate> updates,
                      std::span<const uint64_t> failures, char* out);

struct AckView {
  AckHeader header;
  std::string_view updates;   // into the bytes that were decoded
  std::string_view failures;  // sequences

  size_t update_count() const { return updates.size() / sizeof(AckUpdate); }
  AckUpdate update(size_t i) const;
  size_t failure_count() const { return failures.size() / sizeof(uint64_t); }
  uint64_t failure(size_t i) const;
};

// DataLoss for anything that is not a whole AckBatch. Unknown fields are refused: they would change
// what an update means.
Result<AckView> DecodeAckBatch(std::string_view body);

}  // namespace heron::model
