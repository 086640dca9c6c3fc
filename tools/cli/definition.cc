#include "tools/cli/definition.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace tools::cli {

heron::Result<Definition> Define(const heron::proto::Topology& described, const std::string& name,
                                 const Overrides& overrides,
                                 const heron::settings::ClusterConfig& config) {
  const std::map<std::string, std::string> own(described.config().begin(),
                                               described.config().end());
  return scheduler::Define(described, name, overrides, config.TopologyConfig(own));
}

std::string PlanTable(const Definition& definition) {
  std::ostringstream out;
  out << "CONTAINER  TASKS\n        0  topology master\n";
  for (const auto& container : definition.plan.containers()) {
    std::string number = std::to_string(container.container());
    out << std::string(9 - std::min<size_t>(9, number.size()), ' ') << number << " ";
    for (const auto& task : container.tasks()) {
      out << " " << task.component() << "[" << task.component_index() << "]";
    }
    out << "\n";
  }
  return out.str();
}

}  // namespace tools::cli
