// Cuts arbitrary bytes, arriving in arbitrary pieces, into frames. Input: chunk size, limit, piece
// size (a byte each), then the stream. Checked: what comes out, in order, is what went in; nothing
// over the limit comes out; the split of the stream into pieces changes nothing.
#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "heron/net/frame.h"
#include "heron/net/receive_buffer.h"

namespace {

struct Outcome {
  std::string bytes;  // of all frames
  size_t frames = 0;
  bool failed = false;
};

Outcome Cut(std::string_view stream, size_t chunk, size_t limit, size_t piece) {
  heron::net::ReceiveBuffer buffer(chunk, limit);
  Outcome out;
  std::vector<heron::net::Frame> held;  // some are kept, so that chunks stay shared
  while (!stream.empty() && !out.failed) {
    const auto space = buffer.PrepareRead();
    CHECK_GT(space.size, 0u);
    const size_t n = std::min({space.size, piece, stream.size()});
    std::memcpy(space.data, stream.data(), n);
    buffer.Commit(n);
    stream.remove_prefix(n);
    for (;;) {
      auto next = buffer.Next();
      if (!next.ok()) {
        out.failed = true;
        break;
      }
      if (!next->has_value()) break;
      heron::net::Frame& frame = **next;
      CHECK_LE(frame.body().size(), limit);
      out.bytes += frame.bytes.view();
      ++out.frames;
      if (held.size() < 8) held.push_back(frame);
      if (out.frames % 16 == 0) held.clear();
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const size_t chunk = 8192 + 16 * static_cast<size_t>(data[0]);
  const size_t limit = static_cast<size_t>(data[1]) * 128;
  const size_t piece = 1 + static_cast<size_t>(data[2]) * 8;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 3, size - 3);
  const Outcome in_pieces = Cut(stream, chunk, limit, piece);
  const Outcome at_once = Cut(stream, chunk, limit, stream.size() + 1);
  CHECK(stream.starts_with(in_pieces.bytes)) << "frames differ from the bytes received";
  CHECK_EQ(in_pieces.frames, at_once.frames);
  CHECK_EQ(in_pieces.failed, at_once.failed);
  return 0;
}
