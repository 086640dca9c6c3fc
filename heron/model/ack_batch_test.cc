#include "heron/model/ack_batch.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "proto/stream.pb.h"

namespace heron::model {
namespace {

std::string Encode(const AckHeader& header, const std::vector<AckUpdate>& updates,
                   const std::vector<uint64_t>& failures) {
  std::string out(kMaxAckHeaderBytes + updates.size() * 16 + failures.size() * 8, '\0');
  out.resize(EncodeAckBatch(header, updates, failures, out.data()));
  return out;
}

TEST(AckBatchTest, TheBytesAreThoseOfProtobuf) {
  const std::vector<AckUpdate> updates = {{1, UINT64_MAX}, {UINT64_MAX, 5}};
  const std::vector<uint64_t> failures = {7, 8, 9};
  for (const AckHeader& header :
       {AckHeader{}, AckHeader{3, 4, 5}, AckHeader{INT32_MAX, -1, UINT32_MAX}}) {
    const std::string bytes = Encode(header, updates, failures);
    proto::AckBatch message;
    message.set_source_task(header.source_task);
    message.set_destination_task(header.destination_task);
    message.set_life(header.life);
    message.set_updates(std::string(reinterpret_cast<const char*>(updates.data()), 32));
    message.set_failures(std::string(reinterpret_cast<const char*>(failures.data()), 24));
    EXPECT_EQ(bytes, message.SerializeAsString());
    auto view = DecodeAckBatch(bytes);
    ASSERT_TRUE(view.ok()) << view.status().ToString();
    EXPECT_EQ(view->header.source_task, header.source_task);
    EXPECT_EQ(view->header.destination_task, header.destination_task);
    EXPECT_EQ(view->header.life, header.life);
    ASSERT_EQ(view->update_count(), 2u);
    EXPECT_EQ(view->update(1).sequence, UINT64_MAX);
    EXPECT_EQ(view->update(1).edges, 5u);
    ASSERT_EQ(view->failure_count(), 3u);
    EXPECT_EQ(view->failure(2), 9u);
  }
}

TEST(AckBatchTest, WhatIsCutOffOrOddIsDamage) {
  const std::string bytes = Encode({3, 4, 5}, {{1, 2}}, {7});
  size_t whole = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    whole += DecodeAckBatch(std::string_view(bytes).substr(0, size)).ok();
  }
  EXPECT_EQ(whole, 5u) << "between the fields only";
  EXPECT_FALSE(DecodeAckBatch(std::string("\x72\x0f", 2) + std::string(15, 'x')).ok());
}

TEST(AckBatchTest, AnyBytesAreReadOrRefused) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 60, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 3 == 0 ? 0x72 : random());
    auto view = DecodeAckBatch(bytes);
    if (!view.ok()) continue;
    for (size_t i = 0; i < view->update_count(); ++i) view->update(i);
    for (size_t i = 0; i < view->failure_count(); ++i) view->failure(i);
  }
}

}  // namespace
}  // namespace heron::model
