// The command line of heron-supervisor.
#pragma once

#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/base/status.h"
#include "heron/settings/process_settings.h"
#include "heron/state/paths.h"

namespace scheduler::local {

struct SupervisorOptions {
  heron::state::TopologyKey key;
  std::string topology_id;
  std::string state_url;
  std::string secret_file;
  std::string engine_folder;    // heron-executor
  std::string program;          // the user's
  std::string topology_folder;  // supervisor.pid, supervisor.log, container-K
  std::vector<heron::ContainerId> containers;
  heron::settings::ProcessSettings settings;  // of the environment
};

// Removes what it knows from the arguments. InvalidArgument names the flag that is missing or
// wrong.
heron::Result<SupervisorOptions> ParseSupervisorOptions(int* argc, char*** argv);

}  // namespace scheduler::local
