// The bytes of a version file: a header of 32 bytes (magic, flags, size, XXH3 of flags, size and
// value), then the value.
#pragma once

#include <string>
#include <string_view>

#include "heron/base/status.h"

namespace heron::state {

inline constexpr size_t kValueHeaderBytes = 32;

std::string EncodeValueHeader(std::string_view value, bool tombstone);

struct DecodedValue {
  bool tombstone = false;
  std::string_view value;  // points into the bytes
};
// kDataLoss for anything that EncodeValueHeader did not make. `file` is for the message.
Result<DecodedValue> DecodeValueFile(std::string_view bytes, const std::string& file);

}  // namespace heron::state
