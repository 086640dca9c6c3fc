#include "tools/cli/killed_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace tools::cli {
namespace {

TEST(KilledNamesTest, RemembersWholeNamesAcrossProcessesAndForgetsTheOldest) {
  const std::string path = testing::TempDir() + "/killed-" + std::to_string(getpid());
  std::filesystem::remove(path);
  KilledNames names(path);
  EXPECT_FALSE(names.Contains({"ads", "prod", "t"}));
  names.Add({"ads", "prod", "tt"});
  EXPECT_FALSE(names.Contains({"ads", "prod", "t"}));
  names.Add({"ads", "prod", "t"});
  names.Add({"ads", "prod", "t"});
  EXPECT_TRUE(KilledNames(path).Contains({"ads", "prod", "t"}));
  EXPECT_EQ(std::filesystem::file_size(path), 23u) << "each name once";
  const std::string filler(120, 'x');
  for (int i = 0; i < 400; ++i) names.Add({"ads", "prod", filler + std::to_string(i)});
  EXPECT_LT(std::filesystem::file_size(path), 33'000u);
  EXPECT_FALSE(names.Contains({"ads", "prod", "t"}));
  EXPECT_TRUE(names.Contains({"ads", "prod", filler + "399"}));
}

TEST(KilledNamesTest, NoFolderIsNoError) {
  KilledNames names(testing::TempDir() + "/nowhere/at/all");
  names.Add({"a", "b", "c"});
  EXPECT_FALSE(names.Contains({"a", "b", "c"}));
}

}  // namespace
}  // namespace tools::cli
