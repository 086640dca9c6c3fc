#include "tools/cli/run.h"

#include <gtest/gtest.h>

namespace tools::cli {
namespace {

TEST(RunTest, ProgramGetsTheOptionsInItsOwnSpelling) {
  RunOptions options;
  options.program = "./wordcount";
  options.overrides.containers = 2;
  options.overrides.parallelism_all = 3;
  options.overrides.parallelism = {{"split", 4}, {"count", 1}};
  options.config = {"topology.batch.max.bytes=64 KiB", "my.key=a=b"};
  options.arguments = {"in.txt", "--heron-local", ""};
  const std::vector<std::string> want = {"./wordcount",
                                         "--heron-local",
                                         "--heron-containers=2",
                                         "--heron-parallelism-all=3",
                                         "--heron-parallelism=split=4",
                                         "--heron-parallelism=count=1",
                                         "--heron-config=topology.batch.max.bytes=64 KiB",
                                         "--heron-config=my.key=a=b",
                                         "--",
                                         "in.txt",
                                         "--heron-local",
                                         ""};
  EXPECT_EQ(RunLine(options), want);
}

TEST(RunTest, ProgramThatIsNoneIsNamed) {
  RunOptions options;
  options.program = "./no-such-program";
  const heron::Status status = RunCommand(options);
  EXPECT_EQ(status.code(), heron::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("./no-such-program"), std::string::npos);
}

}  // namespace
}  // namespace tools::cli
