// What every state store has to do, as one test suite. A store's test names how to open it and
// instantiates StoreContract:
//
//   INSTANTIATE_TEST_SUITE_P(File, StoreContract, testing::Values(StoreUnderTest{...}));
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "heron/state/eventually.h"
#include "heron/state/state_store.h"

namespace heron::state {

struct StoreUnderTest {
  std::string name;
  // A new, empty store: what opens one more client of it. The result keeps whatever the store
  // needs.
  std::function<std::function<std::unique_ptr<StateStore>()>()> make;
  // Clients in a forked process reach the same store.
  bool across_processes = false;
  // Increments each of the racing threads and processes makes.
  int increments = 100;
};

class StoreContract : public testing::TestWithParam<StoreUnderTest> {
 protected:
  void SetUp() override {
    open_ = GetParam().make();
    store_ = open_();
    ASSERT_NE(store_, nullptr);
  }
  std::function<std::unique_ptr<StateStore>()> open_;
  std::unique_ptr<StateStore> store_;
};

// Adds one to the number in the node, by Get and Set, `times` times. Returns the first unexpected
// failure.
Status IncrementNode(StateStore& store, const std::string& path, int times);

}  // namespace heron::state
