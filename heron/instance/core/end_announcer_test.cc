#include "heron/instance/core/end_announcer.h"

#include <gtest/gtest.h>

namespace heron::instance {
namespace {

constexpr Epoch kFirst{1, 0};
constexpr Epoch kSecond{1, 1};
const MonotonicTime kStart{std::chrono::hours(1)};

TEST(EndAnnouncerTest, SaysNothingBeforeTheEnd) {
  EndAnnouncer announcer;
  announcer.SetDestinations({5});
  EXPECT_TRUE(announcer.TakeDue(kStart).empty());
  EXPECT_FALSE(announcer.Done());
}

TEST(EndAnnouncerTest, WithoutDestinationsItIsDoneAtOnce) {
  EndAnnouncer announcer;
  announcer.SetDestinations({});
  announcer.Start({});
  EXPECT_TRUE(announcer.Done());
}

TEST(EndAnnouncerTest, TellsEveryDestinationItsLastNumber) {
  EndAnnouncer announcer;
  announcer.SetDestinations({5, 6});
  announcer.Start({{5, 17}});
  auto due = announcer.TakeDue(kStart);
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].destination, 5);
  EXPECT_EQ(due[0].last_number, 17u);
  EXPECT_EQ(due[1].last_number, 0u) << "a task that got nothing must learn of the end too";
  EXPECT_TRUE(announcer.TakeDue(kStart).empty());
}

TEST(EndAnnouncerTest, RepeatsUntilConfirmed) {
  EndAnnouncer announcer;
  announcer.SetDestinations({5, 6});
  announcer.Start({});
  announcer.TakeDue(kStart);
  announcer.OnConfirmed(5, kFirst);
  EXPECT_TRUE(announcer.TakeDue(kStart + std::chrono::milliseconds(499)).empty());
  auto due = announcer.TakeDue(kStart + std::chrono::milliseconds(500));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].destination, 6);
  announcer.OnConfirmed(6, kFirst);
  EXPECT_TRUE(announcer.Done());
  EXPECT_TRUE(announcer.TakeDue(kStart + std::chrono::hours(1)).empty());
}

TEST(EndAnnouncerTest, ANewSessionIsToldAtOnce) {
  EndAnnouncer announcer;
  announcer.SetDestinations({5});
  announcer.Start({});
  announcer.TakeDue(kStart);
  announcer.OnSessionUp();
  EXPECT_EQ(announcer.TakeDue(kStart).size(), 1u);
}

TEST(EndAnnouncerTest, AConfirmationCountsForItsLifeOnly) {
  EndAnnouncer announcer;
  announcer.SetDestinations({5});
  announcer.Start({});
  announcer.TakeDue(kStart);
  announcer.OnConfirmed(5, kFirst);
  announcer.OnTaskEpoch(5, kFirst);
  EXPECT_TRUE(announcer.Done());
  announcer.OnTaskEpoch(5, kSecond);
  EXPECT_FALSE(announcer.Done());
  EXPECT_EQ(announcer.TakeDue(kStart).size(), 1u) << "at once, not after the interval";
  announcer.OnConfirmed(5, kFirst);
  EXPECT_FALSE(announcer.Done());
  announcer.OnConfirmed(5, kSecond);
  EXPECT_TRUE(announcer.Done());
}

TEST(EndAnnouncerTest, StrangersDoNotCount) {
  EndAnnouncer announcer;
  announcer.SetDestinations({5});
  announcer.OnConfirmed(5, kFirst);
  announcer.Start({});
  EXPECT_FALSE(announcer.Done()) << "confirmed before anything was announced";
  announcer.OnConfirmed(99, kFirst);
  EXPECT_FALSE(announcer.Done());
}

}  // namespace
}  // namespace heron::instance
