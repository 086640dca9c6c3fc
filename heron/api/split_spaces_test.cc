#include "heron/api/split_spaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heron {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view word : SplitSpaces(text)) words.emplace_back(word);
  return words;
}

TEST(SplitSpacesTest, Words) {
  EXPECT_THAT(Words("the quick  brown"), ElementsAre("the", "quick", "brown"));
  EXPECT_THAT(Words(" \t the\r\n"), ElementsAre("the"));
  EXPECT_THAT(Words("one"), ElementsAre("one"));
  EXPECT_THAT(Words(""), IsEmpty());
  EXPECT_THAT(Words(std::string_view()), IsEmpty());
  EXPECT_THAT(Words(" \t\n\v\f\r"), IsEmpty());
}

TEST(SplitSpacesTest, ExactlySixBytesAreSpaces) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string text = "a";
    text += static_cast<char>(byte);
    text += "b";
    bool space = byte == 32 || (byte >= 9 && byte <= 13);
    EXPECT_EQ(Words(text).size(), space ? 2u : 1u) << byte;
  }
}

TEST(SplitSpacesTest, WordsAreViews) {
  std::string text = "a b";
  EXPECT_EQ((*SplitSpaces(text).begin()).data(), text.data());
}

}  // namespace
}  // namespace heron
