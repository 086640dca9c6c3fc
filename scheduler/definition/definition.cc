#include "scheduler/definition/definition.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "heron/model/names.h"
#include "heron/model/nearest_hint.h"
#include "heron/model/topology_check.h"
#include "heron/routing/key_groups.h"
#include "heron/settings/keys.h"
#include "heron/settings/topology_settings.h"
#include "scheduler/packing/round_robin.h"

namespace scheduler {
namespace {

using heron::Result;
using heron::Status;
using heron::proto::Component;
using heron::proto::Topology;

std::vector<std::string> ComponentNames(const Topology& topology) {
  std::vector<std::string> names;
  for (const Component& component : topology.components()) names.push_back(component.name());
  return names;
}

Component* FindComponent(Topology* topology, const std::string& name) {
  for (Component& component : *topology->mutable_components()) {
    if (component.name() == name) return &component;
  }
  return nullptr;
}

void ApplyParallelism(const Overrides& overrides, Topology* topology,
                      std::vector<std::string>* problems) {
  if (overrides.parallelism_all) {
    for (Component& component : *topology->mutable_components()) {
      component.set_parallelism(static_cast<uint32_t>(*overrides.parallelism_all));
    }
  }
  std::map<std::string, int> given;
  for (const auto& [name, parallelism] : overrides.parallelism) {
    const auto [first, fresh] = given.emplace(name, parallelism);
    if (!fresh && first->second != parallelism) {
      problems->push_back("--parallelism " + name + " is given twice, as " +
                          std::to_string(first->second) + " and " + std::to_string(parallelism));
      continue;
    }
    Component* component = FindComponent(topology, name);
    if (component == nullptr) {
      problems->push_back("--parallelism " + name + "=" + std::to_string(parallelism) +
                          ": the topology has no component '" + name + "'" +
                          heron::model::NearestHint(name, ComponentNames(*topology)));
      continue;
    }
    component->set_parallelism(static_cast<uint32_t>(parallelism));
  }
}

void AddComponentConfigProblems(const Topology& topology, std::vector<std::string>* problems) {
  for (const Component& component : topology.components()) {
    const std::map<std::string, std::string> config(component.config().begin(),
                                                    component.config().end());
    for (const std::string& problem : heron::settings::ComponentConfigProblems(config)) {
      problems->push_back("component " + heron::model::Quoted(component.name()) + ": " + problem);
    }
  }
}

// So that a program which reads "topology.tuple.max.bytes" as a number gets one.
void Normalize(std::map<std::string, std::string>* config) {
  for (auto& [key, value] : *config) {
    const heron::settings::Key* known = heron::settings::FindKey(key);
    if (known == nullptr) continue;
    auto normal = heron::settings::Normalize(*known, value);
    if (normal.ok()) value = *normal;
  }
}

Status AsStatus(const std::vector<std::string>& problems) {
  if (problems.empty()) return Status::Ok();
  if (problems.size() == 1) return heron::InvalidArgument(problems[0]);
  std::string message = std::to_string(problems.size()) + " problems:";
  for (const std::string& problem : problems) message += "\n  - " + problem;
  return heron::InvalidArgument(message);
}

}  // namespace

Result<Definition> Define(const Topology& described, const std::string& name,
                          const Overrides& overrides, std::map<std::string, std::string> config) {
  Definition definition;
  Topology& topology = definition.topology;
  topology = described;
  topology.set_name(name);
  std::vector<std::string> problems;
  ApplyParallelism(overrides, &topology, &problems);

  if (overrides.containers) config["topology.containers"] = std::to_string(*overrides.containers);
  // Also of the user's file and of the program: the record could not be read again.
  for (const auto& [key, value] : config) {
    if (heron::model::IsUtf8(key) && heron::model::IsUtf8(value)) continue;
    problems.push_back("the setting " + heron::model::Quoted(key) + " is no UTF-8 text");
  }
  Normalize(&config);
  topology.mutable_config()->clear();
  topology.mutable_config()->insert(config.begin(), config.end());

  int containers = 1;
  auto settings = heron::settings::ParseTopologySettings(config);
  if (settings.ok()) {
    containers = settings->containers;
    definition.notices = settings->notices;
  } else {
    for (std::string& problem : heron::settings::ConfigProblems(config)) {
      problems.push_back(std::move(problem));
    }
  }
  AddComponentConfigProblems(topology, &problems);
  // Its configuration was checked just now, together with what files and command line add.
  Topology without_config = topology;
  without_config.clear_config();
  for (std::string& problem : heron::model::CheckTopology(without_config)) {
    problems.push_back(std::move(problem));
  }
  int64_t tasks = 0;
  for (const Component& component : topology.components()) tasks += component.parallelism();
  if (tasks > kMaxTasks && problems.size() == 1) {
    return heron::FailedPrecondition(
        "the topology cannot be packed: asked for are " + std::to_string(tasks) + " tasks in " +
        std::to_string(containers) + " containers, the largest plan has " +
        std::to_string(kMaxTasks) + " tasks; lower --parallelism");
  }
  HERON_RETURN_IF_ERROR(AsStatus(problems));

  auto plan = PackRoundRobin(topology, containers);
  if (!plan.ok()) return heron::FailedPrecondition(plan.status().message());
  definition.plan = *plan;
  for (const Component& component : topology.components()) {
    definition.key_groups[component.name()] =
        heron::routing::DefaultKeyGroups(component.parallelism());
  }
  if (definition.plan.containers_size() < containers) {
    definition.notices.push_back("only " + std::to_string(definition.plan.containers_size()) +
                                 " of " + std::to_string(containers) +
                                 " containers are used: there are no more tasks");
  }
  return definition;
}

}  // namespace scheduler
