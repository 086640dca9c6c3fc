#include "heron/routing/key_hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "heron/model/tuple_codec.h"

namespace heron::routing {
namespace {

using model::FieldView;

TEST(KeyHashTest, DifferentKeysThatLookAlike) {
  FieldView zero_item = FieldView::Int64(0);
  std::map<uint64_t, const char*> seen;
  for (auto [value, name] :
       {std::pair(FieldView::Null(), "null"), std::pair(FieldView::String(""), "empty string"),
        std::pair(FieldView::Bytes(""), "empty bytes"), std::pair(FieldView::Int64(0), "int64 0"),
        std::pair(FieldView::Double(0), "double 0"), std::pair(FieldView::Bool(false), "false"),
        std::pair(FieldView::Bool(true), "true"), std::pair(FieldView::Int64(1), "int64 1"),
        std::pair(FieldView::Double(1), "double 1"), std::pair(FieldView::String("1"), "string 1"),
        std::pair(FieldView::Bytes("1"), "bytes 1"), std::pair(FieldView::List({}), "empty list"),
        std::pair(FieldView::List({&zero_item, 1}), "list of 0")}) {
    auto [other, fresh] = seen.emplace(HashValue(value), name);
    EXPECT_TRUE(fresh) << name << " and " << other->second << " are one key";
  }
}

TEST(KeyHashTest, EqualKeysThatLookDifferent) {
  EXPECT_EQ(HashValue(FieldView::Double(0.0)), HashValue(FieldView::Double(-0.0)));
  uint64_t nan = HashValue(FieldView::Double(std::numeric_limits<double>::quiet_NaN()));
  for (uint64_t bits : {0x7ff0000000000001u, 0xfff8000000000000u, 0x7fffffffffffffffu}) {
    EXPECT_EQ(HashValue(FieldView::Double(std::bit_cast<double>(bits))), nan);
  }
  EXPECT_NE(nan, HashValue(FieldView::Double(std::numeric_limits<double>::infinity())));
}

TEST(KeyHashTest, AListIsTheSameKeyBeforeAndAfterItsJourney) {
  FieldView inner[] = {FieldView::String("a"), FieldView::Null()};
  FieldView items[] = {FieldView::Int64(7), FieldView::List(inner), FieldView::Double(-0.0)};
  FieldView list = FieldView::List(items);
  std::string bytes(model::EncodedTupleBytes({&list, 1}), '\0');
  model::EncodeTuple({&list, 1}, bytes.data());
  model::TupleWalk walk(bytes);
  std::vector<FieldView> read;
  ASSERT_EQ(walk.Next(read), model::TupleWalk::Step::kTuple);
  EXPECT_EQ(HashValue(read[0]), HashValue(list));
}

TEST(KeyHashTest, SeveralFieldsAreOneKeyInTheirOrder) {
  FieldView values[] = {FieldView::String("ab"), FieldView::String("c"), FieldView::String("a"),
                        FieldView::String("bc")};
  auto key = [&](std::vector<uint32_t> indices) { return HashKey(values, indices); };
  EXPECT_EQ(key({1}), HashValue(values[1]));
  EXPECT_EQ(key({0, 1}), key({0, 1}));
  EXPECT_NE(key({0, 1}), key({1, 0}));
  EXPECT_NE(key({0, 1}), key({2, 3})) << "concatenated they are the same bytes";
  EXPECT_NE(key({0, 1}), key({0}));
}

TEST(KeyHashTest, ManyFieldsHashLikeFew) {
  // The way to hash changes beyond eight fields; the result must not depend on it: two keys that
  // differ in one field only.
  std::vector<FieldView> values;
  for (int i = 0; i < 40; ++i) values.push_back(FieldView::Int64(i));
  std::vector<uint32_t> indices;
  std::map<uint64_t, size_t> seen;
  for (uint32_t i = 0; i < 40; ++i) {
    indices.push_back(i);
    EXPECT_TRUE(seen.emplace(HashKey(values, indices), i).second);
  }
}

}  // namespace
}  // namespace heron::routing
