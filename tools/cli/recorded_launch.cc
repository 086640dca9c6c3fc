#include "tools/cli/recorded_launch.h"

#include <filesystem>
#include <map>

#include "heron/base/random.h"
#include "heron/settings/process_settings.h"
#include "scheduler/uploader/local_folder.h"
#include "tools/cli/records.h"

namespace tools::cli {

using heron::FailedPrecondition;
using heron::Result;
using heron::Status;

namespace {

Status CheckThere(const Cli& cli, const heron::state::TopologyKey& key, const std::string& what,
                  const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return Status::Ok();
  return FailedPrecondition(what + " of " + key.name + " is gone (" + path +
                            "); submit it again, after: " + CommandText(cli, "kill", key));
}

}  // namespace

Result<std::string> ProcessSettingsOf(const heron::proto::Topology& topology,
                                      const heron::settings::ClusterConfig& config) {
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : config.values()) values[key] = value.value;
  // What the topology runs with already has the cluster's defaults in it.
  for (const auto& [key, value] : topology.config()) values[key] = value;
  return heron::settings::FormatProcessSettings(values);
}

Result<scheduler::LaunchRequest> RecordedLaunch(Cli& cli, const heron::state::TopologyKey& key,
                                                const std::string& topology_id,
                                                const heron::settings::ClusterConfig& config) {
  auto submitted = ReadSubmitted(*cli.store, key);
  if (!submitted.ok()) return submitted.status();
  auto plan = ReadPlan(*cli.store, key);
  if (!plan.ok()) return plan.status();
  if (!*submitted || !*plan || (*submitted)->value.topology_id() != topology_id) {
    return FailedPrecondition("the records of " + key.name + " are not complete (" +
                              (*submitted && *plan ? "they are of another id" : "no plan") +
                              "); submit it again, after: " + CommandText(cli, "kill", key));
  }
  const heron::proto::SubmittedTopology& topology = (*submitted)->value;
  scheduler::LaunchRequest request;
  request.key = key;
  request.topology_id = topology_id;
  request.state_url = config.state_url();
  request.packing_plan = (*plan)->value;
  request.engine_folder = cli.packages->EngineFolder(topology.engine_sha256());
  request.program_path =
      cli.packages->ProgramFolder(topology.program_sha256()) + "/" + topology.program_name();
  request.secret = heron::RandomBytes(32);
  HERON_RETURN_IF_ERROR(CheckThere(cli, key, "the program", request.program_path));
  HERON_RETURN_IF_ERROR(CheckThere(cli, key, "the engine", request.engine_folder));
  auto settings = ProcessSettingsOf(topology.topology(), config);
  if (!settings.ok()) return settings.status();
  request.process_settings = *settings;
  return request;
}

}  // namespace tools::cli
