#include "heron/api/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heron {
namespace {

TEST(ValueTest, KnowsItsType) {
  EXPECT_EQ(Value().type(), ValueType::kNull);
  EXPECT_EQ(Value(nullptr).type(), ValueType::kNull);
  EXPECT_EQ(Value(true).type(), ValueType::kBool);
  EXPECT_EQ(Value(1).type(), ValueType::kInt64);
  EXPECT_EQ(Value(1u).type(), ValueType::kInt64);
  EXPECT_EQ(Value(size_t{1}).type(), ValueType::kInt64);
  EXPECT_EQ(Value(1.0f).type(), ValueType::kDouble);
  EXPECT_EQ(Value("a").type(), ValueType::kString);
  EXPECT_EQ(Value(std::string("a")).type(), ValueType::kString);
  EXPECT_EQ(Value(std::string_view("a")).type(), ValueType::kString);
  EXPECT_EQ(Value(Bytes{"a"}).type(), ValueType::kBytes);
  EXPECT_EQ(Value(List{1, "a"}).type(), ValueType::kList);
}

TEST(ValueTest, StringsAndBytesAreNotEqual) {
  EXPECT_NE(Value("a"), Value(Bytes{"a"}));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(), Value(0));
}

TEST(ValueTest, NothingIsTheSameAsNothingOfAnotherType) {
  const Values nothings{nullptr, "", Bytes{}, List{}, 0, 0.0, false};
  for (size_t i = 0; i < nothings.size(); ++i) {
    for (size_t j = 0; j < nothings.size(); ++j) {
      EXPECT_EQ(nothings[i] == nothings[j], i == j) << i << " " << j;
    }
  }
}

TEST(ValueTest, DoublesCompareAsInCppAndKeepTheirBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Value(0.0), Value(-0.0));
  EXPECT_NE(Value(nan), Value(nan));
  const Values values{-0.0, nan};
  internal::ValueViews views(values);
  EXPECT_TRUE(std::signbit(*Value(views.views()[0]).GetIf<double>()));
  EXPECT_TRUE(std::isnan(*Value(views.views()[1]).GetIf<double>()));
}

TEST(ValueTest, SurvivesAJourneyThroughViews) {
  Values values{nullptr,
                true,
                -5,
                0.25,
                "text",
                Bytes{std::string("\0\xff", 2)},
                List{1, List{"deep", List{}, nullptr}, Bytes{"b"}}};
  internal::ValueViews views(values);
  ASSERT_EQ(views.views().size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(Value(views.views()[i]), values[i]);
}

TEST(ValueTest, IsShownToPeople) {
  EXPECT_EQ(Value(List{nullptr, true, 1, 0.5, "a", Bytes{"abc"}, List{}}).ToString(),
            "[null, true, 1, 0.5, \"a\", bytes(3), []]");
}

}  // namespace
}  // namespace heron
