#include "heron/settings/process_settings.h"

#include <array>
#include <cstdlib>

#include "heron/settings/keys.h"

namespace heron::settings {
namespace {

struct Field {
  std::string_view key;
  int64_t ProcessSettings::*number;
};

constexpr std::array kFields = {
    Field{"heron.log.max.bytes", &ProcessSettings::log_max_bytes},
    Field{"heron.log.max.files", &ProcessSettings::log_max_files},
    Field{"topology.heartbeat.interval.ms", &ProcessSettings::heartbeat_interval_ms},
    Field{"topology.heartbeat.timeout.ms", &ProcessSettings::heartbeat_timeout_ms},
    Field{"topology.master.lease.ms", &ProcessSettings::lease_ms},
};

}  // namespace

Result<std::string> FormatProcessSettings(const std::map<std::string, std::string>& values) {
  const ProcessSettings defaults;
  std::string text;
  for (const Field& field : kFields) {
    int64_t number = defaults.*field.number;
    if (auto value = values.find(std::string(field.key)); value != values.end()) {
      Result<int64_t> parsed = ParseNumber(*FindKey(field.key), value->second);
      if (!parsed.ok()) return parsed.status();
      number = *parsed;
    }
    text += (text.empty() ? "" : ",") + std::string(field.key) + "=" + std::to_string(number);
  }
  return text;
}

Result<ProcessSettings> ParseProcessSettings(std::string_view text) {
  ProcessSettings settings;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    Result<KeyValue> item = ParseKeyValue(text.substr(0, comma));
    if (!item.ok()) return item.status().WithContext(kProcessSettingsVariable);
    for (const Field& field : kFields) {
      if (field.key != item->key) continue;
      Result<int64_t> number = ParseNumber(*FindKey(field.key), item->value);
      if (!number.ok()) return number.status().WithContext(kProcessSettingsVariable);
      settings.*field.number = *number;
    }
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return settings;
}

Result<ProcessSettings> OwnProcessSettings() {
  const char* text = std::getenv(kProcessSettingsVariable);
  return ParseProcessSettings(text == nullptr ? "" : text);
}

}  // namespace heron::settings
