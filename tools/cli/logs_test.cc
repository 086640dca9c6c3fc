#include "tools/cli/logs.h"

#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "heron/base/log_rotation.h"
#include "tools/cli/fake_cluster.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;
using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;

class LogsTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.AddTopology("t", DesiredState::ACTIVE, ExecutionState::RUNNING);
    folder_ = cluster_.scheduler.log_root + "/t-1";
    for (int container : {0, 1, 2}) {
      fs::create_directories(folder_ + "/container-" + std::to_string(container));
      Append("container-" + std::to_string(container) + "/executor.log",
             "executor " + std::to_string(container) + "\n");
    }
    Append("supervisor.log", "supervising\n");
    Append("container-0/tm.log", "mastering\n");
    Append("container-1/sm.log", "managing\n");
    Append("container-1/lines-1.log", "one\ntwo\nthree\n");
    Append("container-2/lines-2.log", "four\n");
    Append("container-1/count-3.log", "counting\n");
  }
  void Append(const std::string& file, const std::string& text) {
    std::ofstream(folder_ + "/" + file, std::ios::app) << text;
  }
  Status Show(const LogsOptions& options) {
    cluster_.out.str("");
    return LogsCommand(cluster_.cli, cluster_.Key("t"), options);
  }
  std::string Text(const LogsOptions& options) {
    const Status status = Show(options);
    return status.ok() ? cluster_.out.str() : status.message();
  }
  FakeCluster cluster_;
  std::string folder_;
};

TEST_F(LogsTest, OneTarget) {
  EXPECT_EQ(Text({"count"}), "counting\n");
  EXPECT_EQ(Text({"lines[1]"}), "four\n");
  EXPECT_EQ(Text({"1"}), "one\ntwo\nthree\n");
  EXPECT_EQ(Text({"tm"}), "mastering\n");
  EXPECT_EQ(Text({"sm:1"}), "managing\n");
  EXPECT_EQ(Text({"executor:0"}), "executor 0\n");
  EXPECT_EQ(Text({"supervisor"}), "supervising\n");
}

TEST_F(LogsTest, SeveralFilesCarryTheirNames) {
  EXPECT_EQ(Text({"lines"}), "[lines-1] one\n[lines-1] two\n[lines-1] three\n[lines-2] four\n");
  EXPECT_EQ(Text({"", 1}),
            "[supervisor] supervising\n[executor:0] executor 0\n[tm] mastering\n"
            "[count-3] counting\n[executor:1] executor 1\n[lines-1] three\n[sm:1] managing\n"
            "[executor:2] executor 2\n[lines-2] four\n");
}

TEST_F(LogsTest, Tail) {
  EXPECT_EQ(Text({"1", 2}), "two\nthree\n");
  EXPECT_EQ(Text({"1", 3}), "one\ntwo\nthree\n");
  EXPECT_EQ(Text({"1", 0}), "");
  Append("container-1/lines-1.log", "half a line");
  EXPECT_EQ(Text({"1", 2}), "three\nhalf a line\n");
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += "line " + std::to_string(i) + "\n";
  Append("container-1/count-3.log", many);
  EXPECT_EQ(Text({"count", 2}), "line 49998\nline 49999\n");
}

TEST_F(LogsTest, WrongTargetsNameWhatThereIs) {
  EXPECT_NE(Text({"cuont"}).find("no component 'cuont'"), std::string::npos);
  EXPECT_NE(Text({"coun"}).find("did you mean 'count'"), std::string::npos);
  EXPECT_NE(
      Text({"cuont"}).find("the components lines, count, their tasks (lines[0], or a number), "
                           "tm, sm:1 to sm:2, executor:0 to executor:2 and supervisor"),
      std::string::npos)
      << Text({"cuont"});
  EXPECT_NE(Text({"count[1]"}).find("there is no count[1]; the last task of count is count[0]"),
            std::string::npos);
  EXPECT_NE(Text({"count[x]"}).find("COMPONENT[INDEX]"), std::string::npos);
  EXPECT_NE(Text({"9"}).find("there is no task 9"), std::string::npos);
  EXPECT_NE(Text({"sm:0"}).find("sm:1 to sm:2"), std::string::npos);
  EXPECT_NE(Text({"executor:x"}).find("no executor"), std::string::npos);
}

TEST_F(LogsTest, MissingFileIsTold) {
  fs::remove(folder_ + "/container-1/count-3.log");
  EXPECT_NE(Text({"count"}).find("no log yet of count"), std::string::npos);
}

TEST_F(LogsTest, FollowShowsWholeNewLinesUntilInterrupted) {
  cluster_.on_sleep = [this](int n) {
    if (n == 1) Append("container-1/count-3.log", "more\nha");
    if (n == 2) Append("container-1/count-3.log", "lf\n");
    if (n == 4) cluster_.interrupted = true;
  };
  EXPECT_EQ(Text({"count", 100, true}), "counting\nmore\nhalf\n");
}

TEST_F(LogsTest, FollowSeesNewAndReplacedFiles) {
  cluster_.on_sleep = [this](int n) {
    if (n == 1) Append("container-2/sm.log", "late\n");
    if (n == 2) std::ofstream(folder_ + "/supervisor.log", std::ios::trunc) << "anew\n";
    if (n == 4) cluster_.interrupted = true;
  };
  EXPECT_EQ(Text({"", 0, true}), "[sm:2] late\n[supervisor] anew\n");
}

TEST_F(LogsTest, FollowEndsWithTheTopology) {
  cluster_.on_sleep = [this](int n) {
    if (n == 2) fs::remove_all(folder_);
  };
  EXPECT_TRUE(Show({"count", 100, true}).ok());
}

