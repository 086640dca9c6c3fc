// Reads what the state store says about a topology, for model::StoreVerdict. One reading at a time.
//
// Thread: the loop's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heron/model/store_verdict.h"
#include "heron/state/async_store.h"
#include "heron/state/paths.h"
#include "heron/state/state_store.h"

namespace heron::state {

// At once; blocks as the store does. kGoOn as below.
model::StoreVerdict LookNow(StateStore& store, const TopologyKey& key,
                            const std::string& topology_id);

class StoreLook {
 public:
  // `store` must outlive it.
  StoreLook(AsyncStore& store, TopologyKey key, std::string topology_id);
  ~StoreLook();

  // `done` is called once, kGoOn when the store cannot be reached or holds damaged bytes; not at
  // all while another reading is under way or after destruction.
  void Read(std::function<void(model::StoreVerdict)> done);

 private:
  void ReadExecution(model::StoreView view, std::function<void(model::StoreVerdict)> done);

  AsyncStore& store_;
  const TopologyKey key_;
  const std::string topology_id_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  bool reading_ = false;
};

}  // namespace heron::state
