#include "tools/cli/describe.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

namespace tools::cli {
namespace {

using heron::Result;
using heron::StatusCode;

const char kProgram[] = "tools/cli/describing_program";

class DescribeTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/describeXXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<Description> Run(const std::vector<std::string>& arguments) {
    return Describe(kProgram, arguments, options_);
  }
  std::string Message(const std::string& mode) { return Run({mode}).status().message(); }
  std::string WriteFile(const std::string& name, const std::string& content, int mode) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << content;
    chmod(path.c_str(), static_cast<mode_t>(mode));
    return path;
  }

  std::string folder_;
  DescribeOptions options_;
};

TEST_F(DescribeTest, ReadsTheDefinitionAndKeepsWhatIsPrintedApart) {
  auto description = Run({"good"});
  ASSERT_TRUE(description.ok()) << description.status().ToString();
  EXPECT_EQ(description->topology.components_size(), 2);
  EXPECT_EQ(description->topology.SerializeAsString(), description->bytes);
  EXPECT_EQ(description->printed, "hello from stdout");
}

TEST_F(DescribeTest, EveryFailureHasItsOwnMessage) {
  const std::string crash = Message("crash");
  EXPECT_NE(crash.find("killed by signal 11"), std::string::npos) << crash;
  EXPECT_NE(crash.find("about to crash"), std::string::npos) << crash;
  const std::string exit = Message("exit");
  EXPECT_NE(exit.find("exited with code 7"), std::string::npos) << exit;
  EXPECT_NE(Message("empty").find("without describing"), std::string::npos) << Message("empty");
  EXPECT_NE(Message("rubbish").find("no topology definition"), std::string::npos);
  for (const char* mode : {"crash", "exit", "empty", "rubbish"}) {
    EXPECT_NE(Message(mode).find("describing_program"), std::string::npos) << mode;
  }
}

TEST_F(DescribeTest, ShowsTheLastTwentyLines) {
  const std::string message = Message("exit");
  EXPECT_EQ(message.find("complaint 10\n"), std::string::npos);
  EXPECT_NE(message.find("complaint 11\n"), std::string::npos);
  EXPECT_TRUE(message.ends_with("complaint 30")) << message;
}

TEST_F(DescribeTest, HangsAreStoppedAndToldApart) {
  options_.timeout = std::chrono::milliseconds(300);
  auto silent = Run({"hang"});
  EXPECT_EQ(silent.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(silent.status().message().find("did not describe itself within 300 ms"),
            std::string::npos)
      << silent.status().message();
  const std::string written = Message("written-hang");
  EXPECT_NE(written.find("did not exit"), std::string::npos) << written;
}

TEST_F(DescribeTest, TooMuchIsRefused) {
  options_.max_bytes = 1 << 20;
  const std::string message = Message("endless");
  EXPECT_NE(message.find("more than 1 MiB"), std::string::npos) << message;
}

TEST_F(DescribeTest, NothingOfTheGroupIsLeft) {
  const std::string pid_file = folder_ + "/pid";
  auto description = Run({"grandchild", pid_file});
  ASSERT_TRUE(description.ok()) << description.status().ToString();
  int pid = 0;
  std::ifstream(pid_file) >> pid;
  ASSERT_GT(pid, 0);
  // SIGKILL was sent before Describe returned. It dies as soon as it is scheduled; its new parent reaps it some time.
  std::string state;
  for (int i = 0; i < 2000; ++i) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name;
    state.clear();
    if (!(status >> number >> name >> state) || state == "Z" || state == "X") return;
    poll(nullptr, 0, 5);
  }
  FAIL() << "process " << pid << " lives on: " << state;
}

TEST_F(DescribeTest, ProgramInheritsNothing) {
  auto description = Run({"descriptors"});
  EXPECT_TRUE(description.ok()) << description.status().ToString();
}

TEST_F(DescribeTest, ArgumentsArriveUntouched) {
  auto description = Run({"arguments", "", "--wait a\nb"});
  EXPECT_TRUE(description.ok()) << description.status().ToString();
}

TEST_F(DescribeTest, InterruptEndsItAtOnce) {
  options_.interrupted = [] { return true; };
  EXPECT_NE(Message("hang").find("nothing was submitted"), std::string::npos);
}

TEST_F(DescribeTest, ProgramsThatCannotRun) {
  EXPECT_NE(CheckProgram(folder_ + "/none").message().find("does not exist"), std::string::npos);
  EXPECT_NE(CheckProgram(folder_).message().find("is a folder"), std::string::npos);
  EXPECT_NE(CheckProgram("/dev/null").message().find("not a regular file"), std::string::npos);
  const std::string plain = WriteFile("plain", "text", 0644);
  EXPECT_NE(CheckProgram(plain).message().find("chmod +x"), std::string::npos);
  const std::string text = WriteFile("text", "no program\n", 0755);
  EXPECT_TRUE(CheckProgram(text).ok());
  auto described = Describe(text, {}, options_);
  EXPECT_NE(described.status().message().find("wrong format"), std::string::npos)
      << described.status().message();
  const std::string script = WriteFile("script", "#!/nowhere/interpreter\n", 0755);
  described = Describe(script, {}, options_);
  EXPECT_NE(described.status().message().find("interpreter"), std::string::npos);
}

}  // namespace
}  // namespace tools::cli
