// The command `heron config show`: every setting, its value in effect and where that was said.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "heron/settings/cluster_config.h"
#include "tools/cli/context.h"

namespace tools::cli {

// A line of the table.
struct ConfigRow {
  std::string key;
  std::string value;
  std::string unit;  // "ms", "us", "bytes" or ""
  std::string type;
  std::string scope;   // "cluster", "topology"
  std::string source;  // "built-in", "environment", "cluster file", "user file", "command line"
  std::string where;   // "built-in default", "FILE:LINE", ...
};

// `key` empty: all keys. Uses only the streams of the context. NotFound names the nearest key.
heron::Status ConfigShowCommand(Cli& cli, const heron::settings::ClusterConfig& config,
                                const std::string& key);

}  // namespace tools::cli
