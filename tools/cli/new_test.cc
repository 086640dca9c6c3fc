#include "tools/cli/new.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tools/cli/context.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;

class NewTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "newXXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    cli_.out = &out_;
  }
  void TearDown() override { fs::remove_all(folder_); }

  heron::Status New(const std::string& folder, const std::string& name = "") {
    return NewCommand(cli_, folder, name);
  }
  static std::string Read(const std::string& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  std::string folder_;
  std::ostringstream out_;
  Cli cli_;
};

TEST_F(NewTest, MakesTheFilesUnderTheNewName) {
  ASSERT_TRUE(New(folder_ + "/sub/word.count_2").ok());
  const std::string made = folder_ + "/sub/word.count_2/";
  for (const char* file : {"main.cc", "components.h", "components_test.cc", "Makefile", "CMakeLists.txt", "README.md"}) {
    const std::string text = Read(made + file);
    EXPECT_FALSE(text.empty()) << file;
    EXPECT_EQ(text.find("outside"), std::string::npos) << file;
  }
  EXPECT_NE(Read(made + "main.cc").find("TopologyBuilder topology(\"word.count_2\")"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(made + "BUILD"));
  EXPECT_NE(out_.str().find("  cd " + made.substr(0, made.size() - 1) +
                            "\n  make\n  heron submit ./word.count_2 word.count_2"),
            std::string::npos)
      << out_.str();
}

TEST_F(NewTest, AnEmptyFolderIsFineAndTheNameMayDiffer) {
  fs::create_directory(folder_ + "/with space");
  EXPECT_FALSE(New(folder_ + "/with space").ok());
  ASSERT_TRUE(New(folder_ + "/with space/", "sum").ok());
  EXPECT_NE(Read(folder_ + "/with space/Makefile").find("\nsum: main.cc"), std::string::npos);
  EXPECT_NE(out_.str().find("cd '" + folder_ + "/with space/'"), std::string::npos) << out_.str();
}

TEST_F(NewTest, RefusesWhatWouldBeHarmed) {
  std::ofstream(folder_ + "/file") << "mine";
  EXPECT_NE(New(folder_ + "/file").message().find("is a file"), std::string::npos);
  EXPECT_NE(New(folder_, "sum").message().find("has something in it"), std::string::npos);
  EXPECT_EQ(Read(folder_ + "/file"), "mine");
  const heron::Status named = New(folder_ + "/x y");
  EXPECT_NE(named.message().find("--name"), std::string::npos) << named.message();
  EXPECT_NE(named.message().find("'x y'"), std::string::npos) << named.message();
  EXPECT_FALSE(New(folder_ + "/sum", "../sum").ok());
  EXPECT_FALSE(New("").ok());
  EXPECT_FALSE(fs::exists(folder_ + "/x y"));
  EXPECT_FALSE(fs::exists(folder_ + "/sum"));
}

TEST_F(NewTest, WhatCannotBeMadeLeavesNothing) {
  std::ofstream(folder_ + "/file") << "";
  const heron::Status below_a_file = New(folder_ + "/file/sum");
  EXPECT_NE(below_a_file.message().find(folder_ + "/file"), std::string::npos)
      << below_a_file.message();
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace tools::cli
