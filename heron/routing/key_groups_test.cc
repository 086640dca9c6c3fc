#include "heron/routing/key_groups.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace heron::routing {
namespace {

TEST(KeyGroupsTest, TheNumberIsTheLargerOf128AndEightPerTaskRoundedUp) {
  EXPECT_EQ(DefaultKeyGroups(1), 128u);
  EXPECT_EQ(DefaultKeyGroups(16), 128u);
  EXPECT_EQ(DefaultKeyGroups(17), 256u);
  EXPECT_EQ(DefaultKeyGroups(100), 1024u);
  EXPECT_EQ(DefaultKeyGroups(10'000), 131'072u);
}

TEST(KeyGroupsTest, TheHighBitsOfTheHashSay) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(KeyGroupOf(0, 128), 0u);
  EXPECT_EQ(KeyGroupOf(kMax, 128), 127u);
  EXPECT_EQ(KeyGroupOf(uint64_t{1} << 57, 128), 1u);
  EXPECT_EQ(KeyGroupOf((uint64_t{1} << 57) - 1, 128), 0u);
  EXPECT_EQ(KeyGroupOf(kMax, 1), 0u);
  EXPECT_EQ(KeyGroupOf(kMax, 100), 99u);
}

TEST(KeyGroupsTest, TasksOwnContiguousRangesOfNearlyTheSameSize) {
  for (uint32_t groups : {128u, 1024u}) {
    for (uint32_t tasks : {1u, 3u, 4u, 7u, 100u, 128u}) {
      std::vector<uint32_t> owned(tasks);
      uint32_t last = 0;
      for (uint32_t group = 0; group < groups; ++group) {
        uint32_t owner = OwnerOf(group, groups, tasks);
        ASSERT_LT(owner, tasks);
        ASSERT_TRUE(owner == last || owner == last + 1);
        last = owner;
        ++owned[owner];
      }
      for (uint32_t count : owned) {
        EXPECT_GE(count, groups / tasks);
        EXPECT_LE(count, groups / tasks + 1);
      }
    }
  }
}

}  // namespace
}  // namespace heron::routing
