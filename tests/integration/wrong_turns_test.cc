// The mistakes that newcomers make: each gets an answer that names the thing and says what to do.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "tests/testing/real_cluster.h"

namespace heron::testing {
namespace {

struct WrongTurn {
  std::string name;
  std::vector<std::string> words;  // PROGRAM stands for the program
  int exit_code = 1;
  std::vector<std::string> says;   // the thing, then the remedy
};

void PrintTo(const WrongTurn& turn, std::ostream* out) { *out << turn.name; }

WrongTurn OfProgram(const std::string& name, const std::string& mistake,
                    std::vector<std::string> says) {
  return {name, {"submit", "local", "PROGRAM", "t", "--wait=finished", "--timeout", "30s", "--", mistake}, 1,
          std::move(says)};
}

class WrongTurnsTest : public ::testing::TestWithParam<WrongTurn> {};

TEST_P(WrongTurnsTest, NamesTheThingAndTheRemedy) {
  RealCluster cluster;
  std::vector<std::string> words = GetParam().words;
  for (std::string& word : words) {
    if (word == "PROGRAM") word = cluster.Program("tests/integration/wrong_turns");
    if (word == "FOLDER") word = cluster.folder();
    if (word == "NOTES") word = cluster.WriteFile("notes.txt", "no program\n");
  }
  const CommandResult r = cluster.Heron(words);
  EXPECT_EQ(r.exit_code, GetParam().exit_code) << r.out << r.err;
  for (const std::string& text : GetParam().says) {
    EXPECT_NE(r.err.find(text), std::string::npos) << "wanted: " << text << "\ngot: " << r.err;
  }
  EXPECT_LT(r.err.size(), 4000u) << "nobody reads that much: " << r.err;
  cluster.Heron({"kill", "t"});
  EXPECT_TRUE(cluster.Processes().empty());
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, WrongTurnsTest,
    ::testing::Values(
        WrongTurn{"NoCommand", {}, 2, {"no command", "submit"}},
        WrongTurn{"CommandMistyped", {"sumbit", "PROGRAM", "t"}, 2, {"'sumbit'", "did you mean 'submit'"}},
        WrongTurn{"SubmitWithoutName", {"submit", "PROGRAM"}, 2, {"a program and a name", "PROGRAM NAME"}},
        WrongTurn{"KillWithoutName", {"kill"}, 2, {"kill needs a name", "heron kill"}},
        WrongTurn{"ProgramMistyped", {"submit", "local", "./wordcuont", "t"}, 1,
                  {"./wordcuont does not exist", "name the file that your build makes"}},
        WrongTurn{"ProgramIsAFolder", {"submit", "local", "FOLDER", "t"}, 1, {"is a folder", "name the program"}},
        WrongTurn{"ProgramIsNoProgram", {"submit", "local", "NOTES", "t"}, 1,
                  {"notes.txt is not executable", "chmod +x"}},
        WrongTurn{"ProgramIsNoTopology", {"submit", "local", "/bin/true", "t"}, 1,
                  {"/bin/true", "heron::Main"}},
        WrongTurn{"NameWithABlank", {"submit", "local", "PROGRAM", "my count"}, 2, {"'my count'", "must match"}},
        WrongTurn{"ArgumentsWithoutDashes", {"submit", "local", "PROGRAM", "t", "in.txt"}, 2,
                  {"'in.txt'", "after --"}},
        WrongTurn{"ContainersZero", {"submit", "PROGRAM", "t", "--containers", "0"}, 2,
                  {"--containers '0'", "from 1 to 10000"}},
        WrongTurn{"ParallelismOfNobody", {"submit", "PROGRAM", "t", "--parallelism", "wrok=2"}, 1,
                  {"wrok", "did you mean 'work'"}},
        WrongTurn{"ParallelismWithoutNumber", {"submit", "PROGRAM", "t", "--parallelism", "work"}, 2,
                  {"--parallelism 'work'", "NAME=VALUE"}},
        WrongTurn{"SettingMistyped", {"submit", "PROGRAM", "t", "--config", "topology.contaners=2"}, 1,
                  {"topology.contaners", "did you mean \"topology.containers\""}},
        WrongTurn{"SettingOutOfBounds", {"submit", "PROGRAM", "t", "--config", "topology.queue.high.bytes=1"}, 1,
                  {"topology.queue.high.bytes", "from 65536"}},
        WrongTurn{"ClusterMistyped", {"submit", "locla", "PROGRAM", "t"}, 1, {"locla", "local"}},
        WrongTurn{"WaitForWhat", {"submit", "PROGRAM", "t", "--wait=done"}, 2, {"done", "--wait=finished"}},
        WrongTurn{"TimeWithoutUnit", {"submit", "PROGRAM", "t", "--wait", "--timeout", "5"}, 2,
                  {"'5' has no unit", "5s"}},
        WrongTurn{"KillOfNobody", {"kill", "t2"}, 1, {"no topology 't2'", "heron topologies"}},
        WrongTurn{"OutputMistyped", {"topologies", "--output", "xml"}, 2, {"xml", "json"}}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Program, WrongTurnsTest,
    ::testing::Values(
        OfProgram("ArgumentMissing", "argument-missing", {"argument", "2"}),
        OfProgram("BoltReadsNothing", "reads-nothing", {"work", "has no input", "Shuffle"}),
        OfProgram("UnknownComponent", "unknown-component", {"'nubmers'", "did you mean 'numbers'"}),
        OfProgram("SameNameTwice", "same-name-twice", {"'work'", "another name"}),
        OfProgram("TasksOfUnknown", "tasks-of-unknown", {"wrok", "work"}),
        OfProgram("UnknownSetting", "unknown-setting", {"'work'", "topology.queue.hihg.bytes", "did you mean \"topology.queue.high.bytes\""}),
        OfProgram("UnknownStream", "unknown-stream", {"errors", "numbers", "default"}),
        OfProgram("UnknownField", "unknown-field", {"'m'", "numbers", "the fields are 'n'"}),
        OfProgram("ReadsOneThatEmitsNothing", "reads-one-that-emits-nothing", {"after", "'work' does not declare", "it declares no stream"}),
        OfProgram("ReservedName", "reserved-name", {"__work", "reserved"}),
        OfProgram("NoTask", "no-task", {"work", "parallelism", "1 to 10000"}),
        OfProgram("OutputOfWrongType", "output-of-wrong-type", {"numbers", "int64", "string"}),
        OfProgram("OutputOfWrongName", "output-of-wrong-name", {"numbers", "number", "n"}),
        OfProgram("OutputOfUnknownStream", "output-of-unknown-stream", {"numbers", "errors", "default"}),
        OfProgram("ConfigMissing", "config-missing", {"my.limit", "--config"}),
        OfProgram("ConfigOfWrongType", "config-of-wrong-type", {"my.word", "many", "int64"}),
        OfProgram("ReadOfWrongType", "read-of-wrong-type", {"work", "int64", "string"}),
        OfProgram("ReadOfWrongIndex", "read-of-wrong-index", {"work", "field 1", "1 fields"}),
        OfProgram("ReadOfWrongName", "read-of-wrong-name", {"work", "number", "n"})),
    [](const auto& param) { return param.param.name; });

TEST(WrongTurnsAtRunTimeTest, EmitsOnAnOutputThatWasNeverMadeAreCountedAndExplained) {
  RealCluster cluster;
  const CommandResult r =
      cluster.Heron({"submit", "local", cluster.Program("tests/integration/wrong_turns"), "t", "--wait=finished", "--",
                     "output-never-made"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE((r.out + r.err).find("incomplete"), std::string::npos) << r.out << r.err;
  EXPECT_NE((r.out + r.err).find("numbers"), std::string::npos) << r.out << r.err;
}

}  // namespace
}  // namespace heron::testing
