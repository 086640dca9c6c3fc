#include "heron/settings/cluster_config.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "heron/settings/keys.h"
#include "heron/settings/yaml_file.h"

namespace heron::settings {
namespace {

std::optional<std::string> ProcessEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

bool IsClusterName(const std::string& name) {
  if (name.empty() || name.size() > 128 || name[0] == '.' || name[0] == '-') return false;
  for (char c : name) {
    bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '.';
    if (!ok) return false;
  }
  return true;
}

// "FOLDER has: local, test"
std::string ClustersIn(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (std::filesystem::exists(it->path() / "cluster.yaml", ignored)) {
      names.push_back(it->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? folder + " has none" : folder + " has: " + all;
}

}  // namespace

// Builds one ClusterConfig; collects problems on the way.
class ClusterConfigLoader {
 public:
  explicit ClusterConfigLoader(const ClusterConfigInputs& inputs) : inputs_(inputs) {
    environment_ = inputs.environment ? inputs.environment : ProcessEnvironment;
  }

  Result<ClusterConfig> Load() {
    for (const Key& key : Keys()) {
      Put(std::string(key.name), std::string(key.default_value), Source::kBuiltIn,
          "built-in default");
    }
    if (std::optional<std::string> root = environment_("HERON_ROOT"); root && !root->empty()) {
      Put("heron.root", *root, Source::kEnvironment, "the environment variable HERON_ROOT");
    }
    std::vector<YamlEntry> user = ReadUserFile();
    ReadCommandLine();
    HERON_RETURN_IF_ERROR(ChooseCluster(user));
    HERON_RETURN_IF_ERROR(ReadClusterFile());
    for (const YamlEntry& entry : user) {
      PutEntry(entry, inputs_.user_file, Source::kUserFile);
    }
    for (const KeyValue& item : command_line_) {
      PutChecked(item.key, item.value, Source::kCommandLine, "the command line", "--config");
    }
    if (!inputs_.cluster.empty()) {
      Put("cluster", inputs_.cluster, Source::kCommandLine, "the command line");
    }
    config_.cluster_ = config_.values_["cluster"].value;
    ResolveAll();
    if (problems_.empty()) return std::move(config_);
    if (problems_.size() == 1) return InvalidArgument(problems_[0]);
    std::string message = std::to_string(problems_.size()) + " problems in the configuration:";
    for (const std::string& problem : problems_) message += "\n  " + problem;
    return InvalidArgument(std::move(message));
  }

 private:
  void Put(const std::string& key, std::string value, Source source, std::string where) {
    config_.values_[key] = EffectiveValue{std::move(value), source, std::move(where)};
  }

  void PutEntry(const YamlEntry& entry, const std::string& file, Source source) {
    std::string where = file + ":" + std::to_string(entry.line);
    if (source == Source::kClusterFile && entry.key == "cluster") {
      problems_.push_back(where + ": \"cluster\" belongs into the user's file");
      return;
    }
    if (!IsReserved(entry.key)) {
      std::string_view nearest = NearestKey(entry.key);
      problems_.push_back(where + ": unknown key \"" + entry.key.substr(0, 80) + "\"; " +
                          (nearest.empty() ? "keys of your own belong into the topology or --config"
                                           : "did you mean \"" + std::string(nearest) + "\"?"));
      return;
    }
    PutChecked(entry.key, entry.value, source, where, where);
  }

  // The check of the value follows when variables are replaced; files' values may have some.
  void PutChecked(const std::string& key, const std::string& value, Source source,
                  const std::string& where, const std::string& context) {
    if (const OldKey* old = FindOldKey(key)) {
      Key plain{old->name, KeyType::kInt, KeyScope::kTopology, "", 0, INT64_MAX / old->factor, "",
                ""};
      Result<int64_t> number = ParseNumber(plain, value);
      if (!number.ok()) {
        problems_.push_back(context + ": " + number.status().message());
        return;
      }
      std::string now = std::to_string(*number * old->factor);
      config_.notices_.push_back(context + ": " + key + " is read as " + std::string(old->now) +
                                 "=" + now + "; use that name");
      Put(std::string(old->now), now, source, where);
      return;
    }
    if (IsReserved(key) && FindKey(key) == nullptr) {
      problems_.push_back(context + ": " + UnknownKeyMessage(key));
      return;
    }
    Put(key, value, source, where);
  }

  std::vector<YamlEntry> ReadUserFile() {
    if (inputs_.user_file.empty()) return {};
    Result<std::vector<YamlEntry>> read = ReadYamlFile(inputs_.user_file);
    if (read.ok()) return std::move(*read);
    if (read.status().code() != StatusCode::kNotFound) problems_.push_back(read.status().message());
    return {};
  }

  void ReadCommandLine() {
    for (const std::string& text : inputs_.command_line) {
      Result<KeyValue> item = ParseKeyValue(text);
      if (item.ok()) {
        command_line_.push_back(std::move(*item));
      } else {
        problems_.push_back("--config: " + item.status().message());
      }
    }
  }

  Status ChooseCluster(const std::vector<YamlEntry>& user) {
    cluster_ = std::string(FindKey("cluster")->default_value);
    std::string context = "built-in default";
    for (const YamlEntry& entry : user) {
      if (entry.key != "cluster") continue;
      cluster_ = entry.value;
      context = inputs_.user_file + ":" + std::to_string(entry.line);
    }
    for (const KeyValue& item : command_line_) {
      if (item.key == "cluster") cluster_ = item.value, context = "--config";
    }
    if (!inputs_.cluster.empty()) cluster_ = inputs_.cluster, context = "the command line";
    if (IsClusterName(cluster_)) return Status::Ok();
    return InvalidArgument(context + ": \"" + cluster_.substr(0, 128) +
                           "\" is no name of a cluster: letters, digits, '_', '-' and '.'");
  }

  Status ReadClusterFile() {
    if (inputs_.config_folder.empty()) {
      if (cluster_ == "local") return Status::Ok();
      return NotFound("cluster \"" + cluster_ +
                      "\" is not known: the only one is local, unless HERON_CONFIG_FOLDER names a "
                      "folder with a folder of settings per cluster");
    }
    std::string file = inputs_.config_folder + "/" + cluster_ + "/cluster.yaml";
    Result<std::vector<YamlEntry>> read = ReadYamlFile(file);
    if (!read.ok()) {
      if (read.status().code() == StatusCode::kNotFound) {
        return NotFound("cluster \"" + cluster_ + "\" is not known: there is no " + file + "; " +
                        ClustersIn(inputs_.config_folder));
      }
      problems_.push_back(read.status().message());
      return Status::Ok();
    }
    for (const YamlEntry& entry : *read) PutEntry(entry, file, Source::kClusterFile);
    return Status::Ok();
  }

  // Variables, then the check of each value. heron.root first: others may use it.
  void ResolveAll() {
    Resolve("heron.root");
    root_resolved_ = true;
    for (auto& [key, value] : config_.values_) {
      if (key != "heron.root") Resolve(key);
    }
  }

  void Resolve(const std::string& key) {
    EffectiveValue& effective = config_.values_[key];
    // The shell has had its turn with the command line, and the environment's value is one already.
    if (effective.source != Source::kCommandLine && effective.source != Source::kEnvironment) {
      Result<std::string> replaced = Replace(effective.value);
      if (!replaced.ok()) {
        problems_.push_back(effective.where + ": " + key + ": " + replaced.status().message());
        return;
      }
      effective.value = std::move(*replaced);
    }
    const Key* known = FindKey(key);
    if (known == nullptr) return;
    Result<std::string> normal = Normalize(*known, effective.value);
    if (normal.ok()) {
      effective.value = std::move(*normal);
    } else {
      problems_.push_back(effective.where + ": " + normal.status().message());
      return;
    }
    if (key == "heron.root" && (effective.value.empty() || effective.value[0] != '/')) {
      problems_.push_back(effective.where + ": heron.root is \"" + effective.value +
                          "\"; it must be an absolute path");
    }
  }

  Result<std::string> Replace(const std::string& text) {
    std::string out;
    size_t at = 0;
    while (true) {
      size_t begin = text.find("${", at);
      out += text.substr(at, begin == std::string::npos ? begin : begin - at);
      if (begin == std::string::npos) return out;
      size_t end = text.find('}', begin);
      if (end == std::string::npos) return InvalidArgument("\"${\" has no \"}\"");
      std::string name = text.substr(begin + 2, end - begin - 2);
      std::optional<std::string> value = Variable(name);
      if (!value.has_value()) {
        return InvalidArgument("${" + name + "} is not set in the environment");
      }
      out += *value;
      at = end + 1;
    }
  }

  std::optional<std::string> Variable(const std::string& name) {
    if (name == "HERON_ROOT" && root_resolved_) return config_.values_["heron.root"].value;
    if (name == "CLUSTER") return cluster_;
    return environment_(name);
  }

  const ClusterConfigInputs& inputs_;
  std::function<std::optional<std::string>(const std::string&)> environment_;
  std::string cluster_;
  std::vector<KeyValue> command_line_;
  std::vector<std::string> problems_;
  bool root_resolved_ = false;
  ClusterConfig config_;
};

Result<ClusterConfig> ClusterConfig::Load(const ClusterConfigInputs& inputs) {
  return ClusterConfigLoader(inputs).Load();
}

std::string ClusterConfig::Get(const std::string& key) const {
  auto it = values_.find(key);
  return it == values_.end() ? "" : it->second.value;
}

int64_t ClusterConfig::GetNumber(const std::string& key) const {
  const Key* known = FindKey(key);
  if (known == nullptr) return 0;
  Result<int64_t> number = ParseNumber(*known, Get(key));  // was checked when loaded
  return number.ok() ? *number : 0;
}

std::map<std::string, EffectiveValue> ClusterConfig::TopologyValues(
    const std::map<std::string, std::string>& topology_config) const {
  std::map<std::string, EffectiveValue> out;
  auto passes = [](const std::string& key) {
    const Key* known = FindKey(key);
    return known == nullptr || known->scope == KeyScope::kTopology;
  };
  for (const auto& [key, value] : values_) {
    if (value.source != Source::kBuiltIn && passes(key)) out[key] = value;
  }
  for (const auto& [key, value] : topology_config) {
    // An old name is for the same thing as the new one, and must beat what a file says of that.
    const OldKey* old = FindOldKey(key);
    std::string now = old != nullptr ? std::string(old->now) : key;
    auto it = out.find(now);
    if (it != out.end() && it->second.source == Source::kCommandLine) continue;
    if (old != nullptr && topology_config.count(now) == 0) out.erase(now);
    out[key] = EffectiveValue{value, Source::kTopology, "the topology"};
  }
  return out;
}

std::map<std::string, std::string> ClusterConfig::TopologyConfig(
    const std::map<std::string, std::string>& topology_config) const {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : TopologyValues(topology_config)) out[key] = value.value;
  return out;
}

}  // namespace heron::settings
