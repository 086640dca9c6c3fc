#include "heron/protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heron/api/field_type.h"
#include "proto/topology.pb.h"

namespace heron {
namespace {

static_assert(UserType<proto::Topology>);
static_assert(!UserType<google::protobuf::MessageLite*>);
static_assert(internal::FieldType<proto::Field>::kDeclared == internal::DeclaredType::kBytes);

proto::Topology Example() {
  proto::Topology topology;
  topology.set_name("t");
  for (int i = 0; i < 100; ++i) (*topology.mutable_config())[std::to_string(i)] = "x";
  return topology;
}

TEST(ProtobufTest, AMessageIsAUserType) {
  EXPECT_EQ(Serializer<proto::Topology>::TypeName(), "heron.proto.Topology");
  std::string bytes;
  Serializer<proto::Topology>::Write(Example(), bytes);
  const proto::Topology again = Serializer<proto::Topology>::Read(bytes);
  EXPECT_EQ(again.name(), "t");
  EXPECT_EQ(again.config_size(), 100);
}

TEST(ProtobufTest, EqualMessagesAreEqualKeys) {
  std::string one, two;
  Serializer<proto::Topology>::Write(Example(), one);
  proto::Topology other;
  for (int i = 99; i >= 0; --i) (*other.mutable_config())[std::to_string(i)] = "x";
  other.set_name("t");
  Serializer<proto::Topology>::Write(other, two);
  EXPECT_EQ(one, two);
}

TEST(ProtobufTest, OtherBytesAreRefusedByName) {
  try {
    Serializer<proto::Topology>::Read("\xff\xff\xff");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3 bytes that are no heron.proto.Topology");
  }
}

}  // namespace
}  // namespace heron
