// Watches the lease of the topology master and says where the master is. Masters of other topology ids are ignored: the name
// may have been given to a new topology. While the store is away it stays with what it knows.
//
// Thread: the loop's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heron/base/ids.h"
#include "heron/net/event_loop.h"
#include "heron/state/async_store.h"
#include "heron/state/paths.h"

namespace heron::stream_manager {

class MasterFinder {
 public:
  struct Location {
    std::string host;
    uint16_t port = 0;
    Epoch epoch;  // the mastership epoch is its incarnation
  };
  using OnFound = std::function<void(const Location&)>;

  // `loop` and `store` must outlive it. Calls `on_found` for each location read, the same one included.
  MasterFinder(net::EventLoop& loop, state::AsyncStore& store, const state::TopologyKey& topology,
               std::string topology_id, OnFound on_found);
  ~MasterFinder();

 private:
  void Read();
  void OnLease(const Result<state::LeaseView>& lease);

  net::EventLoop& loop_;
  state::AsyncStore& store_;
  const std::string path_;
  const std::string topology_id_;
  const OnFound on_found_;
  bool reading_ = false;
  bool read_again_ = false;
  bool reported_error_ = false;
  net::TimerId timer_ = 0;
  std::unique_ptr<state::Watch> watch_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for callbacks under way
};

}  // namespace heron::stream_manager
