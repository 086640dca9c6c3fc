#include "heron/model/anchors.h"

#include <cstring>

#include "heron/model/varint.h"

namespace heron::model {
namespace {

enum Form : uint8_t {
  kNone = 0x00,
  kMostDelta = 0x7f,
  kWhole = 0x80,
  kJump = 0x81,
  kSeveral = 0x82
};

char* WriteRoot(const RootId& root, char* at) {
  at = WriteVarint(static_cast<uint32_t>(root.task), at);
  std::memcpy(at, &root.life, sizeof root.life);
  return WriteVarint(root.sequence, at + sizeof root.life);
}

const char* ReadRoot(const char* at, const char* end, RootId& root) {
  uint64_t task = 0;
  at = ReadVarint(at, end, task);
  if (at == nullptr || task > INT32_MAX || end - at < static_cast<ptrdiff_t>(sizeof root.life)) {
    return nullptr;
  }
  root.task = static_cast<TaskId>(task);
  std::memcpy(&root.life, at, sizeof root.life);
  return ReadVarint(at + sizeof root.life, end, root.sequence);
}

void Remember(const RootId& root, AnchorContext& context) {
  context = {.task = root.task, .life = root.life, .sequence = root.sequence};
}

}  // namespace

size_t EncodeAnchors(std::span<const Anchor> anchors, AnchorContext& context, char* out) {
  char* at = out;
  if (anchors.empty()) {
    *at++ = kNone;
    return 1;
  }
  if (anchors.size() > 1) {
    *at++ = static_cast<char>(kSeveral);
    *at++ = static_cast<char>(anchors.size());
    for (const Anchor& anchor : anchors) {
      at = WriteRoot(anchor.root, at);
      std::memcpy(at, &anchor.edge, sizeof anchor.edge);
      at += sizeof anchor.edge;
    }
    Remember(anchors.back().root, context);
    return static_cast<size_t>(at - out);
  }
  const RootId& root = anchors.front().root;
  const uint64_t grown = root.sequence - context.sequence;  // wraps where it shrinks
  if (root.task != context.task || root.life != context.life) {
    *at++ = static_cast<char>(kWhole);
    at = WriteRoot(root, at);
  } else if (grown < kMostDelta) {
    *at++ = static_cast<char>(grown + 1);
  } else {
    *at++ = static_cast<char>(kJump);
    at = WriteVarint(ZigZag(static_cast<int64_t>(grown)), at);
  }
  Remember(root, context);
  return static_cast<size_t>(at - out);
}

const char* DecodeAnchors(const char* at, const char* end, uint64_t edge_base, uint64_t index,
                          AnchorContext& context, std::vector<Anchor>& anchors) {
  anchors.clear();
  if (at == end) return nullptr;
  const uint8_t form = static_cast<uint8_t>(*at++);
  if (form == kNone) return at;
  if (form == kSeveral) {
    if (at == end) return nullptr;
    const size_t count = static_cast<uint8_t>(*at++);
    if (count < 2) return nullptr;
    for (size_t i = 0; i < count; ++i) {
      Anchor anchor;
      at = ReadRoot(at, end, anchor.root);
      if (at == nullptr || end - at < static_cast<ptrdiff_t>(sizeof anchor.edge)) return nullptr;
      std::memcpy(&anchor.edge, at, sizeof anchor.edge);
      at += sizeof anchor.edge;
      anchors.push_back(anchor);
    }
    Remember(anchors.back().root, context);
    return at;
  }
  RootId root{.task = context.task, .life = context.life, .sequence = context.sequence};
  if (form <= kMostDelta) {
    root.sequence += form - 1u;
  } else if (form == kWhole) {
    at = ReadRoot(at, end, root);
  } else if (form == kJump) {
    uint64_t grown = 0;
    at = ReadVarint(at, end, grown);
    root.sequence += static_cast<uint64_t>(UnZigZag(grown));
  } else {
    return nullptr;
  }
  if (at == nullptr) return nullptr;
  anchors.push_back({.root = root, .edge = EdgeId(edge_base, index)});
  Remember(root, context);
  return at;
}

}  // namespace heron::model
