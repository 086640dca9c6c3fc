#include "tools/cli/command_line.h"

#include <gtest/gtest.h>

namespace tools::cli {
namespace {

using heron::Result;

Result<CommandLine> Parse(const std::vector<std::string>& words) {
  Result<CommandLine> line = ParseCommandLine(words);
  if (line.ok() && line->help.empty()) {
    const heron::Status status = AssignPositionals("prod", &*line);
    if (!status.ok()) return status;
  }
  return line;
}

std::string Refused(const std::vector<std::string>& words) {
  Result<CommandLine> line = Parse(words);
  return line.ok() ? "accepted" : line.status().message();
}

TEST(CommandLineTest, SubmitWithEverything) {
  auto line = Parse({"submit",
                     "local/ads/prod",
                     "./p",
                     "n",
                     "--wait=finished",
                     "--timeout",
                     "2m",
                     "--containers",
                     "3",
                     "--parallelism",
                     "a=2",
                     "--parallelism",
                     "b=4",
                     "--parallelism-all",
                     "5",
                     "--config",
                     "x.y=z",
                     "--config-property",
                     "k=v=w",
                     "--deploy-deactivated",
                     "--dry-run",
                     "--output",
                     "json",
                     "--",
                     "--wait",
                     "--",
                     ""});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(line->command, "submit");
  EXPECT_EQ(line->place, "local/ads/prod");
  EXPECT_EQ(line->program, "./p");
  EXPECT_EQ(line->name, "n");
  EXPECT_EQ(line->wait, WaitOptions::For::kFinished);
  EXPECT_EQ(line->timeout, heron::Duration(std::chrono::minutes(2)));
  EXPECT_EQ(line->overrides.containers, 3);
  EXPECT_EQ(line->overrides.parallelism_all, 5);
  EXPECT_EQ(line->overrides.parallelism.size(), 2u);
  EXPECT_EQ(line->config, (std::vector<std::string>{"x.y=z", "k=v=w"}));
  EXPECT_TRUE(line->deploy_deactivated && line->dry_run && line->json);
  EXPECT_EQ(line->arguments, (std::vector<std::string>{"--wait", "--", ""}));
}

TEST(CommandLineTest, BareWaitSwallowsNoWord) {
  auto line = Parse({"submit", "--wait", "./p", "n"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(line->wait, WaitOptions::For::kRunning);
  EXPECT_EQ(line->program, "./p");
}

TEST(CommandLineTest, OptionsMayStandBetween) {
  auto line = Parse({"submit", "./p", "--config", "a=b", "n"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(line->name, "n");
}

TEST(CommandLineTest, PlacesAreOptional) {
  auto line = Parse({"kill", "n"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->name, "n");
  EXPECT_EQ(line->place, "");
  line = Parse({"kill", "local", "n"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->place, "local");
  EXPECT_EQ(line->name, "n");
}

TEST(CommandLineTest, LogsTellsPlacesFromTargets) {
  auto line = Parse({"logs", "n", "split[0]"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->name + " " + line->log_target, "n split[0]");
  line = Parse({"logs", "prod", "n"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->place + " " + line->name + " " + line->log_target, "prod n ");
  line = Parse({"logs", "x/y", "n"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->place, "x/y");
  line = Parse({"logs", "local", "n", "sm:1", "--tail", "5", "-f"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->place + " " + line->name + " " + line->log_target, "local n sm:1");
  EXPECT_EQ(line->tail, 5);
  EXPECT_TRUE(line->follow);
  line = Parse({"logs", "n", "--previous", "--since", "5m"});
  ASSERT_TRUE(line.ok());
  EXPECT_FALSE(line->tail.has_value());
  EXPECT_TRUE(line->previous);
  EXPECT_EQ(line->since, heron::Duration(std::chrono::minutes(5)));
  EXPECT_NE(Refused({"logs", "n", "--since", "yesterday"}).find("--since"), std::string::npos);
}

TEST(CommandLineTest, Topologies) {
  EXPECT_TRUE(Parse({"topologies"}).ok());
  EXPECT_EQ(Parse({"topologies", "n"})->name, "n");
  EXPECT_EQ(Parse({"topologies", "local"})->place, "local");
  EXPECT_EQ(Parse({"topologies", "local/ads", "n"})->name, "n");
}

TEST(CommandLineTest, ConfigShowTellsClustersFromKeys) {
  auto line = Parse({"config", "show"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(line->place + "|" + line->config_key, "|");
  line = Parse({"config", "show", "prod", "--output", "json"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(line->place + "|" + line->config_key, "prod|");
  EXPECT_TRUE(line->json);
  EXPECT_EQ(Parse({"config", "show", "heron.root"})->config_key, "heron.root");
  EXPECT_EQ(Parse({"config", "show", "prod", "x"})->config_key, "x");
  EXPECT_NE(Refused({"config"}), "accepted");
  EXPECT_NE(Refused({"config", "set"}).find("heron config show"), std::string::npos);
  EXPECT_NE(Refused({"config", "show", "a/b"}).find("'a/b'"), std::string::npos);
}

TEST(CommandLineTest, WaitForFinishedUnlessSaidOtherwise) {
  EXPECT_EQ(Parse({"wait", "n"})->wait, WaitOptions::For::kFinished);
  EXPECT_EQ(Parse({"wait", "n", "--for", "running"})->wait, WaitOptions::For::kRunning);
  EXPECT_FALSE(Parse({"wait", "n"})->timeout.has_value());
}

TEST(CommandLineTest, MistakesAreNamed) {
  EXPECT_NE(Refused({"sumbit"}).find("no command 'sumbit'; did you mean 'submit'?"),
            std::string::npos);
  EXPECT_NE(Refused({}).find("no command given; known: submit, run, wait, kill"), std::string::npos);
  EXPECT_NE(Refused({"kill"}), "accepted");
  EXPECT_NE(Refused({"kill", "a", "b", "c"}), "accepted");
  EXPECT_NE(Refused({"kill", "a", "--nonsense"}).find("--nonsense"), std::string::npos);
  EXPECT_NE(Refused({"submit", "p"}).find("PROGRAM NAME"), std::string::npos);
  EXPECT_NE(Refused({"submit", "p", "n", "--wait=tomorrow"}).find("--wait=finished"),
            std::string::npos);
  EXPECT_NE(Refused({"submit", "p", "n", "--containers", "0"}).find("--containers '0'"),
            std::string::npos);
  EXPECT_NE(Refused({"submit", "p", "n", "--parallelism", "split"}).find("NAME=VALUE"),
            std::string::npos);
  EXPECT_NE(Refused({"submit", "p", "n", "--parallelism", "split=many"}).find("split 'many'"),
            std::string::npos);
  EXPECT_NE(Refused({"submit", "p", "n", "--timeout", "soon"}).find("--timeout"),
            std::string::npos);
  EXPECT_NE(Refused({"submit", "p", "n", "--config", "x"}).find("--config"), std::string::npos);
  EXPECT_NE(Refused({"kill", "n", "--output", "xml"}).find("xml"), std::string::npos);
  EXPECT_NE(Refused({"kill", "n", "--", "x"}).find("only submit"), std::string::npos);
}

TEST(CommandLineTest, BytesThatAreNoTextAreRefusedByName) {
  EXPECT_EQ(Refused({"submit", "p", "n", "--config", "my.key=a\xFF"}),
            "--config 'my.key': its value is no UTF-8 text; write it in UTF-8");
  EXPECT_NE(Refused({"submit", "p", "n", "--config", "k\xFF=a"}).find("'k\\xff': its name"),
            std::string::npos);
  EXPECT_NE(Refused({"submit", "p", "n", "--parallelism", "c\xFF=2"}).find("'c\\xff=2'"),
            std::string::npos);
  EXPECT_EQ(Refused({"submit", "p", "n", "--config", "my.key=\xC3\xA4"}), "accepted");
  EXPECT_EQ(Refused({"submit", "p\xFF", "n"}), "accepted") << "file names are bytes";
}

TEST(CommandLineTest, WordsTooManyAreExplained) {
  EXPECT_EQ(Refused({"submit", "p", "n", "--wait", "finished"}),
            "--wait takes its value with =: --wait=finished");
  const std::string fourth = Refused({"submit", "local", "p", "n", "in.txt"});
  EXPECT_NE(fourth.find("what is 'in.txt'?"), std::string::npos) << fourth;
  EXPECT_NE(fourth.find("PROGRAM NAME -- ARGUMENTS"), std::string::npos) << fourth;
}

TEST(CommandLineTest, RestartTakesOnePart) {
  EXPECT_EQ(*Parse({"restart", "t", "--container", "0"})->container, 0);
  EXPECT_EQ(*Parse({"restart", "t", "--task", "7"})->task, 7);
  EXPECT_EQ(Parse({"restart", "t", "--component", "split"})->component, "split");
  EXPECT_NE(Refused({"restart", "t", "--task", "0"}), "");
  EXPECT_NE(Refused({"restart", "t", "--task", "7", "--container", "1"}), "");
}

TEST(CommandLineTest, ClusterTakesAnActionAndACluster) {
  auto line = Parse({"cluster", "stop", "two"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(line->action, "stop");
  EXPECT_EQ(line->place, "two");
  EXPECT_NE(Refused({"cluster", "strat"}).find("start"), std::string::npos);
  EXPECT_NE(Refused({"cluster", "start", "local/ads"}).find("whole cluster"), std::string::npos);
}

TEST(CommandLineTest, HelpAloneListsTheCommands) {
  EXPECT_EQ(Parse({"help"})->help, Parse({"--help"})->help);
  const std::string unknown = Refused({"xyzzy"});
  EXPECT_NE(unknown.find("help"), std::string::npos) << unknown;
  EXPECT_EQ(unknown.find("more"), std::string::npos) << unknown;
}

TEST(CommandLineTest, NewAndCompletion) {
  auto line = Parse({"new", "my-sum", "--name", "sum"});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->positionals, std::vector<std::string>{"my-sum"});
  EXPECT_EQ(line->name, "sum");
  EXPECT_NE(Refused({"new"}).find("DIR"), std::string::npos);
  EXPECT_EQ(Parse({"completion", "zsh"})->shell, "zsh");
  EXPECT_NE(Refused({"completion", "fish"}).find("bash"), std::string::npos);
  EXPECT_NE(Refused({"completion"}).find("which shell"), std::string::npos);
  EXPECT_TRUE(Parse({"completion", "--names"})->topology_names);
}

TEST(CommandLineTest, RunTakesAProgramItsChangesAndArguments) {
  auto line = Parse({"run", "./p", "--parallelism", "split=4", "--containers=2", "--", "in", "out"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(line->program, "./p");
  EXPECT_EQ(line->overrides.containers, 2);
  EXPECT_EQ(line->overrides.parallelism.size(), 1u);
  EXPECT_EQ(line->arguments, (std::vector<std::string>{"in", "out"}));
  EXPECT_NE(Refused({"run"}).find("heron run PROGRAM"), std::string::npos);
  EXPECT_NE(Refused({"run", "./p", "in.txt"}).find("-- ARGUMENTS"), std::string::npos);
}

TEST(CommandLineTest, EveryCommandHasHelpWithAnExample) {
  for (const char* command :
       {"submit", "run", "wait", "kill", "activate", "deactivate", "restart", "topologies", "logs",
        "cluster", "config", "new", "doctor", "version", "help"}) {
    auto line = Parse({command, "--help"});
    ASSERT_TRUE(line.ok()) << command;
    EXPECT_NE(line->help.find("Example:\n  heron " + std::string(command)), std::string::npos)
        << line->help;
    EXPECT_EQ(Parse({"help", command})->help, line->help) << command;
  }
  EXPECT_NE(Parse({"--help"})->help.find("submit"), std::string::npos);
  EXPECT_NE(Parse({"help"})->help.find("submit"), std::string::npos);
  EXPECT_NE(Parse({"submit", "--help"})->help.find("PROGRAM NAME [OPTIONS] [-- ARGUMENTS]"),
            std::string::npos);
  EXPECT_NE(Refused({"help", "sumbit"}).find("submit"), std::string::npos);
}

}  // namespace
}  // namespace tools::cli
