#include "heron/stream_manager/parse_options.h"

#include <gflags/gflags.h>

#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "heron/base/version.h"
#include "heron/net/connection.h"

DEFINE_string(topology, "", "Name of the topology");
DEFINE_string(topology_id, "", "Id of the topology, unique for ever");
DEFINE_string(role, "", "Role the topology belongs to");
DEFINE_string(env, "", "Environment the topology belongs to");
DEFINE_string(state, "", "State store, for example file:/path");
DEFINE_int32(container, -1, "Id of the container, from 1");
DEFINE_string(secret_file, "", "File of mode 0600 with the topology's secret");
DEFINE_string(executor, "", "HOST:PORT of the container's executor");
DEFINE_string(epoch, "", "INCARNATION.RESTART of this process");

namespace heron::stream_manager {
namespace {

bool ParseNumber(std::string_view text, uint64_t* out) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *out);
  return error == std::errc() && rest == end && !text.empty();
}

bool ParseEpoch(std::string_view text, Epoch* out) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  return ParseNumber(text.substr(0, dot), &out->incarnation) &&
         ParseNumber(text.substr(dot + 1), &out->restart);
}

}  // namespace

Result<Options> ParseOptions(int* argc, char*** argv) {
  gflags::SetVersionString(kEngineVersion);
  gflags::ParseCommandLineFlags(argc, argv, true);
  if (*argc > 1) return InvalidArgument("unexpected argument '" + std::string((*argv)[1]) + "'");
  const std::initializer_list<std::pair<const char*, const std::string*>> required = {
      {"--topology", &FLAGS_topology}, {"--topology_id", &FLAGS_topology_id},
      {"--role", &FLAGS_role},         {"--env", &FLAGS_env},
      {"--state", &FLAGS_state},       {"--secret_file", &FLAGS_secret_file},
      {"--executor", &FLAGS_executor}, {"--epoch", &FLAGS_epoch}};
  for (const auto& [flag, value] : required) {
    if (value->empty()) return InvalidArgument(std::string(flag) + " is missing");
  }
  if (FLAGS_container < 1) return InvalidArgument("--container must be 1 or more");
  auto settings = settings::OwnProcessSettings();
  if (!settings.ok()) return settings.status();
  Options options;
  options.settings = *settings;
  options.topology = {FLAGS_role, FLAGS_env, FLAGS_topology};
  options.topology_id = FLAGS_topology_id;
  options.state_url = FLAGS_state;
  options.container = FLAGS_container;
  options.secret_file = FLAGS_secret_file;
  auto executor = net::ParseHostPort(FLAGS_executor);
  if (!executor.ok()) return executor.status().WithContext("--executor");
  options.executor_host = executor->first;
  options.executor_port = executor->second;
  if (!ParseEpoch(FLAGS_epoch, &options.epoch) || options.epoch.incarnation == 0) {
    return InvalidArgument("--epoch must be INCARNATION.RESTART, for example 1.0, and not '" +
                           FLAGS_epoch + "'");
  }
  return options;
}

}  // namespace heron::stream_manager
