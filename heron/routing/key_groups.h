// Key groups: the fixed parts of a component's key space that move between tasks as a whole. Their
// number is fixed when a topology is submitted (SubmittedTopology.key_groups), so that a later
// change of parallelism moves groups and splits none.
//
//   group of a hash  = floor(hash * groups / 2^64): its high bits, even for any number of groups
//   owner of a group = the task with component index floor(group * tasks / groups): contiguous
//                      ranges that differ by one group at most
#pragma once

#include <cstdint>

namespace heron::routing {

inline constexpr uint32_t kMinKeyGroups = 128;
inline constexpr uint32_t kMaxKeyGroups = 1u << 20;

// For a component submitted with this parallelism: the larger of 128 and the next power of two of 8
// x parallelism.
constexpr uint32_t DefaultKeyGroups(uint32_t parallelism) {
  uint64_t wanted = uint64_t{8} * parallelism;
  uint32_t groups = kMinKeyGroups;
  while (groups < wanted && groups < kMaxKeyGroups) groups *= 2;
  return groups;
}

constexpr uint32_t KeyGroupOf(uint64_t hash, uint32_t groups) {
  return static_cast<uint32_t>((static_cast<unsigned __int128>(hash) * groups) >> 64);
}

// Index from 0 among `tasks`.
constexpr uint32_t OwnerOf(uint32_t group, uint32_t groups, uint32_t tasks) {
  return static_cast<uint32_t>(uint64_t{group} * tasks / groups);
}

}  // namespace heron::routing
