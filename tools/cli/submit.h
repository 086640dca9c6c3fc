// The command `heron submit`: from a program to running containers. Whatever fails, everything done
// before is undone in reverse order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heron/base/status.h"
#include "heron/settings/cluster_config.h"
#include "heron/state/paths.h"
#include "tools/cli/context.h"
#include "tools/cli/definition.h"
#include "tools/cli/describe.h"
#include "tools/cli/wait.h"

namespace tools::cli {

struct SubmitOptions {
  heron::state::TopologyKey key;
  std::string program;
  std::vector<std::string> arguments;  // after --
  Overrides overrides;
  std::optional<WaitOptions> wait;
  bool deploy_deactivated = false;
  bool dry_run = false;
  DescribeOptions describe;
  std::vector<std::string> engine;  // the executables of the engine
  std::string state_url;
  std::string user;
  std::string working_folder;
  std::string engine_version;
};

heron::Status SubmitCommand(Cli& cli, const SubmitOptions& options,
                            const heron::settings::ClusterConfig& config);

}  // namespace tools::cli
