#include "heron/base/file_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

namespace heron {
namespace {

class FileLockTest : public testing::Test {
 protected:
  FileLockTest()
      : path_(testing::TempDir() + "/" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove(path_);
  }
  const std::string path_;
};

TEST_F(FileLockTest, OneHolderUntilItLetsGo) {
  EXPECT_FALSE(IsLocked(path_));
  std::optional<Result<FileLock>> held(FileLock::Take(path_));
  ASSERT_TRUE(held->ok());
  EXPECT_TRUE(IsLocked(path_));
  EXPECT_EQ(FileLock::Take(path_).status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(IsLocked(path_)) << "asking and a try in vain do not end it";
  held.reset();
  EXPECT_FALSE(IsLocked(path_));
  EXPECT_TRUE(FileLock::Take(path_).ok());
}

TEST_F(FileLockTest, EndsWithItsHolder) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Result<FileLock> held = FileLock::Take(path_);
    if (held.ok() && write(ready[1], "1", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(IsLocked(path_));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(IsLocked(path_));
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace heron
