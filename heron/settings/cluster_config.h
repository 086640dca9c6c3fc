// The configuration of a cluster, put together from
//   built-in defaults < CONFIG_FOLDER/CLUSTER/cluster.yaml < the user's config.yaml < topology
//   config < command line.
// Each effective value knows where it came from. Files are flat or nested maps of the keys in
// keys.h ("heron.state.url: x" and "heron: {state: {url: x}}" are the same); unknown keys and bad
// values are errors with file and line.
//
// "${NAME}" in a value of a file is replaced by the variable of the environment; ${HERON_ROOT} is
// the value of heron.root, and
// ${CLUSTER} the cluster's name. One that is not set is an error with file and line.
//
// Threads: immutable once loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heron/base/status.h"

namespace heron::settings {

enum class Source { kBuiltIn, kEnvironment, kClusterFile, kUserFile, kTopology, kCommandLine };

struct EffectiveValue {
  std::string value;
  Source source = Source::kBuiltIn;
  // For people: "built-in default", "config/local/cluster.yaml:12", "the topology", "the command
  // line".
  std::string where;
};

struct ClusterConfigInputs {
  // The --cluster flag or positional argument; empty: `cluster` of the user file, then "local".
  std::string cluster;
  // Folder with one folder per cluster. Empty: no cluster file, "local" only.
  std::string config_folder;
  // ~/.heron/config.yaml. Empty or absent: none. What it says of heron.root wins over the
  // environment's HERON_ROOT.
  std::string user_file;
  // "key=value" each, of --config.
  std::vector<std::string> command_line;
  // Default: getenv.
  std::function<std::optional<std::string>(const std::string&)> environment;
};

class ClusterConfig {
 public:
  // kInvalidArgument lists all problems at once. kNotFound: no such cluster; names those there are.
  static Result<ClusterConfig> Load(const ClusterConfigInputs& inputs);

  const std::string& cluster() const { return cluster_; }
  std::string heron_root() const { return Get("heron.root"); }
  std::string state_url() const { return Get("heron.state.url"); }
  int64_t describe_timeout_ms() const { return GetNumber("heron.submit.describe.timeout.ms"); }
  int64_t submit_timeout_ms() const { return GetNumber("heron.submit.timeout.ms"); }

  // The effective value of any key in the table, or of a user key of the command line; empty when
  // there is none.
  std::string Get(const std::string& key) const;
  // Of a numeric key in the table.
  int64_t GetNumber(const std::string& key) const;

  // Everything, built-in defaults included, sorted by key.
  const std::map<std::string, EffectiveValue>& values() const { return values_; }

  // What a topology runs with: its own config over the topology keys of the files, under those of
  // the command line. Built-in defaults are left out: the engine knows them. User keys pass. Not
  // yet checked: see ParseTopologySettings.
  std::map<std::string, EffectiveValue> TopologyValues(
      const std::map<std::string, std::string>& topology_config) const;
  std::map<std::string, std::string> TopologyConfig(
      const std::map<std::string, std::string>& topology_config) const;

  // One line each, for the user.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  friend class ClusterConfigLoader;
  ClusterConfig() = default;

  std::string cluster_;
  std::map<std::string, EffectiveValue> values_;
  std::vector<std::string> notices_;
};

}  // namespace heron::settings
