#include "heron/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace heron {
namespace {

TEST(StatusTest, ContextComesFirst) {
  Status s = NotFound("no such node").WithContext("/a/b");
  EXPECT_EQ(s.ToString(), "not found: /a/b: no such node");
  EXPECT_EQ(Status::Ok().WithContext("x").ToString(), "ok");
}

TEST(StatusTest, ErrnoMapsToWhatACallerActsOn) {
  EXPECT_EQ(ErrnoStatus(ENOSPC, "f").code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(ErrnoStatus(EROFS, "f").code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoStatus(ENOENT, "f").message(), "f: No such file or directory");
}

TEST(ResultTest, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> r(std::make_unique<int>(7));
  ASSERT_TRUE(r.ok());
  std::unique_ptr<int> p = std::move(r).value();
  EXPECT_EQ(*p, 7);
  Result<int> bad(Unavailable("later"));
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace heron
