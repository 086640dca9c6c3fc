#include "tools/cli/target.h"

#include <gtest/gtest.h>

namespace tools::cli {
namespace {

const TargetDefaults kDefaults{"local", "ada", "default"};

TEST(TargetTest, PartsThatAreNotGivenAreDefaults) {
  auto all = ParsePlace("", kDefaults);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->cluster + "/" + all->role + "/" + all->env, "local/ada/default");
  auto role = ParsePlace("prod/ads", kDefaults);
  ASSERT_TRUE(role.ok());
  EXPECT_EQ(role->cluster + "/" + role->role + "/" + role->env, "prod/ads/default");
  EXPECT_TRUE(role->role_given);
  EXPECT_FALSE(role->env_given);
  auto full = ParsePlace("prod/ads/test", kDefaults);
  ASSERT_TRUE(full.ok());
  EXPECT_EQ(full->env, "test");
}

TEST(TargetTest, WrongPlacesAreRefused) {
  for (const char* bad : {"/", "a/", "a//b", "a/b/c/d", "a/../b", "-x", "a/b c"}) {
    auto place = ParsePlace(bad, kDefaults);
    EXPECT_EQ(place.status().code(), heron::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(TargetTest, WrongNamesAreAnsweredWithThePattern) {
  const Place place{"local", "ada", "default"};
  EXPECT_TRUE(MakeKey(place, "a").ok());
  EXPECT_TRUE(MakeKey(place, std::string(128, 'a')).ok());
  for (const std::string& bad :
       {std::string(""), std::string("../x"), std::string("a b"), std::string("\xC3\xA4"),
        std::string(129, 'a'), std::string(".x")}) {
    auto key = MakeKey(place, bad);
    ASSERT_FALSE(key.ok()) << bad;
    EXPECT_NE(key.status().message().find("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}"), std::string::npos);
  }
  // A user's name that is no role.
  auto key = MakeKey({"local", "DOMAIN\\ada", "default"}, "a");
  ASSERT_FALSE(key.ok());
  EXPECT_NE(key.status().message().find("role"), std::string::npos);
}

TEST(TargetTest, Durations) {
  using std::chrono::milliseconds;
  EXPECT_EQ(*ParseDuration("500ms"), milliseconds(500));
  EXPECT_EQ(*ParseDuration("1.5s"), milliseconds(1500));
  EXPECT_NE(ParseDuration("30").status().message().find("write 30s for seconds"),
            std::string::npos);
  EXPECT_EQ(*ParseDuration("2m"), milliseconds(120'000));
  EXPECT_EQ(*ParseDuration("1h"), milliseconds(3'600'000));
  for (const char* bad : {"", "s", "-1s", "1 day", "10x", "nan", "inf", "1e300s", "99999999999h"}) {
    EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
  }
}

TEST(TargetTest, AssignmentsAndNumbers) {
  auto assignment = ParseAssignment("--config", "a.b=c=d");
  ASSERT_TRUE(assignment.ok());
  EXPECT_EQ(assignment->first, "a.b");
  EXPECT_EQ(assignment->second, "c=d");
  EXPECT_FALSE(ParseAssignment("--config", "ab").ok());
  EXPECT_FALSE(ParseAssignment("--config", "=b").ok());
  EXPECT_EQ(*ParseNumber("n", "7", 1, 10), 7);
  for (const char* bad : {"", "0", "11", "x", "7x", "-1", "99999999999999"}) {
    auto number = ParseNumber("--containers", bad, 1, 10);
    ASSERT_FALSE(number.ok()) << bad;
    EXPECT_NE(number.status().message().find("--containers"), std::string::npos);
  }
}

}  // namespace
}  // namespace tools::cli
