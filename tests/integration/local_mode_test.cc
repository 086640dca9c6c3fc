// PROGRAM --heron-local: the answers of the real thing from one process, its exit codes, and what
// ends it. Also the target for the sanitizers, which see all of the engine here at once.
#include <glog/logging.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "heron/base/process.h"
#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

const char kWordCount[] = "examples/wordcount/wordcount";
const char kProbe[] = "tests/integration/probe";

std::string RandomBytes(size_t bytes) {
  std::mt19937 random(11);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class LocalModeTest : public ::testing::Test {
 protected:
  LocalModeTest() {
    folder_ = (fs::path(::testing::TempDir()) / "local-XXXXXX").string();
    PCHECK(mkdtemp(folder_.data()) != nullptr);
    fs::create_directory(folder_ + "/tmp");
  }
  ~LocalModeTest() override {
    EXPECT_TRUE(fs::is_empty(folder_ + "/tmp")) << "a container folder was left behind";
    fs::remove_all(folder_);
  }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  // PROGRAM --heron-local OPTIONS -- ARGUMENTS
  static std::vector<std::string> Line(const std::string& program,
                                       const std::vector<std::string>& options,
                                       const std::vector<std::string>& arguments) {
    std::vector<std::string> line = {fs::absolute(program).string(), "--heron-local"};
    line.insert(line.end(), options.begin(), options.end());
    line.push_back("--");
    line.insert(line.end(), arguments.begin(), arguments.end());
    return line;
  }
  // What is left behind by _exit is a leak to the thread sanitizer.
  static std::string SanitizerOptions() {
    const char* options = std::getenv("TSAN_OPTIONS");
    return std::string(options == nullptr ? "" : options) + ":report_thread_leaks=0";
  }
  CommandResult Run(const std::string& program, const std::vector<std::string>& options,
                    const std::vector<std::string>& arguments) {
    return RunCommand(Line(program, options, arguments),
                      {{"TMPDIR", File("tmp")}, {"TSAN_OPTIONS", SanitizerOptions()}}, seconds(60));
  }

  // A program that runs on; what it says goes to a file.
  class Started {
   public:
    Started(const LocalModeTest& test, const std::vector<std::string>& line)
        : log_(test.File("log")) {
      SpawnOptions spawn;
      spawn.argv = line;
      spawn.environment = OwnEnvironment();
      spawn.environment["TMPDIR"] = test.File("tmp");
      spawn.environment["TSAN_OPTIONS"] = SanitizerOptions();
      spawn.log_file = log_;
      auto started = SpawnProcess(spawn);
      CHECK(started.ok()) << started.status().ToString();
      pid_ = started->pid;
    }
    ~Started() {
      if (pid_ == 0) return;
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    std::string log() const { return ReadFile(log_); }
    bool Says(const std::string& text) const {
      return Eventually(seconds(20), [&] { return log().find(text) != std::string::npos; });
    }
    void Signal(int signo) const { kill(pid_, signo); }
    // 128 + n when signal n ended it; -1 when it does not end in time.
    int Await(milliseconds timeout) {
      int status = 0;
      if (!Eventually(timeout, [&] { return waitpid(pid_, &status, WNOHANG) == pid_; })) return -1;
      pid_ = 0;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

   private:
    const std::string log_;
    pid_t pid_ = 0;
  };

 private:
  std::string folder_;
};

// A second is promised; sanitizers and busy machines take their share.
constexpr milliseconds kEndsWithin = seconds(5);

struct Case {
  std::string name;
  std::string text;
  int parallelism;
  int containers;
};

class LocalWordCountTest : public LocalModeTest, public ::testing::WithParamInterface<Case> {};

TEST_P(LocalWordCountTest, CountsEveryWordOnce) {
  const Case& c = GetParam();
  std::ofstream(File("in"), std::ios::binary) << c.text;
  const std::string n = "=" + std::to_string(c.parallelism);
  const CommandResult r =
      Run(kWordCount,
          {"--heron-containers=" + std::to_string(c.containers), "--heron-parallelism=lines" + n,
           "--heron-parallelism=split" + n, "--heron-parallelism=count" + n},
          {File("in"), File("out")});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("FINISHED\n"), std::string::npos) << r.err;
  // Not EXPECT_EQ: the texts are long.
  EXPECT_TRUE(ReadFile(File("out")) == ExpectedWordCount(c.text)) << r.err;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, LocalWordCountTest,
    ::testing::Values(Case{"LicenceAlone", ReadFile("/usr/share/common-licenses/GPL-3"), 1, 1},
                      Case{"LicenceWide", ReadFile("/usr/share/common-licenses/GPL-3"), 4, 3},
                      Case{"Empty", "", 1, 3}, Case{"NoFinalNewline", "a b\na b c", 4, 1},
                      Case{"LongWord", "x " + std::string(1 << 20, 'w') + " x\ny\n", 1, 1},
                      Case{"Bytes", RandomBytes(300 << 10), 4, 3}),
    [](const auto& param) { return param.param.name; });

TEST_F(LocalModeTest, GroupingsExampleReports) {
  const CommandResult r = Run("examples/groupings/groupings", {"--heron-containers=2"}, {"3000"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE((r.out + r.err).find("partial"), std::string::npos) << r.out << r.err;
}

TEST_F(LocalModeTest, WhatCannotStartIsSaid) {
  CommandResult r = Run(
      kProbe, {"--heron-parallelism=wrk=2", "--heron-config=topology.contaners=2"}, {"endless"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find("did you mean 'work'"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("topology.containers"), std::string::npos) << r.err;
  r = Run(kProbe, {"--heron-containers=none"}, {"endless"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find("--heron-containers: 'none'"), std::string::npos) << r.err;
}

TEST_F(LocalModeTest, UnrecoverableFailsIt) {
  const CommandResult r = Run(kProbe, {}, {"unrecoverable"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find("FAILED: "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("table users does not exist"), std::string::npos) << r.err;
}

// Also when another task stands in user code for ever.
TEST_F(LocalModeTest, FailureDoesNotWaitForStuckUserCode) {
  const CommandResult r = Run(kProbe, {"--heron-parallelism=work=2"}, {"stuck-or-unrecoverable"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.err.find("user code that does not return: work[1]"), std::string::npos) << r.err;
}

TEST_F(LocalModeTest, TaskThatThrowsStartsAgainInPlaceAndItsLossIsSaid) {
  const CommandResult r = Run(kProbe, {"--heron-containers=2"},
                              {"bounded", "tuples=2000", "throw_once=500", "out=" + File("out")});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE(r.err.find("Execute: std::runtime_error: only once"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("FINISHED, incomplete:"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("work"), std::string::npos) << r.err;
  EXPECT_NE(ReadFile(File("out")), "");
}

TEST_F(LocalModeTest, CtrlCEndsIt) {
  for (const auto& [signo, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    Started run(*this, Line(kProbe, {"--heron-containers=2"}, {"endless"}));
    ASSERT_TRUE(run.Says("RUNNING")) << run.log();
    run.Signal(signo);
    EXPECT_EQ(run.Await(kEndsWithin), code) << run.log();
  }
}

TEST_F(LocalModeTest, CtrlCEndsStuckUserCodeAndNamesIt) {
  Started run(*this, Line(kProbe, {}, {"stuck-execute"}));
  ASSERT_TRUE(run.Says("stuck now")) << run.log();
  run.Signal(SIGINT);
  EXPECT_EQ(run.Await(kEndsWithin), 130) << run.log();
  EXPECT_NE(run.log().find("user code that does not return: work[0]"), std::string::npos)
      << run.log();
}

// As in a debugger: everything stands for longer than any heartbeat would allow.
TEST_F(LocalModeTest, StoppedProcessLosesNothing) {
  Started run(*this,
              Line(kProbe,
                   {"--heron-containers=3", "--heron-config=topology.heartbeat.interval.ms=50",
                    "--heron-config=topology.heartbeat.timeout.ms=200",
                    "--heron-config=topology.master.lease.ms=200"},
                   {"bounded", "tuples=20000", "pause_us=50", "out=" + File("out"),
                    "marks=" + File("marks")}));
  ASSERT_TRUE(run.Says("RUNNING")) << run.log();
  run.Signal(SIGSTOP);
  // The stop is the point, not a wait for something.
  usleep(3'000'000);
  EXPECT_EQ(ReadFile(File("out")), "");
  run.Signal(SIGCONT);
  EXPECT_EQ(run.Await(seconds(40)), 0) << run.log();
  EXPECT_EQ(ReadFile(File("out")), "20000 199990000\n") << run.log();
  EXPECT_EQ(run.log().find("incomplete"), std::string::npos) << run.log();
  EXPECT_EQ(run.log().find(" lost the "), std::string::npos) << run.log();
}

}  // namespace
}  // namespace heron::testing
