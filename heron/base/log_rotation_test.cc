#include "heron/base/log_rotation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

namespace heron {
namespace {

namespace fs = std::filesystem;

class LogRotationTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/rotationXXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/a.log";
    fd_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644);
    ASSERT_GE(fd_, 0);
  }
  void TearDown() override {
    close(fd_);
    fs::remove_all(folder_);
  }
  void Write(const std::string& text) {
    ASSERT_EQ(write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void WriteLines(int from, int to) {
    for (int i = from; i < to; ++i) Write("line " + std::to_string(i) + "\n");
  }
  std::string Read(const std::string& suffix) {
    std::ifstream in(path_ + suffix, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The older files and the present one, in the order of the writes.
  std::string All() {
    std::string all;
    for (int i = 9; i >= 1; --i) all += Read("." + std::to_string(i));
    return all + Read("");
  }
  static std::string Lines(int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
  }

  std::string folder_;
  std::string path_;
  int fd_ = -1;
};

TEST_F(LogRotationTest, WritersGoOnAndNothingIsLostBetweenTheirWrites) {
  // Less than a block and more than one: truncated, and taken out where the file system can.
  for (int lines : {10, 3000}) {
    for (int round = 0; round < 3; ++round) {
      WriteLines(round * lines, (round + 1) * lines);
      ASSERT_TRUE(RotateLog(path_, 5).ok());
      EXPECT_LE(fs::file_size(path_), 1u << 16) << "at most a block stays";
    }
    WriteLines(3 * lines, 3 * lines + 1);
    EXPECT_EQ(All(), Lines(0, 3 * lines + 1));
    for (int i = 1; i <= 3; ++i) fs::remove(path_ + "." + std::to_string(i));
    fs::resize_file(path_, 0);
  }
}

TEST_F(LogRotationTest, TheOldestGoAndSoDoThoseOfAHigherLimit) {
  for (int i = 0; i < 6; ++i) {
    Write(std::to_string(i) + "\n");
    ASSERT_TRUE(RotateLog(path_, 4).ok());
  }
  EXPECT_EQ(Read(".1") + Read(".2") + Read(".3"), "5\n4\n3\n");
  EXPECT_FALSE(fs::exists(path_ + ".4"));
  Write("6\n");
  ASSERT_TRUE(RotateLog(path_, 2).ok());
  EXPECT_EQ(Read(".1"), "6\n");
  EXPECT_FALSE(fs::exists(path_ + ".2"));
  Write("7\n");
  ASSERT_TRUE(RotateLog(path_, 1).ok());
  EXPECT_EQ(fs::file_size(path_), 0u);
}

TEST_F(LogRotationTest, AFastWriterIsBoundedAndItsLinesStayWholeAndInOrder) {
  constexpr int kLines = 40'000;
  std::atomic<bool> done = false;
  std::thread writer([&] {
    WriteLines(0, kLines);
    done = true;
  });
  int torn = 1;  // allowed: the oldest file may begin in the middle of a line
  while (!done) {
    ++torn;  // a write that shows in two halves, where files are truncated
    const Status status = RotateLog(path_, 9);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  writer.join();
  WriteLines(kLines, kLines + 1);
  std::istringstream all(All());
  int last = -1;
  for (std::string line; std::getline(all, line);) {
    int number = 0, end = 0;
    if (std::sscanf(line.c_str(), "line %d%n", &number, &end) != 1 ||
        end != static_cast<int>(line.size())) {
      EXPECT_GE(--torn, 0) << line;
      continue;
    }
    EXPECT_GT(number, last);
    last = number;
  }
  EXPECT_EQ(last, kLines);
}

TEST_F(LogRotationTest, AReaderPutsItOffButNotForEver) {
  auto rotation = std::make_unique<LogRotation>(LogLimits{.max_bytes = 100, .max_files = 2});
  rotation->Add(path_);
  WriteLines(0, 100);
  const int reader = open(path_.c_str(), O_RDONLY);
  ASSERT_EQ(flock(reader, LOCK_SH), 0);
  EXPECT_EQ(RotateLog(path_, 2).code(), StatusCode::kFailedPrecondition);
  int checks = 0;
  for (; !fs::exists(path_ + ".1"); ++checks) {
    ASSERT_LT(checks, 1'000'000);
    rotation->Check();
    std::this_thread::yield();
  }
  EXPECT_GE(checks, LogRotation::kMaxSkips);
  rotation.reset();  // waits
  close(reader);
  EXPECT_EQ(Read(".1"), Lines(0, 100));
}

TEST_F(LogRotationTest, OnlyWhatIsTooLargeIsRotated) {
  const std::string small = folder_ + "/small.log";
  std::ofstream(small) << "small\n";
  WriteLines(0, 100);
  {
    LogRotation rotation({.max_bytes = 100, .max_files = 3});
    rotation.Add(path_);
    rotation.Add(small);
    rotation.Add(folder_ + "/missing.log");
    rotation.Check();
  }  // waits
  EXPECT_EQ(Read(".1"), Lines(0, 100));
  EXPECT_EQ(fs::file_size(path_), 0u);
  EXPECT_EQ(fs::file_size(small), 6u);
  EXPECT_FALSE(fs::exists(small + ".1"));
}

}  // namespace
}  // namespace heron
