// Whatever is in a configuration file: a Status, never a crash, and nothing that was accepted is
// read differently again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "heron/settings/keys.h"
#include "heron/settings/topology_settings.h"
#include "heron/settings/yaml_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heron::settings;  // NOLINT(google-build-using-namespace)
  std::string_view text(reinterpret_cast<const char*>(data), size);
  heron::Result<std::vector<YamlEntry>> entries = ParseYaml(text, "fuzz.yaml");
  if (!entries.ok()) {
    if (entries.status().message().find("fuzz.yaml") == std::string::npos) std::abort();
    return 0;
  }
  std::map<std::string, std::string> config;
  for (const YamlEntry& entry : *entries) {
    if (entry.line < 1 || entry.key.empty()) std::abort();
    if (!config.emplace(entry.key, entry.value).second) std::abort();
    const Key* key = FindKey(entry.key);
    if (key == nullptr) {
      if (UnknownKeyMessage(entry.key).empty()) std::abort();
      continue;
    }
    heron::Result<std::string> normal = Normalize(*key, entry.value);
    if (!normal.ok()) continue;
    heron::Result<std::string> again = Normalize(*key, *normal);
    if (!again.ok() || *again != *normal) std::abort();
  }
  heron::Result<TopologySettings> settings = ParseTopologySettings(config);
  if (settings.ok() && settings->heartbeat_timeout_ms <= 2 * settings->heartbeat_interval_ms) {
    std::abort();
  }
  heron::Result<KeyValue> item = ParseKeyValue(text);
  if (item.ok() && item->key.empty()) std::abort();
  return 0;
}
