#include "heron/model/topology_settings.h"

#include <charconv>
#include <optional>

#include "heron/model/names.h"

namespace heron::model {

namespace {

constexpr TopologySetting kSettings[] = {
    {kDestinationGraceMs, 10'000, 0, 3'600'000,
     "how long batches for a task that is down are held before they are dropped"},
    {kQueueHighBytes, 4 << 20, 64 << 10, int64_t{1} << 30,
     "bytes queued for a task above which its feeders are stopped"},
    {kTaskMaxRestarts, 3, 0, 1'000'000,
     "deaths in a row without progress after which a bounded topology fails"},
    {kTupleMaxBytes, 8 << 20, 1 << 10, 64 << 20, "the largest tuple"},
};

std::optional<int64_t> Parse(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::span<const TopologySetting> TopologySettings() { return kSettings; }

const TopologySetting* FindTopologySetting(std::string_view key) {
  for (const TopologySetting& setting : kSettings) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

int64_t TopologySettingOf(const proto::Topology& topology, std::string_view key) {
  const TopologySetting* setting = FindTopologySetting(key);
  if (setting == nullptr) return 0;
  auto it = topology.config().find(std::string(key));
  if (it == topology.config().end()) return setting->by_default;
  std::optional<int64_t> value = Parse(it->second);
  bool right = value && *value >= setting->lowest && *value <= setting->highest;
  return right ? *value : setting->by_default;
}

std::string CheckTopologySetting(std::string_view key, std::string_view value) {
  const TopologySetting* setting = FindTopologySetting(key);
  if (setting == nullptr) {
    std::string text = "unknown configuration key " + Quoted(key) +
                       "; keys that begin with 'topology.' are the engine's: ";
    for (const TopologySetting& known : kSettings) {
      text += (&known == kSettings ? "" : ", ") + std::string(known.key);
    }
    return text;
  }
  std::optional<int64_t> number = Parse(value);
  if (number && *number >= setting->lowest && *number <= setting->highest) return "";
  return "configuration key " + Quoted(key) + " is " + Quoted(value) + "; it must be a whole number from " +
         std::to_string(setting->lowest) + " to " + std::to_string(setting->highest) + " (" +
         std::string(setting->meaning) + ")";
}

}  // namespace heron::model
