#include "heron/api/internal/task_facts.h"

namespace heron::internal {

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
  }
  origin.reader = reader;
  return origin;
}

}  // namespace heron::internal
