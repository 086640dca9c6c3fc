#include <gtest/gtest.h>
#include <stdlib.h>

#include "heron/state/state_store.h"

namespace heron::state {
namespace {

TEST(OpenStateStore, ByUrl) {
  const char* base = ::getenv("TEST_TMPDIR");
  std::string root = std::string(base != nullptr ? base : "/tmp") + "/open_state_store";
  auto file = OpenStateStore("file:" + root);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  (*file)->Create("/a", "v").status().IgnoreError();
  for (std::string url : {"file:" + root + "/", "file://" + root, "file:///" + root}) {
    auto again = OpenStateStore(url);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ((*again)->Get("/a")->value, "v") << url;
  }
  auto one = OpenStateStore("memory:shared");
  ASSERT_TRUE((*one)->Create("/a", "m").ok());
  EXPECT_EQ((*OpenStateStore("memory:shared"))->Get("/a")->value, "m");
  EXPECT_FALSE((*OpenStateStore("memory:"))->Get("/a").ok());
}

TEST(OpenStateStore, AStoreThatIsNotThereIsNotMadeUnlessAskedFor) {
  const char* base = ::getenv("TEST_TMPDIR");
  const std::string url =
      "file:" + std::string(base != nullptr ? base : "/tmp") + "/no_state_store";
  EXPECT_FALSE(StateStoreExists(url));
  auto store = OpenStateStore(url, MakeStore::kNo);
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  EXPECT_EQ((*store)->Get("/a").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ((*store)->Create("/a", "v").status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(StateStoreExists(url));
  ASSERT_TRUE(OpenStateStore(url).ok());
  EXPECT_TRUE(StateStoreExists(url));
  EXPECT_TRUE((*store)->Create("/a", "v").ok());
}

TEST(OpenStateStore, AWrongUrlNamesTheKnownKinds) {
  for (std::string url : {"", "zookeeper:host:2181", "/tmp/x", "memory"}) {
    Status status = OpenStateStore(url).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("file:/absolute/folder"), std::string::npos);
  }
  EXPECT_EQ(OpenStateStore("file:relative").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenStateStore("file:").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace heron::state
