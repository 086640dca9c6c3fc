// What a tuple belongs to under at-least-once delivery, and how it travels in a batch. See
// heron/docs/acking.md for the protocol.
//
// A *root* is a tuple that a spout emitted with a message id. An *edge* is one delivered copy of a
// tuple of its tree; an *anchor* is a root together with the XOR of the edges by which a tuple
// hangs on it. In an anchored batch (BatchHeader.edge_base is not 0) each tuple is preceded by its
// anchors:
//
//   00                             none
//   01 to 7f                       one; task and life as the anchor before, sequence grown by 0 to
//   126 80 varint fixed32 varint       one: task, life, sequence 81 varint one; task and life as
//   the anchor before, sequence grown by a zigzag 82 u8 { varint fixed32 varint fixed64 }...   2 to
//   255: task, life, sequence, edge
//
// The edge of a tuple with one anchor is not stored: it is EdgeId(edge_base, index of the tuple in
// the batch).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heron/base/ids.h"

namespace heron::model {

inline constexpr size_t kMaxAnchors = 255;
inline constexpr size_t kMaxOneAnchorBytes = 1 + 5 + 4 + 10;
inline constexpr size_t kMaxAnchorBytes = 2 + kMaxAnchors * (5 + 4 + 10 + 8);

struct RootId {
  TaskId task = 0;    // the spout's
  uint32_t life = 0;  // LifeTag of its epoch: what a later life is told of an earlier one is void
  uint64_t sequence = 0;  // dense within the life

  friend bool operator==(const RootId&, const RootId&) = default;
};

struct Anchor {
  RootId root;
  uint64_t edge = 0;

  friend bool operator==(const Anchor&, const Anchor&) = default;
};

// The finalizer of splitmix64 (S. Vigna): bijective.
constexpr uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr uint32_t LifeTag(Epoch epoch) {
  return static_cast<uint32_t>(Mix64(epoch.incarnation * 0x9e3779b97f4a7c15 + epoch.restart + 1));
}

// Where the edges of a task's life begin; each life of each task has a place of its own.
constexpr uint64_t EdgeSalt(TaskId task, Epoch epoch) {
  return Mix64(Mix64(static_cast<uint64_t>(task) * 0x9e3779b97f4a7c15 + epoch.incarnation) +
               epoch.restart);
}

// Never 0: an edge must change the XOR.
constexpr uint64_t EdgeId(uint64_t base, uint64_t index) {
  const uint64_t id = Mix64(base + index);
  return id == 0 ? 1 : id;
}

// The anchor before, of one batch; the same on both sides.
struct AnchorContext {
  TaskId task = 0;
  uint32_t life = 0;
  uint64_t sequence = 0;
};

// Writes at `out`, which has room: kMaxOneAnchorBytes for none or one, kMaxAnchorBytes otherwise.
// At most kMaxAnchors. Returns the bytes written. Of a single anchor the edge is not looked at.
size_t EncodeAnchors(std::span<const Anchor> anchors, AnchorContext& context, char* out);

// Reads the anchors of the tuple with this index from the front of [at, end) into `anchors`.
// Returns what follows them, nullptr if they are damaged. Believes nothing.
const char* DecodeAnchors(const char* at, const char* end, uint64_t edge_base, uint64_t index,
                          AnchorContext& context, std::vector<Anchor>& anchors);

}  // namespace heron::model
