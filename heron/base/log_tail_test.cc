#include "heron/base/log_tail.h"

#include <gtest/gtest.h>

#include <fstream>

namespace heron {
namespace {

std::string WriteLog(const std::string& content) {
  const std::string path = testing::TempDir() + "/tail.log";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(LogTailTest, LastThreeLinesOfThisLife) {
  const std::string before = "earlier life\n";
  const std::string path = WriteLog(before + "one\ntwo\n\nthree\nfour");
  EXPECT_EQ(LogTail(path, static_cast<int64_t>(before.size())), "two | three | four");
  EXPECT_EQ(LogTail(WriteLog(before + "only\n"), static_cast<int64_t>(before.size())), "only");
  EXPECT_EQ(LogTail(WriteLog(before), static_cast<int64_t>(before.size())), "");
  EXPECT_EQ(LogTail("/no/such/file", 0), "");
}

TEST(LogTailTest, EndOfALongLineIsKept) {
  const std::string tail = LogTail(WriteLog(std::string(100000, 'x') + "cause\n"), 0);
  EXPECT_EQ(tail.size(), 500u);
  EXPECT_TRUE(tail.ends_with("xcause"));
}

TEST(PrintableTextTest, DamagedBytesBecomeValidText) {
  EXPECT_EQ(PrintableText("plain \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "plain \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(PrintableText("a\x1b[31mb\tc"), "a [31mb c");
  EXPECT_EQ(PrintableText("\xFF\xC3(\xE2\x82"),
            "?"
            "?(?"
            "?");
  EXPECT_EQ(PrintableText("\xED\xA0\x80"),
            "?"
            "?"
            "?");
  EXPECT_EQ(PrintableText("\xC0\xAF"),
            "?"
            "?");
}

}  // namespace
}  // namespace heron
