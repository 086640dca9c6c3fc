#include "tools/cli/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace tools::cli {
namespace {

TEST(ProgressTest, PlainLinesWithoutATerminal) {
  std::ostringstream out;
  {
    Progress progress(out, false);
    progress.Step("describing", "prog");
    progress.Step("containers", "up 0 of 2");
    progress.Step("containers", "up 0 of 2");
    progress.Step("containers", "up 2 of 2");
    progress.Note("failure: x");
    progress.Step("running");
    progress.Finish();
  }
  EXPECT_EQ(out.str(),
            "describing prog\ncontainers up 0 of 2\ncontainers up 2 of 2\nfailure: x\nrunning\n");
}

TEST(ProgressTest, TerminalRedrawsAndTicksOff) {
  std::ostringstream out;
  {
    Progress progress(out, true);
    progress.Step("containers", "up 1 of 2");
    progress.Step("containers", "up 2 of 2");
    progress.Step("running");
  }
  const std::string text = out.str();
  EXPECT_NE(text.find("\r\033[K  containers up 2 of 2"), std::string::npos);
  EXPECT_NE(text.find("\xE2\x9C\x93"), std::string::npos);
  EXPECT_EQ(text.back(), '\n') << "the shell's prompt begins on its own line";
}

}  // namespace
}  // namespace tools::cli
