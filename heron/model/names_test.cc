#include "heron/model/names.h"

#include <gtest/gtest.h>

namespace heron::model {
namespace {

TEST(NamesTest, AName) {
  EXPECT_TRUE(IsName("a"));
  EXPECT_TRUE(IsName("9"));
  EXPECT_TRUE(IsName("word-count_2.v1"));
  EXPECT_TRUE(IsName(std::string(128, 'x')));
}

TEST(NamesTest, NoName) {
  EXPECT_FALSE(IsName(""));
  EXPECT_FALSE(IsName(std::string(129, 'x')));
  for (const char* text :
       {".", "..", "-a", "_a", ".a", "a/b", "a b", "a\n", "\xc3\xa4", "a\\b", "$a"}) {
    EXPECT_FALSE(IsName(text)) << text;
  }
  EXPECT_FALSE(IsName(std::string_view("a\0b", 3)));
}

TEST(NamesTest, Utf8) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("abc \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"));
  EXPECT_TRUE(IsUtf8(std::string_view("\0", 1)));
  EXPECT_FALSE(IsUtf8("\x80"));
  EXPECT_FALSE(IsUtf8("\xc3"));
  EXPECT_FALSE(IsUtf8("\xc0\x80")) << "overlong";
  EXPECT_FALSE(IsUtf8("\xe0\x80\x80")) << "overlong";
  EXPECT_FALSE(IsUtf8("\xed\xa0\x80")) << "surrogate";
  EXPECT_FALSE(IsUtf8("\xf4\x90\x80\x80")) << "above the last code point";
  EXPECT_FALSE(IsUtf8("\xff"));
}

TEST(NamesTest, QuotedTextIsSafeToPrint) {
  EXPECT_EQ(Quoted("split"), "'split'");
  EXPECT_EQ(Quoted("a\nb\x1b\xff"), "'a\\x0ab\\x1b\\xff'");
  EXPECT_EQ(Quoted(std::string(1000, 'x')).size(), 205u);
}

}  // namespace
}  // namespace heron::model
