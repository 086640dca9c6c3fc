#include "tools/cli/completion.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "heron/state/paths.h"
#include "tools/cli/fake_cluster.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;

std::string Help(const std::vector<std::string>& words) {
  auto line = ParseCommandLine(words);
  return line.ok() ? line->help : line.status().message();
}

// The commands that `heron help` lists.
std::vector<std::string> CommandsInHelp() {
  std::istringstream help(Help({"help"}));
  std::vector<std::string> commands;
  bool in_list = false;
  const std::regex entry("^  ([a-z-]+) .*");
  std::smatch found;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("Subcommands")) in_list = true;
    if (in_list && std::regex_match(line, found, entry)) commands.push_back(found[1]);
  }
  return commands;
}

std::vector<std::string> OptionsInHelp(const std::string& command) {
  const std::string help = Help({command, "--help"});
  std::vector<std::string> options;
  const std::regex entry("\n  (-[^ ]+)");
  for (std::sregex_iterator it(help.begin(), help.end(), entry), end; it != end; ++it) {
    std::istringstream names((*it)[1]);
    for (std::string name; std::getline(names, name, ',');) options.push_back(name);
  }
  return options;
}

class BashTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/bashXXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    std::ofstream(folder_ + "/script") << BashCompletion(CommandSpecs());
    // The command as the script calls it for names.
    std::ofstream(folder_ + "/heron")
        << "#!/bin/sh\n"
           "[ \"$*\" = 'completion --names' ] && echo count counter other\n";
    chmod((folder_ + "/heron").c_str(), 0755);
    std::ofstream(folder_ + "/a file") << "";
  }
  void TearDown() override { fs::remove_all(folder_); }

  // What bash proposes for the last of the words, sorted.
  std::vector<std::string> Complete(const std::vector<std::string>& words) {
    std::ofstream run(folder_ + "/run");
    run << "cd " << folder_ << "\nsource ./script\nCOMP_WORDS=(heron";
    for (const std::string& word : words) run << " '" << word << "'";
    run << ")\nCOMP_CWORD=" << words.size()
        << "\n_heron ./heron\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    run.close();
    FILE* pipe = popen(("bash --norc " + folder_ + "/run 2>&1").c_str(), "r");
    std::string printed;
    for (int c; pipe != nullptr && (c = fgetc(pipe)) != EOF;) printed += static_cast<char>(c);
    EXPECT_EQ(pclose(pipe), 0) << printed;
    std::istringstream lines(printed);
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) found.push_back(line);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::string folder_;
};

using Words = std::vector<std::string>;

TEST_F(BashTest, EveryCommandAndOptionOfTheHelpIsProposed) {
  Words commands = CommandsInHelp();
  ASSERT_GT(commands.size(), 10u);
  for (const std::string& command : commands) {
    const Words options = OptionsInHelp(command);
    ASSERT_FALSE(options.empty()) << command;
    const Words proposed = Complete({command, "-"});
    for (const std::string& option : options) {
      EXPECT_EQ(std::count(proposed.begin(), proposed.end(), option), 1)
          << command << " " << option;
    }
  }
  commands.push_back("--help");
  std::sort(commands.begin(), commands.end());
  EXPECT_EQ(Complete({""}), commands);
}

TEST_F(BashTest, ProposesWhatFits) {
  EXPECT_EQ(Complete({"top"}), Words{"topologies"});
  EXPECT_EQ(Complete({"kill", ""}), (Words{"count", "counter", "other"}));
  EXPECT_EQ(Complete({"kill", "cou"}), (Words{"count", "counter"}));
  EXPECT_EQ(Complete({"logs", "--follow", "o"}), Words{"other"});
  EXPECT_EQ(Complete({"topologies", "--output", ""}), (Words{"json", "text"}));
  EXPECT_EQ(Complete({"topologies", "--output", "=", "j"}), Words{"json"});
  EXPECT_EQ(Complete({"submit", "--wait", "="}), (Words{"finished", "running"}));
  EXPECT_EQ(Complete({"submit", "--wait", "=", "f"}), Words{"finished"});
  EXPECT_EQ(Complete({"submit", "--wait", "a"}), Words{"a file"}) << "--wait takes no next word";
  EXPECT_EQ(Complete({"wait", "count", "--timeout", ""}), Words{}) << "any time";
  EXPECT_EQ(Complete({"submit", "./p", "n", "--", "a"}), Words{"a file"});
  EXPECT_EQ(Complete({"help", "kil"}), Words{"kill"});
  EXPECT_EQ(Complete({"completion", ""}), (Words{"bash", "zsh"}));
  EXPECT_EQ(Complete({"new", "a"}), Words{}) << "folders only";
  EXPECT_EQ(Complete({"nonsense", ""}), Words{});
}

TEST(CompletionTest, ZshKnowsEveryCommandAndOption) {
  const std::string script = ZshCompletion(CommandSpecs());
  for (const std::string& command : CommandsInHelp()) {
    const size_t begin = script.find("\n    " + command + ")\n");
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string own = script.substr(begin, script.find(";;", begin) - begin);
    for (const std::string& option : OptionsInHelp(command)) {
      EXPECT_TRUE(std::regex_search(own, std::regex("'\\*" + option + "=?-?\\[")))
          << command << option;
    }
  }
}

TEST(CompletionTest, NamesAreThoseOfThePlace) {
  FakeCluster cluster;
  for (const char* path : {"ada/default/count", "ada/prod/no", "bob/default/no"}) {
    ASSERT_TRUE(cluster.store->Create("/desired/" + std::string(path), "").ok());
  }
  ASSERT_TRUE(TopologyNamesCommand(cluster.cli, {"local", "ada", "default", true, true}).ok());
  EXPECT_EQ(cluster.out.str(), "count\n");
}

}  // namespace
}  // namespace tools::cli
