#include "heron/state/memory_store.h"

#include "heron/state/store_contract.h"

namespace heron::state {
namespace {

StoreUnderTest Memory() {
  return {.name = "memory", .make = [] {
            std::shared_ptr<MemoryTree> tree = MakeMemoryTree();
            return [tree] { return MakeMemoryStore(tree); };
          }};
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(Memory()));

TEST(MemoryStore, NamedTreesAreShared) {
  auto store = MakeMemoryStore(SharedMemoryTree("x"));
  ASSERT_TRUE(store->Create("/a", "v").ok());
  EXPECT_EQ(MakeMemoryStore(SharedMemoryTree("x"))->Get("/a")->value, "v");
  EXPECT_FALSE(MakeMemoryStore(SharedMemoryTree("y"))->Get("/a").ok());
  EXPECT_FALSE(MakeMemoryStore()->Get("/a").ok());
}

}  // namespace
}  // namespace heron::state
