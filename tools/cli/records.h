// Reads the nodes of topologies from the state store as messages.
//
// Errors are the store's, with the path; DataLoss for bytes that are no such message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "heron/state/state_store.h"
#include "proto/plan.pb.h"
#include "proto/state.pb.h"

namespace tools::cli {

template <typename Message>
struct Stored {
  Message value;
  int64_t version = 0;
};

// nullopt when there is no such node.
template <typename Message>
heron::Result<std::optional<Stored<Message>>> ReadRecord(heron::state::StateStore& store,
                                                         const std::string& path) {
  using Found = std::optional<Stored<Message>>;
  heron::Result<heron::state::VersionedValue> node = store.Get(path);
  if (!node.ok()) {
    if (node.status().code() == heron::StatusCode::kNotFound) return Found();
    return node.status();
  }
  Found found(Stored<Message>{{}, node->version});
  if (!found->value.ParseFromString(node->value)) {
    return heron::DataLoss("the record " + path + " is damaged");
  }
  return found;
}

template <typename Message>
using MaybeStored = std::optional<Stored<Message>>;

inline auto ReadDesired(heron::state::StateStore& store, const heron::state::TopologyKey& key) {
  return ReadRecord<heron::proto::DesiredState>(store, heron::state::DesiredPath(key));
}
inline auto ReadExecution(heron::state::StateStore& store, const heron::state::TopologyKey& key) {
  return ReadRecord<heron::proto::ExecutionState>(store, heron::state::ExecutionStatePath(key));
}
inline auto ReadSubmitted(heron::state::StateStore& store, const heron::state::TopologyKey& key) {
  return ReadRecord<heron::proto::SubmittedTopology>(store, heron::state::TopologyPath(key));
}
inline auto ReadPlan(heron::state::StateStore& store, const heron::state::TopologyKey& key) {
  return ReadRecord<heron::proto::PackingPlan>(store, heron::state::PackingPlanPath(key));
}

// Every node that a topology may have, /desired last: the order of removal.
std::vector<std::string> NodesOf(const heron::state::TopologyKey& key);

// Topologies that have any node at all, sorted.
heron::Result<std::vector<heron::state::TopologyKey>> ListTopologies(
    heron::state::StateStore& store);

// NotFound naming the nearest name of the same role and env, or the place where the very name is.
heron::Status NoSuchTopology(heron::state::StateStore& store, const std::string& cluster,
                             const heron::state::TopologyKey& key);

// The id that the name has now: of /desired, else of the other nodes. NotFound as above.
heron::Result<std::string> CurrentId(heron::state::StateStore& store, const std::string& cluster,
                                     const heron::state::TopologyKey& key);

// Whether the process "user@host:pid" of a record may still be alive: false only for a dead one of
// this host.
bool MayBeAlive(const std::string& by);
// This process, in that form.
std::string ThisProcess(const std::string& user);

}  // namespace tools::cli
