#include "heron/net/frame.h"

#include <google/protobuf/message_lite.h>

#include <limits>
#include <memory>
#include <string>

namespace heron::net {
namespace {

uint32_t LoadLittle32(const char* p) {
  auto byte = [p](int i) { return static_cast<uint32_t>(static_cast<unsigned char>(p[i])); };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

uint16_t LoadLittle16(const char* p) {
  auto byte = [p](int i) { return static_cast<unsigned>(static_cast<unsigned char>(p[i])); };
  return static_cast<uint16_t>(byte(0) | byte(1) << 8);
}

}  // namespace

void EncodeFrameHeader(FrameHeader header, char* out) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<char>(header.body_bytes >> (8 * i) & 0xff);
  out[4] = static_cast<char>(header.type & 0xff);
  out[5] = static_cast<char>(header.type >> 8 & 0xff);
  out[6] = 0;
  out[7] = 0;
}

Result<FrameHeader> DecodeFrameHeader(std::string_view in, size_t max_body_bytes) {
  DCHECK_GE(in.size(), kFrameHeaderBytes);
  FrameHeader header{LoadLittle32(in.data()), LoadLittle16(in.data() + 4)};
  if (in[6] != 0 || in[7] != 0) {
    return DataLoss("not a frame of this protocol: the reserved bytes of the header are not zero");
  }
  if (header.body_bytes > max_body_bytes) {
    return DataLoss("frame of type " + std::to_string(header.type) + " with " +
                    std::to_string(header.body_bytes) + " bytes exceeds the limit of " +
                    std::to_string(max_body_bytes) + " bytes");
  }
  return header;
}

BufferSlice EncodeFrame(uint16_t type, const google::protobuf::MessageLite& message) {
  const size_t body_bytes = message.ByteSizeLong();
  CHECK_LE(body_bytes, static_cast<size_t>(std::numeric_limits<int32_t>::max()))
      << "a message of more than 2 GiB cannot be a frame";
  auto owner = std::shared_ptr<char[]>(new char[kFrameHeaderBytes + body_bytes]);
  EncodeFrameHeader({static_cast<uint32_t>(body_bytes), type}, owner.get());
  message.SerializeWithCachedSizesToArray(
      reinterpret_cast<uint8_t*>(owner.get() + kFrameHeaderBytes));
  const char* data = owner.get();
  return BufferSlice(std::move(owner), data, kFrameHeaderBytes + body_bytes);
}

Status ParseBody(std::string_view body, google::protobuf::MessageLite& message) {
  if (body.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) ||
      !message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return DataLoss("damaged " + message.GetTypeName() + " message of " +
                    std::to_string(body.size()) + " bytes");
  }
  return Status::Ok();
}

}  // namespace heron::net
