#include "heron/net/frame.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/frame.pb.h"
#include "proto/handshake.pb.h"

namespace heron::net {
namespace {

std::string Header(FrameHeader header) {
  std::string bytes(kFrameHeaderBytes, '?');
  EncodeFrameHeader(header, bytes.data());
  return bytes;
}

TEST(Frame, HeaderHasTheDocumentedBytes) {
  EXPECT_EQ(Header({0x01020304, 0x0506}), std::string("\x04\x03\x02\x01\x06\x05\0\0", 8));
}

TEST(Frame, HeaderSurvivesTheWay) {
  for (uint32_t size : {0u, 1u, 255u, 65536u, 0xffffffffu}) {
    auto header = DecodeFrameHeader(Header({size, 65535}), SIZE_MAX);
    ASSERT_TRUE(header.ok());
    EXPECT_EQ(header->body_bytes, size);
    EXPECT_EQ(header->type, 65535);
  }
}

TEST(Frame, BodyAtTheLimitPassesAndOneMoreIsRefusedWithNumbers) {
  EXPECT_TRUE(DecodeFrameHeader(Header({4096, 20}), 4096).ok());
  auto over = DecodeFrameHeader(Header({4097, 20}), 4096);
  ASSERT_FALSE(over.ok());
  EXPECT_NE(over.status().message().find("4097"), std::string::npos);
  EXPECT_NE(over.status().message().find("4096"), std::string::npos);
}

TEST(Frame, ReservedBytesMustBeZero) {
  for (size_t i : {6u, 7u}) {
    std::string bytes = Header({3, 20});
    bytes[i] = 1;
    EXPECT_EQ(DecodeFrameHeader(bytes, 100).status().code(), StatusCode::kDataLoss);
  }
}

TEST(Frame, MessageSurvivesTheWay) {
  proto::Refused refused;
  refused.set_reason(proto::FENCED);
  refused.set_text("epoch 2.0 is here");
  const BufferSlice frame = EncodeFrame(proto::REFUSED, refused);
  auto header = DecodeFrameHeader(frame.view(), 4096);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->type, proto::REFUSED);
  EXPECT_EQ(header->body_bytes + kFrameHeaderBytes, frame.size());
  proto::Refused read;
  ASSERT_TRUE(ParseBody(frame.view().substr(kFrameHeaderBytes), read).ok());
  EXPECT_EQ(read.text(), refused.text());
}

TEST(Frame, DamagedBodyNamesTheMessage) {
  proto::Hello hello;
  Status status = ParseBody("\xff\xff\xff", hello);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("heron.proto.Hello"), std::string::npos);
}

}  // namespace
}  // namespace heron::net
