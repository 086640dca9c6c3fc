#include "heron/model/tuple_batch.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "proto/stream.pb.h"

namespace heron::model {
namespace {

std::string Encode(const BatchHeader& header, const std::string& payload) {
  char head[kMaxBatchHeaderBytes];
  size_t size = EncodeBatchHeader(header, payload.size(), head);
  EXPECT_LE(size, kMaxBatchHeaderBytes);
  return std::string(head, size) + payload;
}

proto::TupleBatch Message(const BatchHeader& header, const std::string& payload) {
  proto::TupleBatch batch;
  batch.set_source_task(header.source_task);
  batch.set_source_incarnation(header.source_epoch.incarnation);
  batch.set_source_restart(header.source_epoch.restart);
  batch.set_destination_task(header.destination_task);
  batch.set_stream(header.stream);
  batch.set_tuple_count(header.tuple_count);
  batch.set_number(header.number);
  batch.set_routing_version(header.routing_version);
  batch.set_generation(header.generation);
  batch.set_edge_base(header.edge_base);
  batch.set_payload(payload);
  return batch;
}

void ExpectSame(const BatchHeader& a, const BatchHeader& b) {
  EXPECT_EQ(a.source_task, b.source_task);
  EXPECT_EQ(a.source_epoch, b.source_epoch);
  EXPECT_EQ(a.destination_task, b.destination_task);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.tuple_count, b.tuple_count);
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.routing_version, b.routing_version);
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.edge_base, b.edge_base);
}

std::vector<BatchHeader> Headers() {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  BatchHeader largest{std::numeric_limits<TaskId>::min(),
                      {kMax, kMax},
                      -1,
                      std::numeric_limits<uint32_t>::max(),
                      std::numeric_limits<uint32_t>::max(),
                      kMax,
                      kMax,
                      kMax,
                      kMax};
  return {BatchHeader{}, BatchHeader{1, {1, 0}, 2, 0, 100, 1, 1, 0},
          BatchHeader{127, {128, 3}, 16384, 5, 70000, uint64_t{1} << 40, 300, 2}, largest};
}

TEST(TupleBatchTest, TheBytesAreThoseOfProtobuf) {
  for (const BatchHeader& header : Headers()) {
    for (size_t size : {0, 1, 127, 128, 65536}) {
      std::string payload(size, 'p');
      EXPECT_EQ(Encode(header, payload), Message(header, payload).SerializeAsString());
    }
  }
}

TEST(TupleBatchTest, ComesBack) {
  for (const BatchHeader& header : Headers()) {
    for (size_t size : {0, 1, 128, 65536}) {
      std::string payload(size, 'p');
      std::string bytes = Encode(header, payload);
      Result<BatchView> view = DecodeBatch(bytes);
      ASSERT_TRUE(view.ok()) << view.status().ToString();
      ExpectSame(view->header, header);
      EXPECT_EQ(view->payload, payload);
      if (size > 0) {
        EXPECT_EQ(view->payload.data(), bytes.data() + bytes.size() - size) << "a view, not a copy";
      }
    }
  }
}

TEST(TupleBatchTest, UnknownFieldsBeforeThePayloadAreSkipped) {
  // Field 12 as varint, 64 bits, bytes, 32 bits: what a newer sender may add.
  std::string unknown(
      "\x60\x96\x01"
      "\x61"
      "12345678"
      "\x62\x03"
      "abc"
      "\x65"
      "1234",
      22);
  BatchHeader header{1, {1, 0}, 2, 0, 3, 4, 5, 0};
  std::string bytes = unknown + Encode(header, "payload");
  Result<BatchView> view = DecodeBatch(bytes);
  ASSERT_TRUE(view.ok()) << view.status().ToString();
  ExpectSame(view->header, header);
  EXPECT_EQ(view->payload, "payload");
}

TEST(TupleBatchTest, DamageIsAnError) {
  BatchHeader header{1, {1, 0}, 2, 0, 3, 4, 5, 0};
  std::string bytes = Encode(header, "payload");
  // A batch ends with its payload: one more or one less byte is noticed.
  EXPECT_EQ(DecodeBatch(bytes + "x").status().code(), StatusCode::kDataLoss);
  for (size_t cut = 1; cut <= 8; ++cut) {
    EXPECT_EQ(DecodeBatch(std::string_view(bytes).substr(0, bytes.size() - cut)).status().code(),
              StatusCode::kDataLoss);
  }
  for (const std::string& bad :
       {std::string("\x08"), std::string("\x08\xff"), std::string(1, '\0'), std::string("\x0b"),
        std::string("\x0c"), std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
        std::string("\x7a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        std::string("\x62\x7f") + "abc", std::string("\x61") + "123"}) {
    EXPECT_EQ(DecodeBatch(bad).status().code(), StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace heron::model
