#include "tools/cli/config_show.h"

#include <algorithm>
#include <array>

#include "heron/settings/keys.h"
#include "tools/cli/json_output.h"

namespace tools::cli {
namespace {

using heron::settings::EffectiveValue;
using heron::settings::Key;
using heron::settings::KeyScope;
using heron::settings::Source;

std::string SourceText(Source source) {
  switch (source) {
    case Source::kBuiltIn:
      return "built-in";
    case Source::kEnvironment:
      return "environment";
    case Source::kClusterFile:
      return "cluster file";
    case Source::kUserFile:
      return "user file";
    case Source::kTopology:
      return "topology";
    case Source::kCommandLine:
      return "command line";
  }
  return "";
}

ConfigRow RowOf(const Key& key, const EffectiveValue& effective) {
  ConfigRow row;
  row.key = key.name;
  row.value = effective.value;
  row.unit = heron::settings::UnitOf(key.type);
  row.type = heron::settings::TypeName(key.type);
  row.scope = key.scope == KeyScope::kTopology ? "topology" : "cluster";
  row.source = SourceText(effective.source);
  row.where = effective.where;
  return row;
}

void PrintRows(const std::vector<ConfigRow>& rows, std::ostream& out) {
  std::vector<std::array<std::string, 4>> lines = {{"KEY", "VALUE", "UNIT", "FROM"}};
  for (const ConfigRow& row : rows) lines.push_back({row.key, row.value, row.unit, row.where});
  std::array<size_t, 4> widths = {};
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      const bool last = i + 1 == line.size();
      out << line[i] << (last ? "\n" : std::string(widths[i] - line[i].size() + 2, ' '));
    }
  }
  out.flush();
}

}  // namespace

heron::Status ConfigShowCommand(Cli& cli, const heron::settings::ClusterConfig& config,
                                const std::string& key) {
  if (!key.empty() && heron::settings::FindKey(key) == nullptr) {
    const auto* old = heron::settings::FindOldKey(key);
    if (old == nullptr) return heron::NotFound(heron::settings::UnknownKeyMessage(key));
    return heron::NotFound(key + " is read as " + std::string(old->now) + "; ask for that");
  }
  std::vector<ConfigRow> rows;
  for (const Key& known : heron::settings::Keys()) {
    if (!key.empty() && key != known.name) continue;
    const auto effective = config.values().find(std::string(known.name));
    if (effective != config.values().end()) rows.push_back(RowOf(known, effective->second));
  }
  if (cli.json) {
    *cli.out << ConfigJson(config.cluster(), rows) << std::endl;
  } else {
    PrintRows(rows, *cli.out);
  }
  return heron::Status::Ok();
}

}  // namespace tools::cli
