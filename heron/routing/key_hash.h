// The identity of keys: which values count as the same key, and the 64-bit hash that says so in
// every process, build and version. Written down here and pinned by tests/golden/key_routing.tsv;
// it never changes.
//
//   hash of a value = XXH3_64bits_withSeed(bytes, type), type being the number in proto::ValueType
//   (null: 0) and bytes:
//     null     none
//     bool     one byte, 0 or 1
//     int64    8 bytes, little-endian, two's complement
//     double   8 bytes, little-endian, IEEE 754; -0.0 as 0.0, every NaN as 0x7ff8000000000000
//     string   its bytes
//     bytes    its bytes
//     list     the hashes of its items, 8 bytes each, little-endian
//   hash of a key of one field   = the hash of its value
//   hash of a key of more fields = XXH3_64bits_withSeed(the fields' hashes, 8 bytes each,
//   little-endian; 256)
//
// Hence: null, "" and 0 are three keys; 0.0 and -0.0 are one, all NaN are one; int64 1 and
// double 1.0 are two, like string "a" and bytes "a"; a list is not its items.
#pragma once

#include <cstdint>
#include <span>

#include "heron/model/field_view.h"

namespace heron::routing {

uint64_t HashValue(const model::FieldView& value);

// Of a key whose fields are values[index] for each of `indices`, all of them within `values`.
uint64_t HashKey(std::span<const model::FieldView> values, std::span<const uint32_t> indices);

}  // namespace heron::routing
