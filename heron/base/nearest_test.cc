#include "heron/base/nearest.h"

#include <gtest/gtest.h>

namespace heron {
namespace {

TEST(NearestTest, EditDistance) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("Split", "sPLIT"), 0u);
  EXPECT_EQ(EditDistance("split", "splt"), 1u);
  EXPECT_EQ(EditDistance("split", "splti"), 1u) << "neighbours swapped";
  EXPECT_EQ(EditDistance("wrok", "work"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(NearestTest, FindsASlipOfTheFinger) {
  const std::vector<std::string> known = {"lines", "split", "count"};
  EXPECT_EQ(NearestName("splti", known), "split");
  EXPECT_EQ(NearestName("splt", known), "split");
  EXPECT_EQ(NearestName("SPLIT", known), "split");
  EXPECT_EQ(NearestName("line", known), "lines");
  EXPECT_EQ(NearestName("slpti", known), "") << "three of five letters";
  EXPECT_EQ(NearestName("elephant", known), "");
  EXPECT_EQ(NearestName("x", {}), "");
  EXPECT_EQ(NearestName("onn", {"one"}), "one");
  EXPECT_EQ(NearestName(std::string(1'000'000, 'x'), known), "");
}

}  // namespace
}  // namespace heron
