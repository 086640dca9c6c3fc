#include "heron/executor/parse_options.h"

#include <gflags/gflags.h>

#include <initializer_list>

#include "heron/base/version.h"

DEFINE_string(topology, "", "Name of the topology");
DEFINE_string(topology_id, "", "Id of the topology, unique for ever");
DEFINE_string(role, "", "Role the topology belongs to");
DEFINE_string(env, "", "Environment the topology belongs to");
DEFINE_string(state, "", "State store, for example file:/path");
DEFINE_int32(container, -1, "Id of the container; 0 runs the topology master");
DEFINE_string(secret_file, "", "File of mode 0600 with the topology's secret");
DEFINE_string(engine_folder, "", "Folder of the engine's executables");
DEFINE_string(program, "", "The user's program");
DEFINE_string(container_folder, "", "Folder for the container's logs");
DEFINE_string(supervisor_folder, "",
              "Folder of the supervisor, to start another one when it dies; empty: there is none");
DEFINE_string(bind_host, "127.0.0.1", "Address to listen on for the container's processes");

namespace heron::executor {

Result<Options> ParseOptions(int* argc, char*** argv) {
  gflags::SetVersionString(kEngineVersion);
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
      {"--container_folder", &FLAGS_container_folder},
      {"--bind_host", &FLAGS_bind_host}};
  for (const auto& [flag, value] : required) {
    if (value->empty()) return InvalidArgument(std::string(flag) + " is missing");
  }
  if (FLAGS_container < 0) return InvalidArgument("--container must be 0 or more");
  auto settings = settings::OwnProcessSettings();
  if (!settings.ok()) return settings.status();
  Options options;
  options.settings = *settings;
  options.key = {FLAGS_role, FLAGS_env, FLAGS_topology};
  options.topology_id = FLAGS_topology_id;
  options.state_url = FLAGS_state;
  options.container = FLAGS_container;
  options.secret_file = FLAGS_secret_file;
  options.engine_folder = FLAGS_engine_folder;
  options.program = FLAGS_program;
  options.container_folder = FLAGS_container_folder;
  options.supervisor_folder = FLAGS_supervisor_folder;
  options.bind_host = FLAGS_bind_host;
  return options;
}

}  // namespace heron::executor
