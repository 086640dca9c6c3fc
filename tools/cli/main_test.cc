// The real command: exit codes, which stream says what, HERON_ROOT. Topologies are started by
// tests/integration.

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Ended {
  int code = -1;
  std::string out;
  std::string err;
};

class MainTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/mainXXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    setenv("HERON_ROOT", (folder_ + "/root").c_str(), 1);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Ended Heron(const std::string& arguments) { return Shell("tools/cli/heron " + arguments); }
  Ended Shell(const std::string& command) {
    const std::string err = folder_ + "/err";
    FILE* pipe = popen((command + " 2>" + err).c_str(), "r");
    Ended ended;
    if (pipe == nullptr) return ended;
    char buffer[4096];
    for (size_t got = 0; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
      ended.out.append(buffer, got);
    }
    const int status = pclose(pipe);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::ifstream in(err);
    ended.err.assign(std::istreambuf_iterator<char>(in), {});
    return ended;
  }

  std::string folder_;
};

TEST_F(MainTest, HelpAndVersionAreDone) {
  for (const char* arguments : {"--help", "help", "help submit", "kill --help", "version"}) {
    const Ended ended = Heron(arguments);
    EXPECT_EQ(ended.code, 0) << arguments;
    EXPECT_EQ(ended.err, "") << arguments;
    EXPECT_NE(ended.out, "") << arguments;
  }
  EXPECT_EQ(Heron("version").out, "heron 0.1.0\n");
  EXPECT_FALSE(fs::exists(folder_ + "/root")) << "nothing was made for it";
}

TEST_F(MainTest, BadUsageIsTwo) {
  for (const char* arguments : {"", "sumbit", "kill", "kill a b c", "kill ../x", "kill a/b/c/d x",
                                "submit ./p n --containers x", "topologies --nonsense"}) {
    const Ended ended = Heron(arguments);
    EXPECT_EQ(ended.code, 2) << arguments;
    EXPECT_TRUE(ended.err.starts_with("heron: ")) << ended.err;
    EXPECT_NE(ended.err.find("--help"), std::string::npos) << ended.err;
    EXPECT_EQ(ended.out, "") << arguments;
  }
}

TEST_F(MainTest, RefusalIsOneWithTheCause) {
  const Ended ended = Heron("kill nothing --output json");
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("no topology 'nothing'"), std::string::npos) << ended.err;
  EXPECT_NE(ended.out.find("\"code\": \"not found\""), std::string::npos) << ended.out;
  EXPECT_EQ(Heron("topologies").code, 0);
  EXPECT_EQ(Heron("topologies nothing").code, 1);
  EXPECT_EQ(Heron("logs nothing").code, 1);
  EXPECT_EQ(Heron("wait nothing").code, 1);
  EXPECT_EQ(Heron("activate nothing").code, 1);
}

TEST_F(MainTest, ProgramsAreCheckedAndDescribed) {
  EXPECT_NE(Heron("submit " + folder_ + "/none n --dry-run").err.find("does not exist"),
            std::string::npos);
  EXPECT_NE(Heron("submit /bin/false n --dry-run").err.find("exited with code 1"),
            std::string::npos);
  const Ended dry = Heron("submit tools/cli/describing_program n --dry-run -- good");
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_NE(dry.out.find("lines[0]"), std::string::npos);
  EXPECT_EQ(dry.err.find('\033'), std::string::npos) << "no colours without a terminal";
}

TEST_F(MainTest, SubmitFromADeletedFolderIsRefusedWithTheRemedy) {
  const std::string program = fs::absolute("tools/cli/describing_program").string();
  fs::create_directory(folder_ + "/gone");
  const std::string heron = fs::absolute("tools/cli/heron").string();
  const Ended ended = Shell("cd " + folder_ + "/gone && rmdir ../gone && " + heron + " submit " +
                            program + " n --dry-run -- good");
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("cd to an existing folder"), std::string::npos) << ended.err;
}

TEST_F(MainTest, SettingsOfTheUserFileCount) {
  fs::create_directories(folder_ + "/root");
  std::ofstream(folder_ + "/root/config.yaml") << "heron.submit.describe.timeout.ms: 200\n";
  const Ended slow = Heron("submit tools/cli/describing_program n --dry-run -- hang");
  EXPECT_EQ(slow.code, 1);
  EXPECT_NE(slow.err.find("within 200 ms"), std::string::npos) << slow.err;
  const Ended shown = Heron("config show heron.submit.describe.timeout.ms");
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("200"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("/root/config.yaml:1"), std::string::npos) << shown.out;
  EXPECT_EQ(Heron("config show heron.nonsense").code, 1);
  EXPECT_EQ(Heron("config sohw").code, 2);
  std::ofstream(folder_ + "/root/config.yaml") << "heron.nonsense: 1\n";
  const Ended bad = Heron("topologies");
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.err.find("config.yaml:1"), std::string::npos) << bad.err;
}

}  // namespace
