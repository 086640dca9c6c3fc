// An installation, moved, as its user has it: only its own files, g++, make and cmake; `heron` found through a link in PATH.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

class InstallTest : public ::testing::Test {
 protected:
  // One installation for all tests that leave it as it is, moved after it was made.
  static void SetUpTestSuite() {
    shared_ = new RealCluster;
    const std::string first = shared_->folder() + "/first";
    const CommandResult installed = Install(first);
    ASSERT_EQ(installed.exit_code, 0) << installed.out << installed.err;
    fs::rename(first, shared_->folder() + "/home");
  }
  static void TearDownTestSuite() { delete shared_; }
  void SetUp() override {
    fs::create_directory(cluster_.folder() + "/path");
    fs::create_symlink(home_ + "/bin/heron", cluster_.folder() + "/path/heron");
  }
  static CommandResult Install(const std::string& prefix) {
    return RunCommand({shared_->Program("tools/install.sh"), prefix, "--built", shared_->Program("")}, {}, seconds(60));
  }
  // As the user types it, in `folder`.
  CommandResult Shell(const std::string& folder, const std::string& command) {
    return RunCommand({"/bin/sh", "-ec", "cd " + folder + " && " + command},
                      {{"HERON_ROOT", cluster_.root()},
                       {"PATH", cluster_.folder() + "/path:/usr/bin:/bin"},
                       {"CXXFLAGS", "-O1 -Wall -Wextra -Wshadow -Werror"}},
                      seconds(100));
  }
  void Succeeds(const std::string& folder, const std::string& command, const std::string& printed = "") {
    const CommandResult result = Shell(folder, command);
    EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.out << result.err;
    EXPECT_NE(result.out.find(printed), std::string::npos) << command << "\n" << result.out << result.err;
  }
  std::set<int> Pids() {
    std::set<int> pids;
    for (const LiveProcess& process : cluster_.Processes("heron")) pids.insert(process.pid);
    return pids;
  }

  static RealCluster* shared_;
  RealCluster cluster_;
  const std::string home_ = shared_->folder() + "/home";
};

RealCluster* InstallTest::shared_ = nullptr;

TEST_F(InstallTest, AnOwnTopologyIsMadeBuiltSubmittedAndKilled) {
  const std::string project = cluster_.folder() + "/squares";
  Succeeds(cluster_.folder(), "heron new squares", "heron submit ./squares squares");
  Succeeds(project, "make");
  Succeeds(project, "make test", "ok      the whole topology");
  Succeeds(project, "heron submit ./squares squares --wait=finished -- 1000", "FINISHED");
  Succeeds(project, "heron logs squares sum", "the sum of the squares is 333833500");
  Succeeds(project, "heron run ./squares -- 1000", "the sum of the squares is 333833500");
  EXPECT_TRUE(cluster_.Processes().empty());

  // Without an argument it runs for ever: also while Heron is installed anew.
  Succeeds(project, "heron submit ./squares endless --wait");
  const std::set<int> before = Pids();
  EXPECT_FALSE(before.empty());
  const CommandResult upgrade = Install(home_);
  EXPECT_EQ(upgrade.exit_code, 0) << upgrade.out << upgrade.err;
  EXPECT_EQ(Pids(), before);
  Succeeds(project, "heron topologies endless --output json", "\"RUNNING\"");
  Succeeds(project, "heron doctor", "no problem");
  Succeeds(project, "heron kill endless");
  EXPECT_TRUE(cluster_.Processes().empty());
}

TEST_F(InstallTest, CMakeBuildsTheExampleOutOfTheTree) {
  fs::copy(home_ + "/share/heron/examples/outside", cluster_.folder() + "/outside");
  Succeeds(cluster_.folder() + "/outside",
           "cmake -B build -DCMAKE_PREFIX_PATH=" + home_ + " -DCMAKE_BUILD_TYPE=Debug && cmake --build build --target outside");
  Succeeds(cluster_.folder() + "/outside", "heron submit build/outside o --wait=finished -- 10", "FINISHED");
  Succeeds(cluster_.folder() + "/outside", "heron logs o sum", "the sum of the squares is 385");
  Succeeds(cluster_.folder() + "/outside", "heron kill o");
}

