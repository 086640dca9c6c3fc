// What heron-executor must be told.
#pragma once

#include <string>

#include "heron/base/ids.h"
#include "heron/settings/process_settings.h"
#include "heron/state/paths.h"

namespace heron::executor {

struct Options {
  state::TopologyKey key;
  std::string topology_id;
  std::string state_url;
  ContainerId container = 0;
  std::string secret_file;
  std::string engine_folder;      // heron-topology-master, heron-stream-manager
  std::string program;            // the user's
  std::string container_folder;   // logs; made if missing
  std::string supervisor_folder;  // empty: there is no supervisor to watch
  std::string bind_host = "127.0.0.1";
  settings::ProcessSettings settings;  // of the environment
};

}  // namespace heron::executor
