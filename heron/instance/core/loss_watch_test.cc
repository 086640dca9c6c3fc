#include "heron/instance/core/loss_watch.h"

#include <gtest/gtest.h>

namespace heron::instance {
namespace {

proto::TaskStates States(TaskId task, uint64_t restart, bool up) {
  proto::TaskStates states;
  auto* entry = states.add_tasks();
  entry->set_task(task);
  entry->mutable_epoch()->set_incarnation(1);
  entry->mutable_epoch()->set_restart(restart);
  entry->set_up(up);
  return states;
}

TEST(LossWatchTest, ATaskThatComesUpForTheFirstTimeIsNoLoss) {
  LossWatch watch;
  EXPECT_FALSE(watch.OnTaskStates(States(3, 0, true)));
  EXPECT_FALSE(watch.OnTaskStates(States(3, 0, true)));
}

TEST(LossWatchTest, IsToldOnceTheNextLifeIsThere) {
  LossWatch watch;
  watch.OnTaskStates(States(3, 0, true));
  EXPECT_FALSE(watch.OnTaskStates(States(3, 0, false)));
  EXPECT_FALSE(watch.OnTaskStates(States(3, 1, false)));
  EXPECT_TRUE(watch.OnTaskStates(States(3, 1, true)));
  EXPECT_FALSE(watch.OnTaskStates(States(3, 1, true)));
  EXPECT_TRUE(watch.OnTaskStates(States(3, 2, true))) << "its being down was not seen";
}

TEST(LossWatchTest, ALostConnectionIsALoss) {
  LossWatch watch;
  watch.OnTaskStates(States(3, 0, true));
  watch.OnTaskStates(States(3, 0, false));
  EXPECT_TRUE(watch.OnTaskStates(States(3, 0, true)));
  EXPECT_FALSE(watch.OnSessionUp());
  EXPECT_TRUE(watch.OnSessionUp());
}

}  // namespace
}  // namespace heron::instance
