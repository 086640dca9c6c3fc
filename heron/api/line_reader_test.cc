#include "heron/api/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

#include "heron/api/internal/progress.h"

namespace heron {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LineReaderTest : public ::testing::Test {
 protected:
  LineReaderTest() : folder_(::testing::TempDir() + "line_reader_XXXXXX") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/input";
  }
  ~LineReaderTest() override {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  void Write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::vector<std::string> Lines(Slice slice = {}, LineReader::Options options = {}) {
    LineReader reader(path_, slice, options);
    std::vector<std::string> lines;
    while (auto line = reader.Next()) lines.emplace_back(*line);
    EXPECT_EQ(reader.Next(), std::nullopt);
    EXPECT_EQ(reader.Progress(), 1);
    return lines;
  }
  // What all slices together give, in order.
  std::vector<std::string> LinesOfSlices(int count, LineReader::Options options = {}) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) {
      for (std::string& line : Lines({i, count}, options)) all.push_back(std::move(line));
    }
    return all;
  }
  std::string ErrorOf(const std::string& path) {
    try {
      LineReader reader(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }

  std::string folder_;
  std::string path_;
};

std::vector<std::string> Reference(const std::string& bytes) {
  std::vector<std::string> lines;
  size_t at = 0;
  while (at < bytes.size()) {
    size_t end = bytes.find('\n', at);
    if (end == std::string::npos) end = bytes.size();
    lines.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_F(LineReaderTest, Lines) {
  Write("one\ntwo\n\nfour\n");
  EXPECT_THAT(Lines(), ElementsAre("one", "two", "", "four"));
  Write("one\ntwo");
  EXPECT_THAT(Lines(), ElementsAre("one", "two")) << "no final newline";
  Write("\n");
  EXPECT_THAT(Lines(), ElementsAre(""));
  Write("");
  EXPECT_THAT(Lines(), IsEmpty());
  EXPECT_THAT(LinesOfSlices(3), IsEmpty());
  EXPECT_EQ(LineReader().Next(), std::nullopt);
}

TEST_F(LineReaderTest, AllBytesButTheNewlineBelongToTheLine) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  Write(bytes);
  EXPECT_THAT(Lines(), ElementsAre(bytes.substr(0, 10), bytes.substr(11)));
}

TEST_F(LineReaderTest, SlicesTogetherGiveEveryLineOnce) {
  std::mt19937 random(7);
  LineReader::Options small;
  small.buffer_bytes = 16;
  for (int round = 0; round < 60; ++round) {
    std::string bytes;
    size_t size = random() % 200;
    int rarity = 1 + static_cast<int>(random() % 40);
    for (size_t i = 0; i < size; ++i) {
      bytes += random() % rarity == 0 ? '\n' : static_cast<char>(random());
    }
    Write(bytes);
    for (int count : {1, 2, 3, 7, 50, 300}) {
      ASSERT_EQ(LinesOfSlices(count, small), Reference(bytes))
          << "round " << round << " of " << count;
    }
    ASSERT_EQ(LinesOfSlices(4), Reference(bytes));
  }
}

TEST_F(LineReaderTest, ASliceTakesTheLinesThatBeginInItsBytes) {
  Write("aaaa\nbb\ncccccc\nd\n");                          // lines begin at 0, 5, 8, 15; 17 bytes
  EXPECT_THAT(Lines({0, 2}), ElementsAre("aaaa", "bb"));   // [0, 8)
  EXPECT_THAT(Lines({1, 2}), ElementsAre("cccccc", "d"));  // [8, 17)
  Write("0123456789\n");
  EXPECT_THAT(Lines({0, 4}), ElementsAre("0123456789"));
  EXPECT_THAT(Lines({1, 4}), IsEmpty()) << "a long line is not cut";
  EXPECT_THAT(Lines({3, 4}), IsEmpty());
}

TEST_F(LineReaderTest, LinesLongerThanTheBufferComeWhole) {
  std::string longest(1 << 20, 'x');
  Write("a\n" + longest + "\nb\n" + longest);
  EXPECT_THAT(Lines(), ElementsAre("a", longest, "b", longest));
  EXPECT_EQ(LinesOfSlices(5).size(), 4u);
}

TEST_F(LineReaderTest, OffsetsAndProgress) {
  Write("one\ntwo\nthree");
  LineReader reader(path_);
  EXPECT_EQ(reader.Progress(), 0);
  reader.Next();
  EXPECT_EQ(reader.offset(), 0u);
  EXPECT_GT(reader.Progress(), 0);
  EXPECT_LT(reader.Progress(), 1);
  reader.Next();
  EXPECT_EQ(reader.offset(), 4u);
  reader.Next();
  EXPECT_EQ(reader.offset(), 8u);
  EXPECT_EQ(reader.Progress(), 1);
}

TEST_F(LineReaderTest, TellsItsProgressToTheTaskByItself) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line\n";
  Write(text);
  double progress = -1;
  heron::internal::reader_progress = &progress;
  LineReader reader(path_);
  for (int i = 0; i < 500; ++i) reader.Next();
  EXPECT_NEAR(progress, 0.5, 0.1);
  while (reader.Next()) {
  }
  EXPECT_EQ(progress, 1);
  heron::internal::reader_progress = nullptr;
  LineReader silent(path_);
  silent.Next();
  EXPECT_EQ(progress, 1);
}

TEST_F(LineReaderTest, ALineAboveTheLimitIsAnErrorThatNamesIt) {
  LineReader::Options options;
  options.max_line_bytes = 10;
  options.buffer_bytes = 16;
  Write("0123456789\nabc\n0123456789x\nrest\n");
  LineReader reader(path_, {}, options);
  EXPECT_EQ(reader.Next(), "0123456789") << "the limit itself is allowed";
  EXPECT_EQ(reader.Next(), "abc");
  for (int again = 0; again < 2; ++again) {
    try {
      reader.Next();
      FAIL() << "a line of 11 bytes was given";
    } catch (const LineTooLong& error) {
      EXPECT_EQ(error.path(), path_);
      EXPECT_EQ(error.offset(), 15u);
      EXPECT_EQ(error.size(), 11u);
      EXPECT_TRUE(error.size_is_exact());
      EXPECT_EQ(error.limit(), 10u);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path_), HasSubstr("offset 15"),
                                      HasSubstr("has 11 bytes"), HasSubstr("limit is 10")));
    }
  }
}

