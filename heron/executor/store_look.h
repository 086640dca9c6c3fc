// Reads what the state store says about a topology, for StoreVerdict. One reading at a time.
//
// Thread: the loop's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heron/executor/core/store_verdict.h"
#include "heron/state/async_store.h"
#include "heron/state/paths.h"

namespace heron::executor {

class StoreLook {
 public:
  // `store` must outlive it.
  StoreLook(state::AsyncStore& store, state::TopologyKey key, std::string topology_id);
  ~StoreLook();

  // `done` is called once, kGoOn when the store cannot be reached or holds damaged bytes; not at
  // all while another reading is under way or after destruction.
  void Read(std::function<void(StoreVerdict)> done);

 private:
  void ReadExecution(StoreView view, std::function<void(StoreVerdict)> done);

  state::AsyncStore& store_;
  const state::TopologyKey key_;
  const std::string topology_id_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  bool reading_ = false;
};

}  // namespace heron::executor
