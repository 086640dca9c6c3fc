// Where the nodes of a topology are.
#pragma once

#include <string>

namespace heron::state {

// role, env and name in that order make a topology unique in a cluster.
struct TopologyKey {
  std::string role;
  std::string env;
  std::string name;
  std::string ToString() const { return role + "/" + env + "/" + name; }
};

inline std::string TopologyPath(const TopologyKey& k) { return "/topologies/" + k.ToString(); }
inline std::string PackingPlanPath(const TopologyKey& k) { return "/packingplans/" + k.ToString(); }
inline std::string DesiredPath(const TopologyKey& k) { return "/desired/" + k.ToString(); }
inline std::string PhysicalPlanPath(const TopologyKey& k) { return "/pplans/" + k.ToString(); }
inline std::string ExecutionStatePath(const TopologyKey& k) {
  return "/executionstate/" + k.ToString();
}
inline std::string MasterPath(const TopologyKey& k) { return "/tmasters/" + k.ToString(); }

}  // namespace heron::state
