#include "heron/model/described.h"

#include <gtest/gtest.h>

#include "heron/base/random.h"

namespace heron::model {
namespace {

proto::Topology WithConfig(bool reversed) {
  proto::Topology topology;
  topology.set_name("t");
  proto::Component* component = topology.add_components();
  for (int i = 0; i < 200; ++i) {
    std::string key = "key" + std::to_string(reversed ? 199 - i : i);
    (*topology.mutable_config())[key] = "v" + key;
    (*component->mutable_config())[key] = key;
  }
  return topology;
}

TEST(DescribedTest, EqualDefinitionsHaveEqualBytesWhateverTheOrderOfTheirMaking) {
  EXPECT_EQ(SerializeDescribed(WithConfig(false)), SerializeDescribed(WithConfig(true)));
  EXPECT_EQ(DescribedSha256(WithConfig(false)), DescribedSha256(WithConfig(true)));
  // Parsed and written again, as a submitter may.
  proto::Topology parsed;
  ASSERT_TRUE(parsed.ParseFromString(SerializeDescribed(WithConfig(true))));
  EXPECT_EQ(DescribedSha256(parsed), DescribedSha256(WithConfig(false)));
}

TEST(DescribedTest, TheHashIsSha256) {
  EXPECT_EQ(ToHex(DescribedSha256(std::string_view("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(DescribedSha256(proto::Topology())),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(DescribedTest, AnyDifferenceShows) {
  proto::Topology changed = WithConfig(false);
  changed.mutable_components(0)->set_parallelism(2);
  EXPECT_NE(DescribedSha256(changed), DescribedSha256(WithConfig(false)));
}

}  // namespace
}  // namespace heron::model
