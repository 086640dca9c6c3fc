// Randomness that must not repeat between processes (nonces, ids, secrets): from the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heron {

// n random bytes from getrandom(2).
std::string RandomBytes(size_t n);
uint64_t RandomUint64();
// Lower-case hex of the bytes.
std::string ToHex(std::string_view bytes);

}  // namespace heron
