#include "heron/api/context.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "heron/api/errors.h"
#include "heron/model/nearest_hint.h"

namespace heron {

namespace {

std::string FieldsText(std::span<const std::string> names,
                       std::span<const internal::DeclaredType> types,
                       std::span<const std::string> user_types) {
  std::string text = "(";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ", ";
    const bool user = i < user_types.size() && !user_types[i].empty();
    text += names[i] + ": " + (user ? user_types[i] : std::string(DeclaredTypeName(types[i])));
  }
  return text + ")";
}

}  // namespace

TaskContext::TaskContext(internal::TaskFacts facts, internal::TaskRuntime& runtime)
    : facts_(std::move(facts)),
      args_(facts_.arguments),
      config_(facts_.config),
      runtime_(runtime),
      task_runner_(runtime.call_target()) {}

uint32_t TaskContext::StreamIndex(std::string_view stream) const {
  std::string known;
  for (size_t i = 0; i < facts_.outputs.size(); ++i) {
    if (facts_.outputs[i].stream == stream) return static_cast<uint32_t>(i);
    known += (i > 0 ? ", '" : "'") + facts_.outputs[i].stream + "'";
  }
  throw TypeError("component '" + facts_.component + "' asks for an output to stream '" +
                  std::string(stream) + "', which it does not declare; it declares " +
                  (known.empty() ? "no stream" : known) +
                  ". Add .Declares<...> or .DeclaresStream" + "<...> where the topology is built");
}

bool TaskContext::Declares(std::string_view stream) const {
  for (const internal::OutputDeclaration& output : facts_.outputs) {
    if (output.stream == stream) return true;
  }
  return false;
}

uint32_t TaskContext::FindOutput(std::string_view stream, std::span<const std::string_view> names,
                                 std::span<const internal::DeclaredType> types,
                                 std::span<const std::string> user_types) const {
  if (!Declares(stream)) {
    const std::optional<uint32_t> number =
        runtime_.UndeclaredOutput({std::string(stream),
                                   {names.begin(), names.end()},
                                   {types.begin(), types.end()},
                                   {user_types.begin(), user_types.end()}});
    if (number) return *number;
  }
  uint32_t index = StreamIndex(stream);
  const internal::OutputDeclaration& declared = facts_.outputs[index];
  bool fits = names.size() == declared.names.size();
  for (size_t i = 0; fits && i < names.size(); ++i) {
    // nullptr_t asks for any type and fits every field; a field of any type takes every output.
    bool any = types[i] == internal::DeclaredType::kAny ||
               declared.types[i] == internal::DeclaredType::kAny;
    fits = names[i] == declared.names[i] && (any || types[i] == declared.types[i]);
    // Raw bytes fit a type with a serializer, and the other way round.
    const bool both =
        i < declared.user_types.size() && !declared.user_types[i].empty() && !user_types[i].empty();
    fits = fits && (!both || user_types[i] == declared.user_types[i]);
  }
  if (fits) return index;
  std::vector<std::string> asked(names.begin(), names.end());
  throw TypeError("component '" + facts_.component + "', stream '" + declared.stream +
                  "': Output asks for " + FieldsText(asked, types, user_types) +
                  ", the topology declares " +
                  FieldsText(declared.names, declared.types, declared.user_types));
}

std::vector<int32_t> TaskContext::TasksOf(const std::string& component) const {
  if (const ComponentInfo* info = runtime_.topology_info().Find(component)) {
    std::vector<int32_t> tasks;
    for (const TaskPlace& place : info->tasks) tasks.push_back(place.task);
    return tasks;
  }
  std::vector<std::string> known;
  for (const ComponentInfo& info : runtime_.topology_info().components) known.push_back(info.name);
  throw std::out_of_range("component '" + facts_.component + "' asks for the tasks of '" +
                          component + "', which the topology does not have" +
                          model::NearestHint(component, known));
}

FieldsOutput TaskContext::OutputFields(std::string_view stream) {
  uint32_t index = StreamIndex(stream);
  return FieldsOutput(&runtime_.emitter(), index, facts_.outputs[index].types);
}

void SpoutContext::Progress(double fraction) {
  if (!(fraction >= 0)) fraction = 0;
  if (fraction > 1) fraction = 1;
  runtime().SetProgress(fraction);
}

}  // namespace heron
