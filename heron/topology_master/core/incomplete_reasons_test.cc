#include "heron/topology_master/core/incomplete_reasons.h"

#include <gtest/gtest.h>

namespace heron::topology_master {
namespace {

using Lines = google::protobuf::RepeatedPtrField<std::string>;

Lines Write(const IncompleteReasons& reasons) {
  Lines lines;
  reasons.WriteTo(&lines);
  return lines;
}

TEST(IncompleteReasons, CountsTheSameThingInOneLineAcrossMasters) {
  IncompleteReasons first;
  first.Happened("task 4 (split[1]) was restarted", "killed by signal 9", "tuples were lost");
  Lines lines = Write(first);
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(lines[0], "task 4 (split[1]) was restarted (killed by signal 9): tuples were lost");

  IncompleteReasons second(lines);  // another master reads it
  second.Happened("task 4 (split[1]) was restarted", "exited with code 1", "tuples were lost");
  IncompleteReasons third(Write(second));
  third.Happened("task 4 (split[1]) was restarted", "again", "tuples were lost", 3);
  lines = Write(third);
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(lines[0], "task 4 (split[1]) was restarted 5 times (last: again): tuples were lost");
}

TEST(IncompleteReasons, AQuantityIsUpdatedInPlace) {
  IncompleteReasons reasons;
  reasons.Note("task 1, life 1.0, lost batches", "3", true);
  reasons.Note("task 1, life 1.0, lost batches", "5", false);
  reasons.Note("task 1, life 1.01, lost batches", "7", true);
  Lines lines = Write(reasons);
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0], "task 1, life 1.0, lost batches: 5");
  EXPECT_EQ(lines[1], "task 1, life 1.01, lost batches: 7");
}

TEST(IncompleteReasons, TwentyLinesThenACount) {
  IncompleteReasons reasons;
  for (int i = 0; i < 25; ++i) reasons.Happened("task " + std::to_string(i), "died", "lost");
  Lines lines = Write(reasons);
  ASSERT_EQ(lines.size(), 21);
  EXPECT_EQ(lines[19], "task 19 (died): lost");
  EXPECT_EQ(lines[20], "and 5 more");

  IncompleteReasons next(lines);
  next.Happened("task 99", "died", "lost");
  next.Note("task 98, lost batches", "1", true);
  next.Note("task 98, lost batches", "2", false);  // no line of its own, and counted already
  next.Happened("task 3", "died", "lost");
  lines = Write(next);
  ASSERT_EQ(lines.size(), 21);
  EXPECT_EQ(lines[3], "task 3 2 times (last: died): lost");
  EXPECT_EQ(lines[20], "and 7 more");
}

}  // namespace
}  // namespace heron::topology_master