TEST_F(LineReaderTest, TheLastLineIsBoundedToo) {
  LineReader::Options options;
  options.max_line_bytes = 10;
  Write("0123456789x");
  LineReader reader(path_, {}, options);
  EXPECT_THROW(reader.Next(), LineTooLong);
  Write("0123456789");
  EXPECT_THAT(Lines({}, options), ElementsAre("0123456789"));
}

TEST_F(LineReaderTest, AVeryLongLineHasASizeAtLeast) {
  // Sparse: takes no space on the disk.
  Write("a\n");
  ASSERT_EQ(::truncate(path_.c_str(), 300 << 20), 0);
  LineReader first(path_, {0, 2});
  EXPECT_EQ(first.Next(), "a");
  try {
    first.Next();
    FAIL();
  } catch (const LineTooLong& error) {
    EXPECT_FALSE(error.size_is_exact());
    EXPECT_GE(error.size(), 64u << 20);
    EXPECT_THAT(error.what(), HasSubstr("at least"));
  }
  LineReader second(path_, {1, 2});
  EXPECT_EQ(second.Next(), std::nullopt) << "the line belongs to the slice it begins in";
}

TEST_F(LineReaderTest, WhatCannotBeReadIsRefusedWithItsReason) {
  EXPECT_THAT(ErrorOf(path_), AllOf(HasSubstr(path_), HasSubstr("No such file")));
  EXPECT_THAT(ErrorOf(folder_), HasSubstr("it is a folder"));
  EXPECT_THAT(ErrorOf("/dev/null"), HasSubstr("it is a device"));
  EXPECT_THAT(ErrorOf(std::string("a\0b", 3)), HasSubstr("zero byte"));
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf(path_), HasSubstr("it is a pipe")) << "refused, not waited for";
}

TEST_F(LineReaderTest, AFileWithoutPermissionIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  Write("x");
  ASSERT_EQ(::chmod(path_.c_str(), 0), 0);
  EXPECT_THAT(ErrorOf(path_), HasSubstr("Permission denied"));
}

TEST_F(LineReaderTest, SlicesThatDoNotExistAreRefused) {
  Write("x");
  for (Slice slice : {Slice{1, 1}, Slice{-1, 1}, Slice{0, 0}}) {
    EXPECT_THROW(LineReader(path_, slice), InputError);
  }
}

TEST_F(LineReaderTest, WhatIsAppendedAfterTheOpenIsNotRead) {
  Write("one\ntw");
  LineReader reader(path_);
  std::ofstream(path_, std::ios::app) << "o\nthree\n";
  EXPECT_EQ(reader.Next(), "one");
  EXPECT_EQ(reader.Next(), "tw");
  EXPECT_EQ(reader.Next(), std::nullopt);
}

TEST_F(LineReaderTest, AFileThatShrinksIsAnErrorNotACutLine) {
  LineReader::Options options;
  options.buffer_bytes = 16;
  Write("one\ntwo\n" + std::string(100, 'x') + "\n");
  LineReader reader(path_, {}, options);
  EXPECT_EQ(reader.Next(), "one");
  ASSERT_EQ(::truncate(path_.c_str(), 50), 0);
  EXPECT_EQ(reader.Next(), "two");
  for (int again = 0; again < 2; ++again) {
    try {
      reader.Next();
      FAIL() << "a cut line was given";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("had 109 bytes"), HasSubstr("ends at byte 50")));
    }
  }
}

TEST_F(LineReaderTest, CanBeMoved) {
  Write("one\ntwo");
  LineReader reader;
  reader = LineReader(path_);
  EXPECT_EQ(reader.Next(), "one");
  LineReader moved = std::move(reader);
  EXPECT_EQ(moved.Next(), "two");
}

}  // namespace
}  // namespace heron
