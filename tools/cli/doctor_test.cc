#include "tools/cli/doctor.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heron/base/process.h"
#include "tools/cli/context.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;

class DoctorTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "doctorXXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    fs::create_directory(folder_ + "/root");
    chmod((folder_ + "/root").c_str(), 0700);
    inputs_.root = folder_ + "/root";
    setenv("HERON_ROOT", inputs_.root.c_str(), 1);
    inputs_.self = folder_ + "/bin/heron";
    inputs_.engine_folder = folder_ + "/engine";
    cli_.out = &out_;
    fs::create_directory(folder_ + "/engine");
    for (const char* name :
         {"heron-supervisor", "heron-executor", "heron-topology-master", "heron-stream-manager"}) {
      MakeProgram(name, std::string("echo ") + name + " version 0.1.0");
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  void MakeProgram(const std::string& name, const std::string& what) {
    const std::string path = folder_ + "/engine/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << what << "\n";
    chmod(path.c_str(), 0755);
  }
  Check Find(const std::string& name) {
    for (const Check& check : Examine(inputs_)) {
      if (check.name == name) return check;
    }
    ADD_FAILURE() << "no check " << name;
    return {};
  }
  void ExpectProblem(const std::string& name, const std::string& seen, const std::string& remedy) {
    const Check check = Find(name);
    EXPECT_EQ(check.verdict, Verdict::kProblem) << check.seen;
    EXPECT_NE(check.seen.find(seen), std::string::npos) << check.seen;
    EXPECT_NE(check.remedy.find(remedy), std::string::npos) << check.remedy;
  }

  std::string folder_;
  DoctorInputs inputs_;
  std::ostringstream out_;
  Cli cli_;
};

TEST_F(DoctorTest, AHealthyMachineHasNoProblem) {
  EXPECT_TRUE(DoctorCommand(cli_, inputs_)) << out_.str();
  EXPECT_NE(out_.str().find("no problem"), std::string::npos) << out_.str();
  inputs_.root = folder_ + "/not/yet";
  EXPECT_TRUE(DoctorCommand(cli_, inputs_)) << out_.str();
  EXPECT_FALSE(fs::exists(folder_ + "/not")) << "nothing was made";
}

TEST_F(DoctorTest, EachCheckSaysWhatItSawAndWarningsSayWhatHelps) {
  for (const Check& check : Examine(inputs_)) {
    EXPECT_FALSE(check.seen.empty()) << check.name;
    EXPECT_EQ(check.remedy.empty(), check.verdict == Verdict::kOk) << check.name << check.seen;
  }
}

TEST_F(DoctorTest, RootMustBeAFolder) {
  std::ofstream(folder_ + "/file") << "";
  inputs_.root = folder_ + "/file";
  ExpectProblem("HERON_ROOT", "/file is no folder", "set HERON_ROOT");
  inputs_.root = "/proc/nothing/here";
  ExpectProblem("HERON_ROOT", "/proc", "set HERON_ROOT");
}

TEST_F(DoctorTest, RootThatOthersMayWriteToIsAWarning) {
  chmod(inputs_.root.c_str(), 0777);
  const Check check = Find("HERON_ROOT");
  EXPECT_EQ(check.verdict, Verdict::kWarning);
  EXPECT_NE(check.remedy.find("chmod go-w"), std::string::npos) << check.remedy;
}

TEST_F(DoctorTest, EngineMustBeCompleteStartAndBeOfOneVersion) {
  MakeProgram("heron-executor", "echo heron-executor version 0.0.9");
  ExpectProblem("engine", "heron-executor has version 0.0.9 instead of 0.1.0", "install");
  MakeProgram("heron-executor", "echo cannot open shared object file: libglog.so.1 >&2; exit 127");
  ExpectProblem("engine", "libglog.so.1", "libraries");
  fs::remove(folder_ + "/engine/heron-executor");
  ExpectProblem("engine", "no heron-executor", "install");
}

TEST_F(DoctorTest, SettingsMustBeUnderstood) {
  std::ofstream(inputs_.root + "/config.yaml") << "topology.containres: 2\n";
  ExpectProblem("settings", "config.yaml:1", "correct the file");
}

TEST_F(DoctorTest, StateStoreMustAnswer) {
  std::ofstream(folder_ + "/file") << "";
  std::ofstream(inputs_.root + "/config.yaml") << "heron.state.url: file:" << folder_ << "/file\n";
  ExpectProblem("state store", folder_ + "/file", "heron config show heron.state.url");
}

TEST_F(DoctorTest, ProcessesOfNoTopologyOnRecordAreAProblem) {
  heron::SpawnOptions options;
  options.argv = {"/bin/sleep", "60"};
  options.environment = {{"HERON_ROOT", inputs_.root}, {"HERON_TOPOLOGY_ID", "gone-0123"}};
  auto left = heron::SpawnProcess(options);
  ASSERT_TRUE(left.ok()) << left.status().message();
  // A shell of the user's, with HERON_ROOT only.
  options.environment.erase("HERON_TOPOLOGY_ID");
  auto shell = heron::SpawnProcess(options);
  ASSERT_TRUE(shell.ok());
  ExpectProblem("left processes", "gone-0123", "kill -9 " + std::to_string(left->pid));
  const Check check = Find("left processes");
  EXPECT_EQ(check.remedy.find(std::to_string(shell->pid)), std::string::npos) << check.remedy;
  for (const auto& process : {*left, *shell}) {
    ASSERT_TRUE(heron::SignalProcess(process, SIGKILL).ok());
    while (!heron::ReapChild()) usleep(1000);
  }
  EXPECT_EQ(Find("left processes").verdict, Verdict::kOk);
}

TEST_F(DoctorTest, JsonHasEveryCheck) {
  cli_.json = true;
  fs::remove(folder_ + "/engine/heron-executor");
  EXPECT_FALSE(DoctorCommand(cli_, inputs_));
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["problems"], 1) << out_.str();
  EXPECT_TRUE(json["warnings"].is_number());
  ASSERT_GE(json["checks"].size(), 10u);
  for (const auto& check : json["checks"]) {
    for (const char* field : {"name", "verdict", "seen", "remedy"})
      EXPECT_TRUE(check[field].is_string()) << field;
  }
}

}  // namespace
}  // namespace tools::cli
