#include "tools/cli/failed_submits.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace tools::cli {
namespace {

class FailedSubmitsTest : public testing::Test {
 protected:
  FailedSubmitsTest() : folder_(testing::TempDir() + "/failedXXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) abort();
  }
  ~FailedSubmitsTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(FailedSubmitsTest, TheLastOfEachNameIsKeptUntilRemoved) {
  const FailedSubmits failed(folder_);
  EXPECT_FALSE(failed.Find({"ada", "prod", "t"}));
  failed.Put({"ada", "prod", "t"}, {"describe_failed", "first", "./p", 1});
  failed.Put({"ada", "prod", "t"}, {"packing_impossible", "two\nlines \xff\x01", "./p", 2});
  failed.Put({"ada", "test", "t"}, {"describe_failed", "other", "./q", 3});
  const auto found = failed.Find({"ada", "prod", "t"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cause, "packing_impossible");
  EXPECT_EQ(found->text, "two\nlines ? ");
  EXPECT_EQ(found->program, "./p");
  EXPECT_EQ(found->at_unix_ms, 2);
  failed.Remove({"ada", "prod", "t"});
  EXPECT_FALSE(failed.Find({"ada", "prod", "t"}));
  EXPECT_TRUE(failed.Find({"ada", "test", "t"}));
}

TEST_F(FailedSubmitsTest, IsBounded) {
  const FailedSubmits failed(folder_);
  for (size_t i = 0; i < FailedSubmits::kMost + 5; ++i) {
    failed.Put({"ada", "prod", "t" + std::to_string(i)},
               {"describe_failed", std::string(1 << 20, 'x'), "", 1});
  }
  size_t files = 0, bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    bytes += entry.file_size();
  }
  EXPECT_EQ(files, FailedSubmits::kMost);
  EXPECT_LT(bytes, FailedSubmits::kMost * 2 * FailedSubmits::kMaxTextBytes);
  EXPECT_TRUE(failed.Find({"ada", "prod", "t" + std::to_string(FailedSubmits::kMost + 4)}));
}

TEST_F(FailedSubmitsTest, RubbishIsNoRecord) {
  const FailedSubmits failed(folder_);
  std::filesystem::create_directories(folder_ + "/ada/prod");
  for (const char* text : {"", "{", "[]", "{\"cause\": 7}", "null"}) {
    std::ofstream(folder_ + "/ada/prod/t.json") << text;
    EXPECT_FALSE(failed.Find({"ada", "prod", "t"})) << text;
  }
}

}  // namespace
}  // namespace tools::cli
