// Every configuration key there is: name, type, unit, default, bounds, scope and meaning, in one
// table. The reading of values stands here as well, so that a key means the same in yaml, in a
// topology's config and on the command line.
//
// Keys that start with neither "topology." nor "heron." belong to users and are not in the table
// ("cluster" is ours). Threads: everything here is const and may be called from anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heron/base/status.h"

namespace heron::settings {

enum class KeyType {
  kInt,
  kIntOrAuto,   // a number, or "auto", which ParseNumber gives as 0
  kDurationMs,  // "500", "500 ms", "10 s", "2 min"
  kDurationUs,  // "1000", "1000 us", "1 ms"
  kBytes,       // "65536", "64 KiB", "8 MiB", "1 GiB"
  kBool,        // true, false
  kString,
  kEnum,  // one of the choices, any case
};

enum class KeyScope {
  kTopology,  // may stand in cluster files as a default, in a topology's config and on the command
              // line
  kCluster,   // may stand in cluster files and on the command line
};

struct Key {
  std::string_view name;
  KeyType type;
  KeyScope scope;
  std::string_view default_value;
  int64_t min = 0;  // of numbers, in the type's unit
  int64_t max = 0;
  std::string_view choices;  // of kEnum: "A|B|C"
  std::string_view description;
};

// A name of Heron's that is still read, and what it is called here.
struct OldKey {
  std::string_view name;
  std::string_view now;
  int64_t factor;  // the old number times this is the new one
};

// Sorted by name.
std::span<const Key> Keys();
std::span<const OldKey> OldKeys();

// nullptr when there is no such key.
const Key* FindKey(std::string_view name);
const OldKey* FindOldKey(std::string_view name);

// True for "topology.x", "heron.x" and "cluster": names that must be in the table.
bool IsReserved(std::string_view name);

// The key that was probably meant; empty when none is near.
std::string_view NearestKey(std::string_view name);
// "unknown key \"topology.contaners\"; did you mean \"topology.containers\"?"
std::string UnknownKeyMessage(std::string_view name);

// "ms", "us", "bytes" or "".
std::string_view UnitOf(KeyType type);
std::string_view TypeName(KeyType type);

// The number of a kInt, kDuration*, kBytes or kBool (0, 1) key, within its bounds. kInvalidArgument
// says key, value and what would be right.
Result<int64_t> ParseNumber(const Key& key, std::string_view value);
// Any type; the value in its normal form: a number without unit, "true", the choice as the table
// spells it.
Result<std::string> Normalize(const Key& key, std::string_view value);

// Splits "key=value" at the first '='. The value may be empty and may contain '='.
struct KeyValue {
  std::string key;
  std::string value;
};
Result<KeyValue> ParseKeyValue(std::string_view text);

}  // namespace heron::settings
