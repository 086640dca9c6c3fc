// The frame codec. On the wire a frame is
//   u32 body length, little-endian | u16 message type, little-endian | u16 zero | body
// The length is checked against the limit before anything is allocated for the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "heron/base/buffer.h"
#include "heron/base/status.h"

namespace google::protobuf {
class MessageLite;
}

namespace heron::net {

inline constexpr size_t kFrameHeaderBytes = 8;

struct FrameHeader {
  uint32_t body_bytes = 0;
  uint16_t type = 0;
};

// A received frame. `bytes` holds header and body as they came, so that it can be sent on
// unchanged; it keeps the receive buffer alive.
struct Frame {
  uint16_t type = 0;
  BufferSlice bytes;
  std::string_view body() const { return bytes.view().substr(kFrameHeaderBytes); }
};

// Writes kFrameHeaderBytes at `out`.
void EncodeFrameHeader(FrameHeader header, char* out);
// `in` has at least kFrameHeaderBytes. Fails if the reserved bytes are not zero or the body exceeds
// `max_body_bytes`.
Result<FrameHeader> DecodeFrameHeader(std::string_view in, size_t max_body_bytes);

// A whole frame of a message.
BufferSlice EncodeFrame(uint16_t type, const google::protobuf::MessageLite& message);

// Parses a body; damaged bytes are DataLoss naming the message.
Status ParseBody(std::string_view body, google::protobuf::MessageLite& message);

}  // namespace heron::net