TEST_F(LogsTest, PreviousBeginsWithTheOlderFiles) {
  const std::string file = "container-1/count-3.log";
  ASSERT_TRUE(heron::RotateLog(folder_ + "/" + file, 5).ok());
  Append(file, "second\n");
  ASSERT_TRUE(heron::RotateLog(folder_ + "/" + file, 5).ok());
  Append(file, "third\n");
  EXPECT_EQ(Text({"count"}), "third\n");
  LogsOptions options{"count"};
  options.previous = true;
  EXPECT_EQ(Text(options), "counting\nsecond\nthird\n");
  options.tail = 2;
  EXPECT_EQ(Text(options), "second\nthird\n");
  EXPECT_EQ(Text({"", 0}), "") << "older files are no logs of their own";
}

TEST_F(LogsTest, FollowLosesAndRepeatsNothingInRotations) {
  const std::string file = "container-1/count-3.log";
  std::string expected = "counting\n";
  int next = 0;
  const auto add = [&](int lines) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += "line " + std::to_string(next++) + "\n";
    Append(file, text);
    expected += text;
  };
  cluster_.on_sleep = [&](int n) {
    if (n == 6) cluster_.interrupted = true;
    if (n >= 5) return;
    // Before and after a rotation, two of them, and without anything new; less and more than a
    // block of the file system.
    add(n == 3 ? 3000 : 3);
    ASSERT_TRUE(heron::RotateLog(folder_ + "/" + file, 4).ok());
    if (n == 2) return;
    add(n == 3 ? 5000 : 2);
    if (n != 4) return;
    ASSERT_TRUE(heron::RotateLog(folder_ + "/" + file, 4).ok());
  };
  EXPECT_EQ(Text({"count", 100, true}), expected);
}

TEST_F(LogsTest, SinceShowsFromTheFirstLineOfThatTimeOn) {
  const auto stamp = [&](int minutes_ago) {
    const std::time_t at =
        static_cast<std::time_t>(cluster_.clock.UnixMillis() / 1000 - 60 * minutes_ago);
    std::tm utc = {};
    gmtime_r(&at, &utc);
    char text[32];
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return std::string(text);
  };
  const std::string file = "container-1/count-3.log";
  Append(file, stamp(20) + " old\n  and its detail\n" + stamp(9) + " rotated\n");
  ASSERT_TRUE(heron::RotateLog(folder_ + "/" + file, 5).ok());
  Append(file, "  and its detail\n" + stamp(3) + " new\n");
  LogsOptions options{"count"};
  options.since = std::chrono::minutes(5);
  EXPECT_EQ(Text(options), stamp(3) + " new\n");
  options.since = std::chrono::minutes(10);
  EXPECT_EQ(Text(options), stamp(9) + " rotated\n  and its detail\n" + stamp(3) + " new\n");
  options.tail = 1;
  EXPECT_EQ(Text(options), stamp(3) + " new\n");
}

TEST_F(LogsTest, LevelLeavesOutWhatIsNotBadEnough) {
  const std::string file = "container-1/count-3.log";
  Append(file,
         "2026-11-30 22:16:54.123 W heron: slow\n  and why\n"
         "2026-11-30 22:16:54.124 I heron: fine\n  all of it\n"
         "[ERROR] broken\nplain words\n");
  LogsOptions options{"count"};
  options.level = LogLevel::kWarning;
  EXPECT_EQ(Text(options), "2026-11-30 22:16:54.123 W heron: slow\n  and why\n[ERROR] broken\n");
  options.tail = 1;
  EXPECT_EQ(Text(options), "[ERROR] broken\n") << "the tail is of what is shown";
  options.level = LogLevel::kError;
  options.tail = 100;
  EXPECT_EQ(Text(options), "[ERROR] broken\n");
  options.level = LogLevel::kInfo;
  options.tail = 1;
  EXPECT_EQ(Text(options), "plain words\n");
  options.level = LogLevel::kError;
  options.follow = true;
  options.tail = 0;
  cluster_.on_sleep = [&](int n) {
    if (n == 1) Append(file, "E20261130 22:16:55.000000 1 x.cc:1] worse\n");
    if (n == 2) Append(file, "\tits detail\nmore\n");
    if (n == 4) cluster_.interrupted = true;
  };
  EXPECT_EQ(Text(options), "E20261130 22:16:55.000000 1 x.cc:1] worse\n\tits detail\n");
}

TEST_F(LogsTest, AllOfAKind) {
  EXPECT_EQ(Text({"executor"}),
            "[executor:0] executor 0\n[executor:1] executor 1\n[executor:2] executor 2\n");
  EXPECT_EQ(Text({"sm"}), "[sm:1] managing\n");
}

TEST_F(LogsTest, FollowEndsWhenTheTopologyHasEnded) {
  cluster_.on_sleep = [this](int n) {
    if (n != 3) return;
    ExecutionState state;
    state.set_state(ExecutionState::FINISHED);
    cluster_.SetExecution("t", state);
    cluster_.scheduler.alive.clear();
    Append("container-1/count-3.log", "the last words\n");
  };
  EXPECT_EQ(Text({"count", 0, true}), "the last words\n");
  EXPECT_EQ(cluster_.err.str(), "t has FINISHED, its logs end here\n");
}

TEST_F(LogsTest, UnknownTopology) {
  EXPECT_EQ(LogsCommand(cluster_.cli, cluster_.Key("u"), {}).code(), heron::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tools::cli
