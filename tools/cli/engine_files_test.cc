#include "tools/cli/engine_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace tools::cli {
namespace {

namespace fs = std::filesystem;

class EngineFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/engineXXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    root_ = fs::path(root_).lexically_normal().string();
  }
  void TearDown() override { fs::remove_all(root_); }
  void Add(const std::string& path) {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << "x";
    chmod((root_ + "/" + path).c_str(), 0755);
  }
  std::string root_;
};

TEST_F(EngineFilesTest, BesideTheCommandThenLibexecThenBazel) {
  const std::string self = root_ + "/bin/heron";
  Add("bin/heron-supervisor");
  Add("libexec/heron/heron-supervisor");
  Add("libexec/heron/heron-executor");
  Add("libexec/heron/heron-topology-master");
  Add("libexec/heron/heron-stream-manager");
  auto files = FindEngine(self, "");
  ASSERT_TRUE(files.ok()) << files.status().ToString();
  ASSERT_EQ(files->size(), 4u);
  EXPECT_EQ((*files)[0], root_ + "/bin/heron-supervisor");
  EXPECT_EQ((*files)[1], root_ + "/libexec/heron/heron-executor");
}

TEST_F(EngineFilesTest, BazelsLayout) {
  Add("scheduler/local/heron-supervisor");
  Add("heron/executor/heron-executor");
  Add("heron/topology_master/heron-topology-master");
  Add("heron/stream_manager/heron-stream-manager");
  auto files = FindEngine(root_ + "/tools/cli/heron", "");
  ASSERT_TRUE(files.ok()) << files.status().ToString();
  EXPECT_EQ((*files)[3], root_ + "/heron/stream_manager/heron-stream-manager");
}

TEST_F(EngineFilesTest, WhatIsMissingIsNamed) {
  Add("bin/heron-supervisor");
  Add("bin/heron-executor");
  auto files = FindEngine(root_ + "/bin/heron", "");
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.status().message().find("no heron-topology-master, heron-stream-manager in"),
            std::string::npos)
      << files.status().message();
  // A named folder is the only one.
  Add("other/heron-executor");
  files = FindEngine(root_ + "/bin/heron", root_ + "/other");
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.status().message().find("heron-supervisor"), std::string::npos);
  EXPECT_NE(files.status().message().find("HERON_ENGINE_FOLDER"), std::string::npos);
}

}  // namespace
}  // namespace tools::cli
