#include "heron/stream_manager/executor_link.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "heron/stream_manager/link_fakes.h"

namespace heron::stream_manager {
namespace {

TEST(ExecutorLinkTest, ReportsTheProcessAndEndsItWhenTheExecutorStaysAway) {
  net::EventLoop loop;
  auto executor = std::make_unique<FakeExecutor>(loop, 4);
  ExecutorLink::Options options;
  options.credentials = TestCredentials();
  options.self = link::MakeIdentity(proto::STREAM_MANAGER, 4, 0, {2, 0});
  options.host = "127.0.0.1";
  options.port = executor->port();
  options.listening_port = 4711;
  options.lost_timeout = std::chrono::seconds(2);
  options.report_interval = std::chrono::milliseconds(10);
  int lost = 0;
  ExecutorLink link(loop, options, [&] { ++lost; });
  ASSERT_TRUE(RunUntil(loop, [&] { return executor->reports.size() >= 3; }));
  EXPECT_EQ(executor->reports[0].pid(), getpid());
  EXPECT_EQ(executor->reports[0].port(), 4711u);
  EXPECT_EQ(lost, 0);
  executor.reset();
  ASSERT_TRUE(RunUntil(loop, [&] { return lost > 0; }));
  EXPECT_EQ(lost, 1);
}

}  // namespace
}  // namespace heron::stream_manager
