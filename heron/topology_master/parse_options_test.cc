#include "heron/topology_master/parse_options.h"

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heron::topology_master {
namespace {

const std::vector<std::string> kAll = {
    "--topology=words", "--topology_id=words-1",          "--role=me",
    "--env=test",       "--state=memory:",                "--container=0",
    "--secret_file=s",  "--executor=127.0.0.1:4711"};

Result<Options> Parse(std::vector<std::string> arguments) {
  gflags::FlagSaver saver;
  arguments.insert(arguments.begin(), "heron-topology-master");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  char** argv = pointers.data();
  return ParseOptions(&argc, &argv);
}

TEST(Options, ReadsWhatTheExecutorPasses) {
  auto options = Parse(kAll);
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->key.ToString(), "me/test/words");
  EXPECT_EQ(options->topology_id, "words-1");
  EXPECT_EQ(options->executor_host, "127.0.0.1");
  EXPECT_EQ(options->executor_port, 4711);
  EXPECT_EQ(options->bind_host, "127.0.0.1");
}

TEST(Options, NamesTheFlagThatIsMissingOrWrong) {
  for (size_t i = 0; i < kAll.size(); ++i) {
    const std::string flag = kAll[i].substr(0, kAll[i].find('='));
    if (flag == "--container") continue;
    std::vector<std::string> arguments = kAll;
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
    auto options = Parse(arguments);
    ASSERT_FALSE(options.ok()) << flag;
    EXPECT_EQ(options.status().message(), flag + " is missing");
  }
  std::vector<std::string> arguments = kAll;
  arguments.back() = "--executor=nowhere";
  auto options = Parse(arguments);
  ASSERT_FALSE(options.ok());
  EXPECT_NE(options.status().message().find("--executor"), std::string::npos);
  arguments = kAll;
  arguments.push_back("surplus");
  EXPECT_FALSE(Parse(arguments).ok());
}

}  // namespace
}  // namespace heron::topology_master
