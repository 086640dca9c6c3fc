// Protobuf's base-128 varints, for messages that are read and written by hand.
#pragma once

#include <cstdint>

namespace heron::model {

inline constexpr int kMaxVarintBytes = 10;

inline char* WriteVarint(uint64_t value, char* out) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

// What follows it; nullptr when it is cut off or no varint.
inline const char* ReadVarint(const char* at, const char* end, uint64_t& value) {
  value = 0;
  for (int i = 0; i < kMaxVarintBytes && at + i < end; ++i) {
    const uint64_t byte = static_cast<uint8_t>(at[i]);
    if (i == 9 && byte > 1) return nullptr;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) return at + i + 1;
  }
  return nullptr;
}

constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

}  // namespace heron::model
