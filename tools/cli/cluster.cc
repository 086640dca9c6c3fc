#include "tools/cli/cluster.h"

#include <filesystem>

#include "heron/state/state_store.h"
#include "scheduler/scheduler.h"
#include "tools/cli/json_output.h"
#include "tools/cli/records.h"
#include "tools/cli/restart.h"
#include "tools/cli/topologies.h"

namespace tools::cli {
namespace {

using heron::Result;
using heron::Status;
using heron::state::TopologyKey;

std::string CountText(int number, const std::string& what, const std::string& plural) {
  return std::to_string(number) + " " + (number == 1 ? what : plural);
}

std::string NameText(const Cli& cli, const TopologyKey& key) {
  const bool by_default = key.role == cli.default_role && key.env == cli.default_env;
  return by_default ? key.name : key.ToString();
}

// As each is done, so that a long command is not silent.
void Say(const Cli& cli, const ClusterStep& step) {
  const std::string what = step.did == "nothing" ? step.detail
                           : step.detail.empty() ? step.did
                                                 : step.did + ", " + step.detail;
  *cli.err << NameText(cli, step.key) << ": " << what << std::endl;
}

Status Report(const Cli& cli, const std::vector<ClusterStep>& steps, const std::string& did,
              const std::string& nothing) {
  int done = 0, failed = 0;
  for (const ClusterStep& step : steps) {
    done += step.did == did ? 1 : 0;
    failed += step.did == "failed" ? 1 : 0;
  }
  if (cli.json) *cli.out << ClusterStepsJson(cli.cluster, steps) << std::endl;
  if (failed > 0) {
    return heron::FailedPrecondition(CountText(failed, "topology was", "topologies were") +
                                     " not " + did + "; the causes stand above");
  }
  if (!cli.json) {
    *cli.out << (done == 0 ? "nothing to do: " + nothing
                           : did + " " + CountText(done, "topology", "topologies"))
             << std::endl;
  }
  return Status::Ok();
}

ClusterStep StartOne(Cli& cli, const TopologyKey& key,
                     const heron::settings::ClusterConfig& config) {
  Result<TopologyRow> row = ReadTopologyRow(cli, key);
  if (!row.ok()) return {key, "failed", row.status().message()};
  if (row->state != "LOST") {
    const bool advice = row->state == "SUBMITTING" || row->state == "KILLING";
    return {key, "nothing",
            row->state + (advice && !row->reason.empty() ? ": " + row->reason : "")};
  }
  const Result<std::string> restarted = RestartWhole(cli, key, config);
  if (!restarted.ok()) return {key, "failed", restarted.status().message()};
  return {key, "restarted", "it was LOST"};
}

int64_t DiskFree(std::filesystem::path folder) {
  std::error_code error;
  while (!std::filesystem::exists(folder, error) && folder.has_parent_path() &&
         folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  const auto space = std::filesystem::space(folder, error);
  return error ? -1 : static_cast<int64_t>(space.available);
}

std::string BytesText(int64_t bytes) {
  if (bytes < 0) return "not known";
  constexpr int64_t kMegabyte = 1 << 20;
  if (bytes < 10 * 1024 * kMegabyte) return std::to_string(bytes / kMegabyte) + " MiB";
  return std::to_string(bytes / (1024 * kMegabyte)) + " GiB";
}

void PrintFacts(const Cli& cli, const ClusterFacts& facts) {
  std::string topologies;
  for (const auto& [state, number] : facts.topologies) {
    topologies += (topologies.empty() ? "" : ", ") + std::to_string(number) + " " + state;
  }
  *cli.out << "cluster:     " << cli.cluster << "\n"
           << "folder:      " << facts.folder << "\n"
           << "state store: " << facts.state_store << ", "
           << (facts.state_error.empty() ? "readable" : facts.state_error) << "\n"
           << "topologies:  " << (topologies.empty() ? "none" : topologies) << "\n"
           << "processes:   " << facts.processes << "\n"
           << "disk free:   " << BytesText(facts.disk_free_bytes) << std::endl;
}

}  // namespace

Status ClusterStartCommand(Cli& cli, const heron::settings::ClusterConfig& config) {
  Result<std::vector<TopologyKey>> keys = ListTopologies(*cli.store);
  if (!keys.ok()) return keys.status();
  std::vector<ClusterStep> steps;
  for (const TopologyKey& key : *keys) {
    if (cli.interrupted()) return heron::FailedPrecondition("interrupted");
    steps.push_back(StartOne(cli, key, config));
    Say(cli, steps.back());
  }
  return Report(
      cli, steps, "restarted",
      keys->empty() ? "there are no topologies in cluster " + cli.cluster : "none of them is LOST");
}

Status ClusterStopCommand(Cli& cli) {
  auto running = cli.scheduler->Running();
  if (!running.ok()) return running.status();
  std::vector<ClusterStep> steps;
  for (const scheduler::RunningTopology& topology : *running) {
    if (cli.interrupted()) return heron::FailedPrecondition("interrupted");
    const Status stopped = cli.scheduler->Stop(topology.key, topology.topology_id);
    steps.push_back(
        {topology.key, stopped.ok() ? "stopped" : "failed",
         stopped.ok() ? CountText(topology.processes, "process", "processes") : stopped.message()});
    Say(cli, steps.back());
  }
  return Report(cli, steps, "stopped", "no topology of cluster " + cli.cluster + " has a process");
}

Status ClusterStatusCommand(Cli& cli, const heron::settings::ClusterConfig& config) {
  ClusterFacts facts;
  facts.folder = config.heron_root() + "/" + config.cluster();
  facts.state_store = config.state_url();
  facts.disk_free_bytes = DiskFree(facts.folder);
  auto running = cli.scheduler->Running();
  if (!running.ok()) return running.status();
  for (const auto& topology : *running) facts.processes += topology.processes;
  if (!heron::state::StateStoreExists(facts.state_store)) {
    facts.state_error = "not made yet (the first submit does it)";
  } else {
    Result<std::vector<TopologyKey>> keys = ListTopologies(*cli.store);
    if (!keys.ok()) facts.state_error = keys.status().message();
    for (size_t i = 0; keys.ok() && i < keys->size(); ++i) {
      Result<TopologyRow> row = ReadTopologyRow(cli, (*keys)[i]);
      ++facts.topologies[row.ok() ? row->state : "LOST"];
    }
  }
  if (cli.json) {
    *cli.out << ClusterFactsJson(cli.cluster, facts) << std::endl;
  } else {
    PrintFacts(cli, facts);
  }
  return Status::Ok();
}

}  // namespace tools::cli
