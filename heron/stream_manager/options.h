// What heron-stream-manager must be told.
#pragma once

#include <string>

#include "heron/base/ids.h"
#include "heron/settings/process_settings.h"
#include "heron/state/paths.h"

namespace heron::stream_manager {

struct Options {
  state::TopologyKey topology;
  std::string topology_id;
  std::string state_url;
  ContainerId container = 0;
  std::string secret_file;
  std::string executor_host;  // where the executor listens; this process listens on the same address
  uint16_t executor_port = 0;
  Epoch epoch;
  settings::ProcessSettings settings;  // of the environment
};

}  // namespace heron::stream_manager
