#include "heron/stream_manager/parse_options.h"

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <vector>

namespace heron::stream_manager {
namespace {

const std::vector<std::string> kGood = {
    "--topology=words", "--topology_id=words-1",      "--role=me",  "--env=test",
    "--state=memory:",  "--secret_file=/tmp/secret",  "--container=2",
    "--epoch=3.1",      "--executor=127.0.0.1:4711"};

Result<Options> Parse(std::vector<std::string> arguments) {
  gflags::FlagSaver saver;
  arguments.insert(arguments.begin(), "heron-stream-manager");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  char** data = argv.data();
  return ParseOptions(&argc, &data);
}

std::vector<std::string> With(std::string flag) {
  std::vector<std::string> arguments = kGood;
  const std::string name = flag.substr(0, flag.find('=') + 1);
  for (std::string& argument : arguments) {
    if (argument.starts_with(name)) argument = flag;
  }
  return arguments;
}

TEST(OptionsTest, ReadsWhatAnExecutorPasses) {
  const auto options = Parse(kGood);
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->topology.ToString(), "me/test/words");
  EXPECT_EQ(options->topology_id, "words-1");
  EXPECT_EQ(options->container, 2);
  EXPECT_EQ(options->epoch, (Epoch{3, 1}));
  EXPECT_EQ(options->executor_host, "127.0.0.1");
  EXPECT_EQ(options->executor_port, 4711);
}

TEST(OptionsTest, NamesTheFlagThatIsWrong) {
  for (const char* flag : {"--topology=", "--state=", "--container=0", "--epoch=3", "--epoch=x.1",
                           "--epoch=0.1", "--epoch=1.-1", "--executor=nowhere"}) {
    const auto options = Parse(With(flag));
    ASSERT_FALSE(options.ok()) << flag;
    const std::string name = std::string(flag).substr(0, std::string(flag).find('='));
    EXPECT_NE(options.status().message().find(name), std::string::npos)
        << options.status().message();
  }
}

}  // namespace
}  // namespace heron::stream_manager
