#include "tools/cli/log_time.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace tools::cli {
namespace {

class LogTimeTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC-2", 1);  // two hours ahead
    tzset();
  }
  // 2026-01-01 10:00:00 UTC
  static constexpr int64_t kNow = 1'767'261'600'000;
  static constexpr int64_t kHour = 3'600'000;
};

TEST_F(LogTimeTest, DatesOfAllKinds) {
  EXPECT_EQ(LineUnixMs("2026-01-01T10:00:00Z x", kNow), kNow);
  EXPECT_EQ(LineUnixMs("2026-01-01 10:00:00 x", kNow), kNow - 2 * kHour);
  EXPECT_EQ(LineUnixMs("2026-01-01 12:00:00.250 I heron: x", kNow), kNow + 250);
  EXPECT_EQ(LineUnixMs("--- started by heron 2026-01-01T10:00:00Z tm epoch 1.0 pid 7", kNow), kNow);
}

TEST_F(LogTimeTest, EngineLinesWithAndWithoutAYear) {
  EXPECT_EQ(LineUnixMs("I20260101 12:00:00.123456   77 main.cc:1] x", kNow), kNow + 123);
  EXPECT_EQ(LineUnixMs("F20251231 12:00:00.000000   77 main.cc:1] x", kNow), kNow - 24 * kHour);
  EXPECT_EQ(LineUnixMs("I0101 12:00:00.123456   77 main.cc:1] x", kNow), kNow + 123);
  EXPECT_EQ(LineUnixMs("E0101 11:00:00.000000   77 main.cc:1] x", kNow), kNow - kHour);
  EXPECT_EQ(LineUnixMs("W1231 12:00:00.000000   77 main.cc:1] x", kNow), kNow - 24 * kHour)
      << "of last year";
}

TEST_F(LogTimeTest, OtherLinesHaveNone) {
  for (const char* line : {"", "I", "hello", "I am", "2026", "2026-13-01 10:00:00", "I0101",
                           "2026-01-01", "2026-01-01 25:00:00", "W9999 99:99:99", "    at x"}) {
    EXPECT_FALSE(LineUnixMs(line, kNow).has_value()) << line;
  }
}

}  // namespace
}  // namespace tools::cli
