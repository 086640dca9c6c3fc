#include "scheduler/uploader/local_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "scheduler/uploader/sha256.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

constexpr heron::Duration kNoWait{0};
constexpr heron::Duration kPlenty = std::chrono::seconds(20);

class LocalFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/packagesXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    packages_ = root_ + "/local/packages";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string WriteFile(const std::string& name, const std::string& content) {
    const std::string path = root_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string ReadFile(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  // Without the lock file.
  std::vector<std::string> Entries() const {
    std::vector<std::string> names;
    if (!fs::exists(packages_)) return names;
    for (const auto& entry : fs::directory_iterator(packages_)) {
      if (entry.path().filename() != ".lock") names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string root_;
  std::string packages_;
};

TEST_F(LocalFolderTest, ProgramIsNamedByItsHashAndExecutable) {
  const std::string program = WriteFile("count", "abc");
  LocalFolder folder(packages_);
  auto package = folder.PutProgram(program);
  ASSERT_TRUE(package.ok()) << package.status().ToString();
  EXPECT_EQ(package->sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(package->folder, packages_ + "/program-" + package->sha256);
  EXPECT_EQ(ReadFile(package->folder + "/count"), "abc");
  struct stat info = {};
  ASSERT_EQ(stat((package->folder + "/count").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0755u);
}

TEST_F(LocalFolderTest, PuttingTwiceIsOnePackage) {
  const std::string program = WriteFile("count", "abc");
  LocalFolder folder(packages_);
  auto first = folder.PutProgram(program);
  auto second = folder.PutProgram(program);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->folder, second->folder);
  EXPECT_EQ(Entries().size(), 1u);
}

TEST_F(LocalFolderTest, SameContentUnderAnotherNameIsThereToo) {
  const std::string one = WriteFile("one", "abc");
  const std::string two = WriteFile("two", "abc");
  LocalFolder folder(packages_);
  ASSERT_TRUE(folder.PutProgram(one).ok());
  auto second = folder.PutProgram(two);
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_EQ(ReadFile(second->folder + "/one"), "abc");
  EXPECT_EQ(ReadFile(second->folder + "/two"), "abc");
  EXPECT_EQ(Entries().size(), 1u);
}

TEST_F(LocalFolderTest, DamagedPackageIsReplaced) {
  const std::string program = WriteFile("count", "abc");
  LocalFolder folder(packages_);
  auto package = folder.PutProgram(program);
  ASSERT_TRUE(package.ok());
  std::ofstream(package->folder + "/count") << "ab";  // cut off
  auto again = folder.PutProgram(program);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(ReadFile(again->folder + "/count"), "abc");
  EXPECT_EQ(Entries().size(), 1u);
}

TEST_F(LocalFolderTest, EngineHashCoversNames) {
  const std::string a = WriteFile("heron-executor", "1");
  const std::string b = WriteFile("heron-supervisor", "2");
  const std::string c = WriteFile("heron-stream-manager", "2");
  LocalFolder folder(packages_);
  auto one = folder.PutEngine({a, b});
  auto other = folder.PutEngine({a, c});
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE(one->sha256, other->sha256);
  EXPECT_EQ(ReadFile(one->folder + "/heron-supervisor"), "2");
}

TEST_F(LocalFolderTest, ConcurrentPutsAgree) {
  const std::string program = WriteFile("count", std::string(3'000'000, 'x'));
  std::vector<std::thread> threads;
  std::vector<std::string> folders(8);
  for (std::string& out : folders) {
    threads.emplace_back([&out, &program, this] {
      auto package = LocalFolder(packages_).PutProgram(program);
      out = package.ok() ? package->folder : package.status().ToString();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& folder : folders) EXPECT_EQ(folder, folders[0]);
  EXPECT_EQ(Entries().size(), 1u);
  EXPECT_EQ(fs::file_size(folders[0] + "/count"), 3'000'000u);
}

TEST_F(LocalFolderTest, SweepKeepsWhatIsInUseAndRemovesBrokenOffWork) {
  const std::string kept = WriteFile("kept", "1");
  const std::string gone = WriteFile("gone", "2");
  LocalFolder folder(packages_);
  auto keep = folder.PutProgram(kept);
  auto go = folder.PutProgram(gone);
  auto engine = folder.PutEngine({kept});
  ASSERT_TRUE(keep.ok() && go.ok() && engine.ok());
  fs::create_directories(packages_ + "/.new-abcdef");
  LocalFolder::InUse in_use;
  in_use.programs.insert(keep->sha256);
  in_use.engines.insert(engine->sha256);
  auto removed = folder.Sweep(in_use);
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(*removed, std::vector<std::string>{"program-" + go->sha256});
  EXPECT_EQ(Entries(),
            (std::vector<std::string>{"engine-" + engine->sha256, "program-" + keep->sha256}));
}

TEST_F(LocalFolderTest, SweepOfNothingIsDone) {
  auto removed = LocalFolder(packages_).Sweep({});
  ASSERT_TRUE(removed.ok());
  EXPECT_TRUE(removed->empty());
}

TEST_F(LocalFolderTest, SweeperWaitsForSubmitsAndSubmitsShare) {
  LocalFolder folder(packages_);
  auto one = folder.LockShared(kNoWait);
  auto two = folder.LockShared(kNoWait);
  ASSERT_TRUE(one.ok() && two.ok());
  auto alone = folder.LockAlone(kNoWait);
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.status().code(), heron::StatusCode::kDeadlineExceeded);
  EXPECT_NE(alone.status().message().find(packages_), std::string::npos);
  one->reset();
  two->reset();
  EXPECT_TRUE(folder.LockAlone(kPlenty).ok());
}

TEST_F(LocalFolderTest, MissingProgramIsNamedAndLeavesNothing) {
  auto package = LocalFolder(packages_).PutProgram(root_ + "/nowhere");
  ASSERT_FALSE(package.ok());
  EXPECT_EQ(package.status().code(), heron::StatusCode::kNotFound);
  EXPECT_NE(package.status().message().find("nowhere"), std::string::npos);
  EXPECT_TRUE(Entries().empty());
}

// The kernel's limit on file sizes stands in for a full disk: both are errors of write(2) in the
// middle of the copy.
TEST_F(LocalFolderTest, WriteErrorIsNamedAndLeavesNothing) {
  const std::string program = WriteFile("count", std::string(1'000'000, 'x'));
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 100'000;
  auto* const old_handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  auto package = LocalFolder(packages_).PutProgram(program);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(package.ok());
  EXPECT_NE(package.status().message().find("cannot write " + packages_), std::string::npos)
      << package.status().message();
  EXPECT_TRUE(Entries().empty());
}

TEST_F(LocalFolderTest, FolderThatCannotBeMadeIsNamed) {
  WriteFile("local", "a file where a folder should be");
  auto package = LocalFolder(packages_).PutProgram(WriteFile("count", "abc"));
  ASSERT_FALSE(package.ok());
  EXPECT_NE(package.status().message().find(packages_), std::string::npos);
}

}  // namespace
}  // namespace scheduler
