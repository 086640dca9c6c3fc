// The topology as it runs: with the parallelism and the places of the submit. Plain values, which
// do not change while the task lives. context.TopologyInfo() has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heron {

struct TaskPlace {
  int32_t task = 0;   // from 1, unique in the topology
  int32_t index = 0;  // from 0, within its component
  int32_t container = 0;
};

struct FieldInfo {
  std::string name;
  std::string type;  // "int64", "string", "any"..., or what a serializer calls its type
};

struct StreamInfo {
  std::string name;
  std::vector<FieldInfo> fields;
};

struct InputInfo {
  std::string component;
  std::string stream;
  std::string grouping;             // "shuffle", "fields"..., see heron/docs/glossary.md
  std::vector<std::string> fields;  // of the groupings that have some
};

struct ComponentInfo {
  std::string name;
  bool spout = false;
  bool bounded = false;          // a spout that ends by itself
  std::vector<TaskPlace> tasks;  // tasks[i] has index i
  std::vector<StreamInfo> outputs;
  std::vector<InputInfo> inputs;
};

struct TopologyInfo {
  int32_t containers = 0;  // that have tasks
  std::vector<ComponentInfo> components;

  // nullptr if there is none. Slow: look up once, in Open or Prepare.
  const ComponentInfo* Find(std::string_view component) const {
    for (const ComponentInfo& candidate : components) {
      if (candidate.name == component) return &candidate;
    }
    return nullptr;
  }
  const ComponentInfo* ComponentOf(int32_t task) const {
    for (const ComponentInfo& candidate : components) {
      for (const TaskPlace& place : candidate.tasks) {
        if (place.task == task) return &candidate;
      }
    }
    return nullptr;
  }
  // Components that read this stream, in the order of the topology.
  std::vector<const ComponentInfo*> ReadersOf(std::string_view component,
                                              std::string_view stream) const {
    std::vector<const ComponentInfo*> readers;
    for (const ComponentInfo& candidate : components) {
      for (const InputInfo& input : candidate.inputs) {
        if (input.component == component && input.stream == stream) readers.push_back(&candidate);
      }
    }
    return readers;
  }
};

}  // namespace heron