TEST_F(InstallTest, NothingNamesTheMachineItWasBuiltOn) {
  for (const auto& entry : fs::recursive_directory_iterator(home_)) {
    if (!entry.is_regular_file()) continue;
    const std::string content = RealCluster::ReadFile(entry.path());
    EXPECT_EQ(content.find(cluster_.Program("")), std::string::npos) << entry.path();
    EXPECT_EQ(content.find(shared_->folder()), std::string::npos) << entry.path();
    EXPECT_EQ(content.find("/execroot/"), std::string::npos) << entry.path();
  }
}

TEST_F(InstallTest, TheReadmesNameThePackagesOfTheLibraries) {
  const std::string readme = RealCluster::ReadFile(home_ + "/share/doc/heron/README.md");
  const std::string project = RealCluster::ReadFile(home_ + "/share/heron/examples/outside/README.md");
  const auto each_package = [&](const std::string& files, const std::function<void(const std::string&)>& check) {
    const CommandResult found = Shell(
        home_, "for file in $(" + files + "); do dpkg -S \"*/$file\" | sed 's/:.*//' | grep -v -e '^libc6' -e gcc -e stdc++ | sort -u; done");
    EXPECT_NE(found.out, "") << found.err;
    std::istringstream lines(found.out);
    for (std::string package; std::getline(lines, package);) check(package);
  };
  each_package("readelf -d bin/heron libexec/heron/* | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p' | sort -u",
               [&](const std::string& package) { EXPECT_NE(readme.find(package), std::string::npos) << package; });
  each_package("sed -n 's/^Libs://p' lib/pkgconfig/heron.pc | tr ' ' '\\n' | sed -n 's/^-l\\(.*\\)/lib\\1.so/p' | grep -v libheron",
               [&](const std::string& package) {
                 EXPECT_NE(readme.find(package), std::string::npos) << package;
                 EXPECT_NE(project.find(package), std::string::npos) << package;
               });
}

TEST_F(InstallTest, AnUpgradeKeepsWhatTheUserChangedOrAdded) {
  const std::string home = cluster_.folder() + "/own";
  ASSERT_EQ(Install(home).exit_code, 0);
  const std::string settings = home + "/share/heron/config/local/cluster.yaml";
  std::ofstream(settings, std::ios::app) << "topology.containers: 3\n";
  std::ofstream(home + "/bin/mine") << "mine";
  std::ofstream(home + "/include/heron/heron.h") << "spoilt";
  const CommandResult upgrade = Install(home);
  EXPECT_EQ(upgrade.exit_code, 0) << upgrade.err;
  EXPECT_NE(upgrade.out.find("kept your " + settings), std::string::npos) << upgrade.out;
  EXPECT_TRUE(fs::exists(settings + ".new"));
  EXPECT_EQ(RealCluster::ReadFile(home + "/bin/mine"), "mine");
  EXPECT_NE(RealCluster::ReadFile(home + "/include/heron/heron.h"), "spoilt");
  Succeeds(home, "bin/heron config show topology.containers", "share/heron/config/local/cluster.yaml:");
}

TEST_F(InstallTest, RefusesAFolderThatIsNotItsOwn) {
  const std::string foreign = cluster_.folder() + "/foreign";
  fs::create_directory(foreign);
  std::ofstream(foreign + "/file") << "mine";
  CommandResult refused = Install(foreign);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find(foreign + " is not empty and no Heron installation"), std::string::npos) << refused.err;
  refused = Install(foreign + "/file");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("is a file"), std::string::npos) << refused.err;
  EXPECT_EQ(RunCommand({cluster_.Program("tools/install.sh")}, {}, seconds(10)).exit_code, 2);
  EXPECT_EQ(Install("--nonsense").exit_code, 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(foreign), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace heron::testing
