#include "tools/cli/records.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli/fake_cluster.h"

namespace tools::cli {
namespace {

using heron::proto::DesiredState;
using heron::proto::ExecutionState;

TEST(RecordsTest, ListsWhateverHasANode) {
  FakeCluster cluster;
  cluster.AddTopology("whole", DesiredState::ACTIVE, ExecutionState::RUNNING);
  ASSERT_TRUE(cluster.store->Create("/pplans/x/y/left-over", "?").ok());
  auto keys = ListTopologies(*cluster.store);
  ASSERT_TRUE(keys.ok());
  ASSERT_EQ(keys->size(), 2u);
  EXPECT_EQ((*keys)[0].ToString(), "ads/prod/whole");
  EXPECT_EQ((*keys)[1].ToString(), "x/y/left-over");
}

TEST(RecordsTest, DamagedRecordIsNamed) {
  FakeCluster cluster;
  ASSERT_TRUE(cluster.store->Create(heron::state::DesiredPath(cluster.Key("t")), "\xFF\xFF").ok());
  auto desired = ReadDesired(*cluster.store, cluster.Key("t"));
  EXPECT_EQ(desired.status().code(), heron::StatusCode::kDataLoss);
  EXPECT_NE(desired.status().message().find("/desired/ads/prod/t"), std::string::npos);
}

TEST(RecordsTest, UnknownNameIsAnsweredWithTheNearest) {
  FakeCluster cluster;
  cluster.AddTopology("counter", DesiredState::ACTIVE, ExecutionState::RUNNING);
  EXPECT_NE(NoSuchTopology(*cluster.store, "local", cluster.Key("countr"))
                .message()
                .find("did you mean 'counter'"),
            std::string::npos);
  // The right name in the wrong place.
  EXPECT_NE(NoSuchTopology(*cluster.store, "local", {"ada", "default", "counter"})
                .message()
                .find("write local/ads/prod counter"),
            std::string::npos);
}

TEST(RecordsTest, OnlyADeadProcessOfThisHostIsKnownDead) {
  EXPECT_TRUE(MayBeAlive(ThisProcess("ada")));
  EXPECT_TRUE(MayBeAlive("ada@another-host:1"));
  EXPECT_TRUE(MayBeAlive(""));
  EXPECT_TRUE(MayBeAlive("ada@here"));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  std::string by = ThisProcess("ada");
  by = by.substr(0, by.rfind(':') + 1) + std::to_string(child);
  EXPECT_FALSE(MayBeAlive(by));
}

}  // namespace
}  // namespace tools::cli
