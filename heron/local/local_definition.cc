#include "heron/local/local_definition.h"

#include <charconv>
#include <map>

#include "heron/api/internal/builder_access.h"
#include "heron/model/names.h"
#include "heron/settings/keys.h"

namespace heron::local {
namespace {

constexpr int kMaxTasks = 100'000;
constexpr int kMaxContainers = 10'000;

Result<int> Number(const std::string& option, const std::string& text, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > most) {
    return InvalidArgument(option + ": " + model::Quoted(text) + " is no number from 1 to " +
                           std::to_string(most));
  }
  return number;
}

Status Take(const std::string& name, const std::string& value, scheduler::Overrides& overrides,
            std::map<std::string, std::string>& config) {
  const std::string option = "--heron-" + name;
  if (name == "config") {
    auto assignment = settings::ParseKeyValue(value);
    if (!assignment.ok()) return assignment.status().WithContext(option);
    config[assignment->key] = assignment->value;
    return Status::Ok();
  }
  if (name == "parallelism") {
    const size_t equals = value.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidArgument(option + ": write COMPONENT=N and not " + model::Quoted(value));
    }
    const auto tasks = Number(option, value.substr(equals + 1), kMaxTasks);
    if (!tasks.ok()) return tasks.status();
    overrides.parallelism.emplace_back(value.substr(0, equals), *tasks);
    return Status::Ok();
  }
  const bool containers = name == "containers";
  const auto number = Number(option, value, containers ? kMaxContainers : kMaxTasks);
  if (!number.ok()) return number.status();
  (containers ? overrides.containers : overrides.parallelism_all) = *number;
  return Status::Ok();
}

// By this name or one that Heron has for it.
bool IsGiven(const std::map<std::string, std::string>& config, const std::string& key) {
  if (config.count(key) > 0) return true;
  for (const settings::OldKey& old : settings::OldKeys()) {
    if (old.now == key && config.count(std::string(old.name)) > 0) return true;
  }
  return false;
}

}  // namespace

Result<scheduler::Definition> DefineLocal(
    const TopologyBuilder& builder,
    const std::vector<std::pair<std::string, std::string>>& options) {
  const proto::Topology& described = internal::BuilderAccess::Definition(builder);
  std::map<std::string, std::string> config(described.config().begin(), described.config().end());
  const std::string day_ms = std::to_string(24 * 3600 * 1000);
  config["topology.destination.grace.ms"] = day_ms;
  scheduler::Overrides overrides;
  for (const auto& [name, value] : options) {
    HERON_RETURN_IF_ERROR(Take(name, value, overrides, config));
  }
  const std::string timeout = "topology.message.timeout.ms";
  if (!IsGiven(config, timeout)) config[timeout] = day_ms;
  return scheduler::Define(described, described.name(), overrides, std::move(config));
}

}  // namespace heron::local
