#include "tools/cli/log_level.h"

#include <gtest/gtest.h>

namespace tools::cli {
namespace {

TEST(LogLevelTest, OfTheEngine) {
  EXPECT_EQ(LineLevel("I20261130 22:16:54.123456 7 server.cc:3] up"), LogLevel::kInfo);
  EXPECT_EQ(LineLevel("W20261130 22:16:54.123456 7 server.cc:3] slow"), LogLevel::kWarning);
  EXPECT_EQ(LineLevel("E1130 22:16:54.123456 7 server.cc:3] down"), LogLevel::kError);
  EXPECT_EQ(LineLevel("F20261130 22:16:54.123456 7 server.cc:3] out"), LogLevel::kError);
  EXPECT_EQ(LineLevel("2026-11-30 22:16:54.123 W heron: refused"), LogLevel::kWarning);
  EXPECT_EQ(LineLevel("2026-11-30 22:16:54.123 E heron: component 'x'"), LogLevel::kError);
  EXPECT_EQ(LineLevel("2026-11-30 22:16:54.123 I heron: hello"), LogLevel::kInfo);
}

TEST(LogLevelTest, OfUsers) {
  EXPECT_EQ(LineLevel("[ERROR] no table"), LogLevel::kError);
  EXPECT_EQ(LineLevel("2026-11-30 22:16:54 WARN: slow"), LogLevel::kWarning);
  EXPECT_EQ(LineLevel("DEBUG: x"), LogLevel::kInfo);
  EXPECT_EQ(LineLevel("terminate called after throwing an instance of 'int'"), LogLevel::kError);
  for (const char* line : {"", "   ", "no errors here", "error of mine", "E", "WARNINGS are fine",
                           "the first four words have no ERROR", "--- started by heron x"}) {
    EXPECT_EQ(LineLevel(line), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace tools::cli
