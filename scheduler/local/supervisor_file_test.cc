#include "scheduler/local/supervisor_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "scheduler/local/container_list.h"
#include "scheduler/local/launch_file.h"

namespace scheduler::local {
namespace {

std::string Path() { return testing::TempDir() + "/supervisor.pid"; }

TEST(SupervisorFileTest, RoundTrip) {
  const SupervisorFile written{{4711, 123456789012345, "boot"}, "words-1f"};
  ASSERT_TRUE(WriteSupervisorFile(Path(), written).ok());
  const auto read = ReadSupervisorFile(Path());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->supervisor, written.supervisor);
  EXPECT_EQ(read->topology_id, "words-1f");
}

TEST(SupervisorFileTest, DamagedOrMissing) {
  EXPECT_EQ(ReadSupervisorFile("/no/such/file").status().code(), heron::StatusCode::kNotFound);
  for (const char* content :
       {"", "4711", "{", "[]", "{\"pid\": -1}",
        "{\"pid\": \"1\", \"start_ticks\": 1, \"boot_id\": \"b\", \"topology_id\": \"t\"}"}) {
    std::ofstream(Path()) << content;
    EXPECT_EQ(ReadSupervisorFile(Path()).status().code(), heron::StatusCode::kDataLoss) << content;
  }
}

TEST(WriteFileAtomicallyTest, ModeDoesNotDependOnWhatWasThere) {
  const std::string path = testing::TempDir() + "/secret";
  std::ofstream(path) << "old";
  ASSERT_TRUE(WriteFileAtomically(path, "new", 0600).ok());
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_size, 3);
  const auto failed = WriteFileAtomically("/no/such/folder/secret", "new", 0600);
  EXPECT_NE(failed.message().find("/no/such/folder/secret"), std::string::npos);
}

TEST(ContainerListTest, OnlyDifferentNumbers) {
  EXPECT_EQ(ParseContainers("0,3,12").value(), (std::vector<heron::ContainerId>{0, 3, 12}));
  EXPECT_EQ(FormatContainers({0, 3, 12}), "0,3,12");
  for (const char* text : {"", ",", "0,", "0,,1", "a", "0,1x", "-1", "1,1", "99999999999"}) {
    EXPECT_FALSE(ParseContainers(text).ok()) << text;
  }
}

TEST(LaunchFileTest, KeepsAnyBytes) {
  const std::string folder = testing::TempDir();
  ASSERT_TRUE(
      WriteLaunchFile(folder, {{"/a b", "", "--x=\xFF\n"}, {{"A", ""}, {"B", "=\xFE\n"}}}).ok());
  const auto file = ReadLaunchFile(folder);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->argv, (std::vector<std::string>{"/a b", "", "--x=\xFF\n"}));
  EXPECT_EQ(file->environment, (heron::Environment{{"A", ""}, {"B", "=\xFE\n"}}));
}

TEST(LaunchFileTest, DamagedOrMissingIsToldApart) {
  const std::string folder = testing::TempDir();
  for (const char* text : {"", "x", "heron launch 1", "3"}) {
    std::ofstream(LaunchFilePath(folder)) << text;
    EXPECT_EQ(ReadLaunchFile(folder).status().code(), heron::StatusCode::kDataLoss) << text;
  }
  std::ofstream(LaunchFilePath(folder)) << "heron launch 1" << '\0' << "9" << '\0' << "a" << '\0';
  EXPECT_EQ(ReadLaunchFile(folder).status().code(), heron::StatusCode::kDataLoss);
  EXPECT_EQ(ReadLaunchFile(folder + "/none").status().code(), heron::StatusCode::kNotFound);
}

}  // namespace
}  // namespace scheduler::local
