// Which two tasks a key has under partial-key grouping. Both come from the key's hash (key_hash.h)
// and the number of tasks alone, so that all emitters of all containers agree on them:
//
//   first  = floor(hash * tasks / 2^64)
//   second = the floor(mixed * (tasks - 1) / 2^64)-th of the others, counted on from the first,
//            `mixed` being a second hash of the key that does not depend on the first one's bits
//
// The second is another task than the first unless there is one only.
#pragma once

#include <cstdint>

#include "heron/routing/key_groups.h"

namespace heron::routing {

struct TwoTasks {
  uint32_t first = 0;  // component indices
  uint32_t second = 0;
};

// The finalizer of MurmurHash3 over the hash with a constant: all bits of the result depend on all
// bits of the hash, so keys that share their first task have their second anywhere.
constexpr uint64_t SecondHash(uint64_t hash) {
  uint64_t x = hash + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

constexpr TwoTasks TasksOfKey(uint64_t hash, uint32_t tasks) {
  uint32_t first = KeyGroupOf(hash, tasks);
  if (tasks < 2) return {first, first};
  uint32_t second = first + 1 + KeyGroupOf(SecondHash(hash), tasks - 1);
  return {first, second < tasks ? second : second - tasks};
}

}  // namespace heron::routing
