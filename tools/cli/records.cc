#include "tools/cli/records.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <set>
#include <tuple>

#include "heron/model/nearest_hint.h"

namespace tools::cli {
namespace {

using heron::Result;
using heron::Status;
using heron::state::StateStore;
using heron::state::TopologyKey;

constexpr const char* kTrees[] = {"/desired",        "/topologies", "/packingplans",
                                  "/executionstate", "/pplans",     "/tmasters"};

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace

std::vector<std::string> NodesOf(const TopologyKey& key) {
  return {heron::state::MasterPath(key),       heron::state::ExecutionStatePath(key),
          heron::state::PhysicalPlanPath(key), heron::state::PackingPlanPath(key),
          heron::state::TopologyPath(key),     heron::state::DesiredPath(key)};
}

Result<std::vector<TopologyKey>> ListTopologies(StateStore& store) {
  std::set<std::tuple<std::string, std::string, std::string>> found;
  for (const std::string tree : kTrees) {
    Result<std::vector<std::string>> roles = store.List(tree);
    if (!roles.ok()) return roles.status();
    for (const std::string& role : *roles) {
      Result<std::vector<std::string>> envs = store.List(tree + "/" + role);
      if (!envs.ok()) return envs.status();
      for (const std::string& env : *envs) {
        Result<std::vector<std::string>> names = store.List(tree + "/" + role + "/" + env);
        if (!names.ok()) return names.status();
        for (const std::string& name : *names) found.emplace(role, env, name);
      }
    }
  }
  std::vector<TopologyKey> keys;
  for (const auto& [role, env, name] : found) keys.push_back({role, env, name});
  return keys;
}

Status NoSuchTopology(StateStore& store, const std::string& cluster, const TopologyKey& key) {
  const std::string message =
      "no topology '" + key.name + "' of " + key.role + "/" + key.env + " in cluster " + cluster;
  Result<std::vector<TopologyKey>> all = ListTopologies(store);
  if (!all.ok()) return heron::NotFound(message);
  std::vector<std::string> names;
  for (const TopologyKey& other : *all) {
    if (other.name == key.name) {
      return heron::NotFound(message + "; there is one of " + other.role + "/" + other.env +
                             ": write " + cluster + "/" + other.role + "/" + other.env + " " +
                             other.name);
    }
    if (other.role == key.role && other.env == key.env) names.push_back(other.name);
  }
  if (names.empty()) return heron::NotFound(message + "; see: heron topologies");
  return heron::NotFound(message + heron::model::NearestHint(key.name, names));
}

Result<std::string> CurrentId(StateStore& store, const std::string& cluster,
                              const TopologyKey& key) {
  auto desired = ReadDesired(store, key);
  if (!desired.ok()) return desired.status();
  if (*desired && !(*desired)->value.topology_id().empty()) return (*desired)->value.topology_id();
  auto submitted = ReadSubmitted(store, key);
  if (!submitted.ok()) return submitted.status();
  if (*submitted) return (*submitted)->value.topology_id();
  auto execution = ReadExecution(store, key);
  if (!execution.ok()) return execution.status();
  if (*execution) return (*execution)->value.topology_id();
  return NoSuchTopology(store, cluster, key);
}

bool MayBeAlive(const std::string& by) {
  const size_t at = by.rfind('@');
  const size_t colon = by.rfind(':');
  if (at == std::string::npos || colon == std::string::npos || colon < at) return true;
  if (by.substr(at + 1, colon - at - 1) != HostName()) return true;
  int pid = 0;
  const char* const end = by.data() + by.size();
  const auto [rest, error] = std::from_chars(by.data() + colon + 1, end, pid);
  if (error != std::errc() || rest != end || pid <= 0) return true;
  return kill(pid, 0) == 0 || errno == EPERM;
}

std::string ThisProcess(const std::string& user) {
  return user + "@" + HostName() + ":" + std::to_string(getpid());
}

}  // namespace tools::cli
