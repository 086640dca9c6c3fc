#include "scheduler/local/supervisor_options.h"

#include <gflags/gflags.h>

#include <initializer_list>

#include "heron/base/version.h"
#include "scheduler/local/container_list.h"

DEFINE_string(topology, "", "Name of the topology");
DEFINE_string(topology_id, "", "Id of the topology, unique for ever");
DEFINE_string(role, "", "Role the topology belongs to");
DEFINE_string(env, "", "Environment the topology belongs to");
DEFINE_string(state, "", "State store, for example file:/path");
DEFINE_string(secret_file, "", "File of mode 0600 with the topology's secret");
DEFINE_string(engine_folder, "", "Folder of the engine's executables");
DEFINE_string(program, "", "The user's program");
DEFINE_string(topology_folder, "", "Folder for supervisor.pid and the containers' folders");
DEFINE_string(containers, "", "Ids of the containers, for example 0,1,2");

namespace scheduler::local {

using heron::ContainerId;
using heron::InvalidArgument;
using heron::Result;

Result<SupervisorOptions> ParseSupervisorOptions(int* argc, char*** argv) {
  gflags::SetVersionString(heron::kEngineVersion);
  gflags::ParseCommandLineFlags(argc, argv, true);
  if (*argc > 1) return InvalidArgument("unexpected argument '" + std::string((*argv)[1]) + "'");
  const std::initializer_list<std::pair<const char*, const std::string*>> required = {
      {"--topology", &FLAGS_topology},
      {"--topology_id", &FLAGS_topology_id},
      {"--role", &FLAGS_role},
      {"--env", &FLAGS_env},
      {"--state", &FLAGS_state},
      {"--secret_file", &FLAGS_secret_file},
      {"--engine_folder", &FLAGS_engine_folder},
      {"--program", &FLAGS_program},
      {"--topology_folder", &FLAGS_topology_folder}};
  for (const auto& [flag, value] : required) {
    if (value->empty()) return InvalidArgument(std::string(flag) + " is missing");
  }
  Result<std::vector<ContainerId>> containers = ParseContainers(FLAGS_containers);
  if (!containers.ok()) return containers.status();
  auto settings = heron::settings::OwnProcessSettings();
  if (!settings.ok()) return settings.status();
  SupervisorOptions options;
  options.settings = *settings;
  options.key = {FLAGS_role, FLAGS_env, FLAGS_topology};
  options.topology_id = FLAGS_topology_id;
  options.state_url = FLAGS_state;
  options.secret_file = FLAGS_secret_file;
  options.engine_folder = FLAGS_engine_folder;
  options.program = FLAGS_program;
  options.topology_folder = FLAGS_topology_folder;
  options.containers = std::move(containers).value();
  return options;
}

}  // namespace scheduler::local
