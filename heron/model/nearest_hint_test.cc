#include "heron/model/nearest_hint.h"

#include <gtest/gtest.h>

namespace heron::model {
namespace {

TEST(NearestHintTest, HintListsWhatIsKnownWhenNothingIsNear) {
  EXPECT_EQ(NearestHint("splt", {"split"}), "; did you mean 'split'?");
  EXPECT_EQ(NearestHint("elephant", {"split", "count"}), "; known: split, count");
  EXPECT_EQ(NearestHint("elephant", {}), "");
  const std::vector<std::string> many(20, "component");
  EXPECT_NE(NearestHint("elephant", many).find("and 4 more"), std::string::npos);
  const std::vector<std::string> one_too_many(17, "component");
  EXPECT_EQ(NearestHint("elephant", one_too_many).find("more"), std::string::npos);
}

}  // namespace
}  // namespace heron::model
