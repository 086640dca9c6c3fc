#include "heron/api/internal/task_facts.h"

#include <utility>

#include "heron/api/field_type.h"
#include "heron/model/topology_check.h"

namespace heron::internal {

ComponentInfo InfoOf(const proto::Component& component) {
  ComponentInfo info;
  info.name = component.name();
  info.spout = component.kind() == proto::SPOUT;
  info.bounded = component.bounded();
  for (const proto::OutputStream& output : component.outputs()) {
    StreamInfo& stream = info.outputs.emplace_back();
    stream.name = output.name();
    for (const proto::Field& field : output.fields()) {
      const auto type = static_cast<DeclaredType>(field.type());
      stream.fields.push_back({field.name(), field.user_type().empty()
                                                 ? std::string(DeclaredTypeName(type))
                                                 : field.user_type()});
    }
  }
  for (const proto::InputStream& input : component.inputs()) {
    info.inputs.push_back({input.component(),
                           input.stream(),
                           model::GroupingName(input.grouping()),
                           {input.fields().begin(), input.fields().end()}});
  }
  return info;
}

TopologyInfo InfoOf(const model::TaskLayout& layout) {
  TopologyInfo info;
  info.containers = static_cast<int32_t>(layout.Containers().size());
  for (int i = 0; i < layout.topology().components_size(); ++i) {
    ComponentInfo& component =
        info.components.emplace_back(InfoOf(layout.topology().components(i)));
    for (TaskId task : layout.TasksByIndex(i)) {
      const model::TaskInfo& place = *layout.Find(task);
      component.tasks.push_back({place.task, place.component_index, place.container});
    }
  }
  return info;
}

TaskFacts FactsOf(const proto::Topology& topology, const proto::Component& component) {
  TaskFacts facts;
  facts.topology = topology.name();
  facts.component = component.name();
  facts.parallelism = static_cast<int32_t>(component.parallelism());
  for (const auto& [key, value] : topology.config()) facts.config[key] = value;
  for (const auto& [key, value] : component.config()) facts.config[key] = value;
  for (const proto::OutputStream& output : component.outputs()) {
    OutputDeclaration declaration;
    declaration.stream = output.name();
    for (const proto::Field& field : output.fields()) {
      declaration.names.push_back(field.name());
      declaration.types.push_back(static_cast<DeclaredType>(field.type()));
      declaration.user_types.push_back(field.user_type());
    }
    facts.outputs.push_back(std::move(declaration));
  }
  return facts;
}

TupleOrigin OriginOf(const proto::Component& source, int stream, const std::string& reader) {
  TupleOrigin origin;
  origin.component = source.name();
  origin.stream = source.outputs(stream).name();
  for (const proto::Field& field : source.outputs(stream).fields()) {
    origin.fields.push_back(field.name());
    origin.user_types.push_back(field.user_type());
  }
  origin.reader = reader;
  return origin;
}

}  // namespace heron::internal
