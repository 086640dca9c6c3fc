// What heron-topology-master must be told.
#pragma once

#include <cstdint>
#include <string>

#include "heron/base/ids.h"
#include "heron/settings/process_settings.h"
#include "heron/state/paths.h"

namespace heron::topology_master {

struct Options {
  state::TopologyKey key;
  std::string topology_id;
  std::string state_url;
  ContainerId container = 0;  // whose executor is its parent
  std::string secret_file;
  std::string executor_host;
  uint16_t executor_port = 0;
  std::string bind_host = "127.0.0.1";
  settings::ProcessSettings settings;  // of the environment
};

}  // namespace heron::topology_master
