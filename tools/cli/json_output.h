// What `--output json` prints. The schema is in README.md; json_output_test.cc holds it to that.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "proto/plan.pb.h"
#include "proto/state.pb.h"
#include "tools/cli/cluster.h"
#include "tools/cli/config_show.h"
#include "tools/cli/doctor.h"
#include "tools/cli/topologies.h"

namespace tools::cli {

// kill, activate, deactivate: {"name", "role", "env", "state"}.
std::string DoneJson(const heron::state::TopologyKey& key, const std::string& state);

// submit, wait: the same with "id", "incomplete".
std::string StateJson(const heron::state::TopologyKey& key, const std::string& topology_id,
                      const heron::proto::ExecutionState& state);

// submit --dry-run: {"name", "role", "env", "containers": [{"container", "tasks": [...]}]}.
std::string PlanJson(const heron::state::TopologyKey& key, const heron::proto::PackingPlan& plan);

// topologies: {"cluster", "topologies": [...]}.
std::string TopologiesJson(const std::string& cluster, const std::vector<TopologyRow>& rows);

// cluster start, cluster stop: {"cluster", "topologies": [{"name", "role", "env", "did",
// "detail"}]}.
std::string ClusterStepsJson(const std::string& cluster, const std::vector<ClusterStep>& steps);

// cluster status: {"cluster", "folder", "state_store", "state_error", "topologies": {STATE: count},
// "processes", "disk_free_bytes"}.
std::string ClusterFactsJson(const std::string& cluster, const ClusterFacts& facts);

// config show: {"cluster", "keys": [{"key", "value", "unit", "type", "scope", "source", "where"}]}.
std::string ConfigJson(const std::string& cluster, const std::vector<ConfigRow>& rows);

// doctor: {"problems", "warnings", "checks": [{"name", "verdict", "seen", "remedy"}]}.
std::string DoctorJson(const std::vector<Check>& checks);

// version: {"version", "commit"}.
std::string VersionJson(const std::string& version, const std::string& commit);

// Any command that fails: {"error": {"code", "message"}}.
std::string ErrorJson(const heron::Status& status);

}  // namespace tools::cli
