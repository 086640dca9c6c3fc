#include "tools/cli/health.h"

#include "tools/cli/records.h"

namespace tools::cli {

heron::Result<scheduler::Health> ExamineTopology(Cli& cli, const heron::state::TopologyKey& key,
                                                 const std::string& topology_id) {
  std::vector<heron::ContainerId> containers;
  auto plan = ReadPlan(*cli.store, key);
  if (plan.ok() && *plan) {
    for (const auto& container : (*plan)->value.containers()) {
      containers.push_back(container.container());
    }
  }
  return cli.scheduler->Examine(key, topology_id, containers);
}

std::string LostText(const Cli& cli, const heron::state::TopologyKey& key,
                     const scheduler::Health& health) {
  return health.reason + "; bring it back: " + CommandText(cli, "restart", key) +
         ", or remove it: " + CommandText(cli, "kill", key);
}

}  // namespace tools::cli
