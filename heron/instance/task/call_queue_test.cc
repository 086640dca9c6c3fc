#include "heron/instance/task/call_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "heron/api/task_runner.h"

namespace heron::instance {
namespace {

using ::testing::ElementsAre;

class CallQueueTest : public ::testing::Test {
 protected:
  bool RunAll() {
    return queue_->RunWaiting([] { return true; });
  }

  std::shared_ptr<CallQueue> queue_ = std::make_shared<CallQueue>(2, std::make_shared<Wake>());
  TaskRunner runner_{queue_};
  std::vector<int> ran_;
};

TEST_F(CallQueueTest, RunsInOrderAndOnlyWhatWasThere) {
  EXPECT_FALSE(RunAll());
  runner_.Run([&] {
    ran_.push_back(1);
    runner_.Run([&] { ran_.push_back(3); });
  });
  runner_.Run([&] { ran_.push_back(2); });
  EXPECT_TRUE(queue_->waiting());
  EXPECT_TRUE(RunAll());
  EXPECT_THAT(ran_, ElementsAre(1, 2));
  EXPECT_TRUE(queue_->waiting());
  EXPECT_TRUE(RunAll());
  EXPECT_THAT(ran_, ElementsAre(1, 2, 3));
  EXPECT_FALSE(queue_->waiting());
}

TEST_F(CallQueueTest, IsBoundedAndTheTaskThreadDoesNotWaitForItself) {
  queue_->SetTaskThread();
  EXPECT_TRUE(runner_.Run([] {}));
  EXPECT_TRUE(runner_.Run([] {}));
  EXPECT_FALSE(runner_.Run([] {}));
  EXPECT_FALSE(runner_.TryRun([] {}));
}

TEST_F(CallQueueTest, WaitsForRoomUntilThereIsSomeOrThereWillBeNone) {
  auto fill = [&] {
    while (runner_.TryRun([&] { ran_.push_back(1); })) {
    }
  };
  fill();
  std::atomic<int> result{-1};
  std::thread other([&] { result = runner_.Run([&] { ran_.push_back(2); }); });
  while (result == -1) RunAll();
  other.join();
  EXPECT_EQ(result, 1);
  RunAll();
  EXPECT_THAT(ran_, ElementsAre(1, 1, 2));

  for (auto end : {&CallQueue::StopWaiting, &CallQueue::Close}) {
    fill();
    std::thread late([&] { result = runner_.Run([] {}); });
    ((*queue_).*end)();
    late.join();
    EXPECT_EQ(result, 0);
    RunAll();
  }
}

TEST_F(CallQueueTest, AClosedOneDropsAndRefuses) {
  auto owned = std::make_shared<int>(1);
  runner_.Run([owned] {});
  queue_->Close();
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_FALSE(queue_->waiting());
  EXPECT_FALSE(runner_.Run([owned] {}));
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_FALSE(RunAll());
}

TEST_F(CallQueueTest, WhatIsThrownComesThroughAndTheRestIsDropped) {
  runner_.Run([] { throw std::runtime_error("x"); });
  runner_.Run([&] { ran_.push_back(1); });
  EXPECT_THROW(RunAll(), std::runtime_error);
  EXPECT_TRUE(ran_.empty());
}

}  // namespace
}  // namespace heron::instance
