#include "heron/net/event_loop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heron/net/loop_driver.h"

namespace heron::net {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(EventLoop, PostsOfOneThreadRunInOrderInTheLoopsThread) {
  EventLoop loop;
  std::thread runner([&loop] { loop.Run(); });
  std::vector<int> seen;
  std::atomic<bool> in_loop{true};
  for (int i = 0; i < 10'000; ++i) {
    loop.Post([&, i] {
      seen.push_back(i);
      if (!loop.InLoopThread()) in_loop = false;
    });
  }
  loop.Post([&loop] { loop.Stop(); });
  runner.join();
  ASSERT_EQ(seen.size(), 10'000u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_TRUE(in_loop);
}

TEST(EventLoop, AStopAheadOfRunCounts) {
  EventLoop loop;
  loop.Stop();
  loop.Run();
  // And the loop can run again.
  bool ran = false;
  loop.Post([&] {
    ran = true;
    loop.Stop();
  });
  loop.Run();
  EXPECT_TRUE(ran);
}

TEST(EventLoop, OnlyItsThreadIsTheLoopThreadWhileItRuns) {
  EventLoop loop;
  EXPECT_TRUE(loop.InLoopThread());
  bool other = true;
  loop.Post([&] {
    std::thread([&] { other = loop.InLoopThread(); }).join();
    EXPECT_TRUE(loop.InLoopThread());
    loop.Stop();
  });
  loop.Run();
  EXPECT_FALSE(other);
  EXPECT_TRUE(loop.InLoopThread());
}

TEST(EventLoop, TimersFireInTheOrderOfTheirTimes) {
  EventLoop loop;
  std::string order;
  loop.RunAfter(milliseconds(30), [&] {
    order += 'c';
    loop.Stop();
  });
  loop.RunAfter(milliseconds(1), [&] { order += 'a'; });
  loop.RunAfter(milliseconds(15), [&] { order += 'b'; });
  loop.Run();
  EXPECT_EQ(order, "abc");
}

TEST(EventLoop, ACancelledTimerDoesNotFireEvenIfItIsDue) {
  EventLoop loop;
  bool fired = false;
  TimerId second = 0;
  // Both are due in the same turn; the first takes the second back.
  loop.RunAfter(Duration::zero(), [&] { loop.CancelTimer(second); });
  second = loop.RunAfter(Duration::zero(), [&] { fired = true; });
  loop.CancelTimer(0);
  loop.CancelTimer(12345);
  LoopDriver(loop).RunFor(milliseconds(20));
  EXPECT_FALSE(fired);
}

TEST(EventLoop, APeriodicTimerMayCancelItself) {
  EventLoop loop;
  int count = 0;
  TimerId id = 0;
  id = loop.RunEvery(milliseconds(1), [&] {
    if (++count == 3) loop.CancelTimer(id);
  });
  LoopDriver(loop).RunFor(milliseconds(50));
  EXPECT_EQ(count, 3);
}

TEST(EventLoop, ALatePeriodicTimerDoesNotCatchUp) {
  EventLoop loop;
  int count = 0;
  loop.RunEvery(milliseconds(20), [&] {
    // Held up for many periods, once.
    if (++count == 1) std::this_thread::sleep_for(milliseconds(200));
    if (count == 2) loop.Stop();
  });
  int turns_between = 0;
  std::function<void()> count_turn = [&] {
    if (count == 1) ++turns_between;
    loop.Post(count_turn);
  };
  loop.Post(count_turn);
  loop.Run();
  EXPECT_GT(turns_between, 1) << "the second call came at once after the late first one";
}

TEST(EventLoop, AWatchReportsAsLongAsThereIsSomethingToRead) {
  EventLoop loop;
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  ASSERT_EQ(write(fds[1], "abc", 3), 3);
  std::string read_bytes;
  std::unique_ptr<EventLoop::FdWatch> watch = loop.WatchReadable(fds[0], [&] {
    char c;
    ASSERT_EQ(read(fds[0], &c, 1), 1);
    read_bytes += c;
    // The watch destroys itself in its own callback.
    if (read_bytes.size() == 5) watch.reset();
  });
  LoopDriver driver(loop);
  EXPECT_TRUE(driver.RunUntil([&] { return read_bytes.size() == 3; }));
  ASSERT_EQ(write(fds[1], "defg", 4), 4);
  EXPECT_TRUE(driver.RunUntil([&] { return watch == nullptr; }));
  driver.RunFor(milliseconds(10));
  EXPECT_EQ(read_bytes, "abcde");
  // The descriptors are still the caller's.
  EXPECT_EQ(close(fds[0]), 0);
  EXPECT_EQ(close(fds[1]), 0);
}

TEST(EventLoop, SignalsArriveInTheLoop) {
  EventLoop loop;
  int count = 0;
  loop.HandleSignal(SIGUSR1, [&] { ++count; });
  LoopDriver driver(loop);
  raise(SIGUSR1);
  EXPECT_TRUE(driver.RunUntil([&] { return count == 1; }));
  raise(SIGUSR1);
  EXPECT_TRUE(driver.RunUntil([&] { return count == 2; }));
}

TEST(EventLoop, DestructionDropsWhatIsPending) {
  auto alive = std::make_shared<int>(1);
  {
    EventLoop loop;
    loop.Post([alive] {});
    loop.RunAfter(hours(1), [alive] {});
    loop.RunEvery(hours(1), [alive] {});
    EXPECT_EQ(alive.use_count(), 4);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace heron::net
