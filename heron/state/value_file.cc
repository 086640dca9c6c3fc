#include "heron/state/value_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace heron::state {
namespace {

constexpr char kMagic[8] = {'H', 'S', 'T', 'A', 'T', 'E', '1', '\n'};
constexpr uint64_t kTombstone = 1;
constexpr size_t kFlagsAt = 8;
constexpr size_t kSizeAt = 16;
constexpr size_t kHashAt = 24;

void Put(char* at, uint64_t number) {
  for (int i = 0; i < 8; ++i) at[i] = static_cast<char>(number >> (8 * i));
}

uint64_t Take(const char* at) {
  uint64_t number = 0;
  for (int i = 0; i < 8; ++i) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  }
  return number;
}

uint64_t Hash(std::string_view value, uint64_t flags) {
  return XXH3_64bits_withSeed(value.data(), value.size(), value.size() * 4 + flags);
}

}  // namespace

std::string EncodeValueHeader(std::string_view value, bool tombstone) {
  std::string header(kValueHeaderBytes, '\0');
  uint64_t flags = tombstone ? kTombstone : 0;
  std::memcpy(header.data(), kMagic, sizeof(kMagic));
  Put(header.data() + kFlagsAt, flags);
  Put(header.data() + kSizeAt, value.size());
  Put(header.data() + kHashAt, Hash(value, flags));
  return header;
}

Result<DecodedValue> DecodeValueFile(std::string_view bytes, const std::string& file) {
  if (bytes.size() < kValueHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    return DataLoss(file + ": not a value of the state store, or cut off");
  }
  uint64_t flags = Take(bytes.data() + kFlagsAt);
  std::string_view value = bytes.substr(kValueHeaderBytes);
  if (flags > kTombstone || Take(bytes.data() + kSizeAt) != value.size() ||
      Take(bytes.data() + kHashAt) != Hash(value, flags)) {
    return DataLoss(file + ": damaged, its checksum does not match; delete the node to go on");
  }
  return DecodedValue{.tombstone = flags == kTombstone, .value = value};
}

}  // namespace heron::state
