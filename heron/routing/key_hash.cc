#include "heron/routing/key_hash.h"

#include <bit>
#include <cmath>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "heron/model/tuple_codec.h"

namespace heron::routing {

static_assert(std::endian::native == std::endian::little, "hashes are over little-endian bytes");

namespace {

using model::FieldView;
using model::ValueType;

constexpr uint64_t kCombinedSeed = 256;
constexpr uint64_t kNanBits = 0x7ff8000000000000;

uint64_t Hash(const void* bytes, size_t size, ValueType type) {
  return XXH3_64bits_withSeed(bytes, size, static_cast<uint64_t>(type));
}

uint64_t HashDouble(double value) {
  if (value == 0) value = 0;  // -0.0 too
  uint64_t bits = std::isnan(value) ? kNanBits : std::bit_cast<uint64_t>(value);
  return Hash(&bits, sizeof(bits), ValueType::kDouble);
}

// Streams hashes, so that no list of them is made. The result is that of the one-shot function.
class Combined {
 public:
  explicit Combined(uint64_t seed) { XXH3_64bits_reset_withSeed(&state_, seed); }
  void Add(uint64_t hash) { XXH3_64bits_update(&state_, &hash, sizeof(hash)); }
  uint64_t Digest() const { return XXH3_64bits_digest(&state_); }

 private:
  // Cleared, since reset reads it: leftovers of the stack could change a hash.
  XXH3_state_t state_ = {};
};

uint64_t HashList(const FieldView& list) {
  Combined combined(static_cast<uint64_t>(ValueType::kList));
  model::ListItems items(list);
  FieldView item;
  while (items.Next(item)) combined.Add(HashValue(item));
  return combined.Digest();
}

}  // namespace

uint64_t HashValue(const FieldView& value) {
  switch (value.type()) {
    case ValueType::kNull:
      return Hash("", 0, ValueType::kNull);
    case ValueType::kBool: {
      uint8_t byte = value.bool_value() ? 1 : 0;
      return Hash(&byte, 1, ValueType::kBool);
    }
    case ValueType::kInt64: {
      int64_t number = value.int64_value();
      return Hash(&number, sizeof(number), ValueType::kInt64);
    }
    case ValueType::kDouble:
      return HashDouble(value.double_value());
    case ValueType::kString:
    case ValueType::kBytes:
      return Hash(value.text().data(), value.text().size(), value.type());
    case ValueType::kList:
      return HashList(value);
  }
  return 0;
}

uint64_t HashKey(std::span<const FieldView> values, std::span<const uint32_t> indices) {
  if (indices.size() == 1) return HashValue(values[indices[0]]);
  constexpr size_t kOnStack = 8;
  if (indices.size() <= kOnStack) {
    uint64_t hashes[kOnStack];
    for (size_t i = 0; i < indices.size(); ++i) hashes[i] = HashValue(values[indices[i]]);
    return XXH3_64bits_withSeed(hashes, indices.size() * sizeof(uint64_t), kCombinedSeed);
  }
  Combined combined(kCombinedSeed);
  for (uint32_t index : indices) combined.Add(HashValue(values[index]));
  return combined.Digest();
}

}  // namespace heron::routing
