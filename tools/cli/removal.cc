#include "tools/cli/removal.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tools::cli {
namespace {

using heron::Result;
using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::state::TopologyKey;

// Others write the same nodes; each try that is lost means that one of them went on.
constexpr int kTries = 20;
constexpr heron::Duration kPackagesLockTime = std::chrono::seconds(2);

// What there is of one name.
struct Nodes {
  std::map<std::string, int64_t> versions;  // by path, without /desired
  std::optional<Stored<DesiredState>> desired;
  std::set<std::string> ids;  // of the nodes, and of processes that no node tells of
};

template <typename Message>
void AddId(const std::string& bytes, std::set<std::string>* ids) {
  Message message;
  // Damaged ones are removed all the same.
  if (message.ParseFromString(bytes) && !message.topology_id().empty()) {
    ids->insert(message.topology_id());
  }
}

Result<Nodes> ReadNodes(Cli& cli, const TopologyKey& key) {
  Nodes nodes;
  // Before /desired, which is read last: what ran while the fence still stood is none of a newer
  // topology.
  auto running = cli.scheduler->Running();
  if (!running.ok()) return running.status();
  for (const scheduler::RunningTopology& topology : *running) {
    if (topology.key.ToString() == key.ToString()) nodes.ids.insert(topology.topology_id);
  }
  for (const std::string& path : NodesOf(key)) {
    auto node = cli.store->Get(path);
    if (!node.ok()) {
      if (node.status().code() == StatusCode::kNotFound) continue;
      return node.status();
    }
    if (path == heron::state::DesiredPath(key)) {
      nodes.desired = Stored<DesiredState>{{}, node->version};
      // A damaged one counts as there, with no id.
      if (!nodes.desired->value.ParseFromString(node->value)) nodes.desired->value.Clear();
      AddId<DesiredState>(node->value, &nodes.ids);
      continue;
    }
    nodes.versions[path] = node->version;
    if (path == heron::state::TopologyPath(key)) {
      AddId<heron::proto::SubmittedTopology>(node->value, &nodes.ids);
    } else if (path == heron::state::ExecutionStatePath(key)) {
      AddId<heron::proto::ExecutionState>(node->value, &nodes.ids);
    } else if (path == heron::state::PhysicalPlanPath(key)) {
      AddId<heron::proto::PhysicalPlan>(node->value, &nodes.ids);
    } else if (path == heron::state::MasterPath(key)) {
      auto lease = cli.store->ReadLease(path);
      if (lease.ok()) AddId<heron::proto::MasterLocation>(lease->payload, &nodes.ids);
    }
  }
  return nodes;
}

DesiredState Killing(const Cli& cli, const std::string& id) {
  DesiredState killing;
  killing.set_topology_id(id);
  killing.set_desire(DesiredState::KILLING);
  killing.set_by(cli.by);
  killing.set_since_unix_ms(cli.clock->UnixMillis());
  return killing;
}

// Raises the fence; the version of the KILLING record. VersionMismatch and AlreadyExists: try
// again.
Result<int64_t> Fence(Cli& cli, const TopologyKey& key, const Nodes& nodes) {
  const std::string path = heron::state::DesiredPath(key);
  if (nodes.desired && nodes.desired->value.desire() == DesiredState::KILLING) {
    return nodes.desired->version;
  }
  std::string id;
  if (nodes.desired) id = nodes.desired->value.topology_id();
  if (id.empty() && !nodes.ids.empty()) id = *nodes.ids.begin();
  const std::string killing = Killing(cli, id).SerializeAsString();
  if (nodes.desired) return cli.store->Set(path, killing, nodes.desired->version);
  return cli.store->Create(path, killing);
}

Status EndProcesses(Cli& cli, const TopologyKey& key, const std::set<std::string>& ids) {
  for (const std::string& id : ids) {
    HERON_RETURN_IF_ERROR(cli.scheduler->Kill(key, id).WithContext("cannot end all processes"));
    auto left = cli.scheduler->Processes(id);
    if (!left.ok()) return left.status();
    if (!left->empty()) {
      return heron::FailedPrecondition(
          "still alive after the kill: " + left->front().what + " (pid " +
          std::to_string(left->front().pid) + ")" +
          (left->size() > 1 ? " and " + std::to_string(left->size() - 1) + " more" : "") +
          "; run the kill again");
    }
  }
  return Status::Ok();
}

bool IsLostRace(const Status& status) {
  return status.code() == StatusCode::kVersionMismatch ||
         status.code() == StatusCode::kAlreadyExists || status.code() == StatusCode::kNotFound;
}

// Behind the fence of this version. VersionMismatch: look at the nodes again.
Status RemoveBehindFence(Cli& cli, const TopologyKey& key, int64_t fence) {
  Result<Nodes> nodes = ReadNodes(cli, key);
  if (!nodes.ok()) return nodes.status();
  if (!nodes->desired) return Status::Ok();  // another kill went through
  if (nodes->desired->version != fence) {
    return heron::VersionMismatch(key.ToString() + " has changed meanwhile");
  }
  HERON_RETURN_IF_ERROR(EndProcesses(cli, key, nodes->ids));
  // Read again: the dead may have written before they died. Then the fence again: as long as it has
  // not changed, no new topology can have begun, so the versions read before are of the old one,
  // and only those are deleted.
  const std::set<std::string> ended = nodes->ids;
  nodes = ReadNodes(cli, key);
  if (!nodes.ok()) return nodes.status();
  // Those that had processes only are not found any more.
  nodes->ids.insert(ended.begin(), ended.end());
  auto desired = ReadDesired(*cli.store, key);
  if (!desired.ok()) return desired.status();
  if (!*desired) return Status::Ok();  // another kill went through
  if ((*desired)->version != fence || nodes->ids != ended) {
    return heron::VersionMismatch("the records of " + key.ToString() + " change all the time");
  }
  for (const std::string& id : ended) {
    HERON_RETURN_IF_ERROR(cli.scheduler->CleanUp(key, id, /*keep_logs=*/false));
  }
  for (const auto& [path, version] : nodes->versions) {
    const Status deleted = cli.store->Delete(path, version);
    if (!deleted.ok() && deleted.code() != StatusCode::kNotFound) return deleted;
  }
  const Status deleted = cli.store->Delete(heron::state::DesiredPath(key), fence);
  return deleted.code() == StatusCode::kNotFound ? Status::Ok() : deleted;
}

Status Remove(Cli& cli, const TopologyKey& key, const Stored<DesiredState>* seen,
              Progress& progress, Sweep sweep) {
  bool fenced = false;  // by us, or found so
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Result<Nodes> nodes = ReadNodes(cli, key);
    if (!nodes.ok()) return nodes.status();
    const bool killing = nodes->desired && nodes->desired->value.desire() == DesiredState::KILLING;
    // Another kill went through; what is there now, if anything, is a new topology.
    if (fenced && !killing) return Status::Ok();
    if (!nodes->desired && nodes->versions.empty() && nodes->ids.empty()) {
      return NoSuchTopology(*cli.store, cli.cluster, key);
    }
    if (seen != nullptr && !fenced &&
        (!nodes->desired || nodes->desired->version != seen->version)) {
      return heron::VersionMismatch(key.ToString() + " has changed meanwhile");
    }
    progress.Step("ending", key.ToString());
    Result<int64_t> fence = Fence(cli, key, *nodes);
    if (!fence.ok()) {
      if (IsLostRace(fence.status())) continue;
      return fence.status();
    }
    fenced = true;
    const Status removed = RemoveBehindFence(cli, key, *fence);
    if (removed.ok()) {
      progress.Step("removing", "records, logs and packages");
      if (sweep == Sweep::kYes) SweepPackages(cli, progress);
      progress.Finish();
      return removed;
    }
    if (!IsLostRace(removed)) return removed;
    cli.sleep(kPollInterval);
  }
  return heron::Unavailable("the records of " + key.ToString() +
                            " change all the time; run the kill again");
}

}  // namespace

Status EndAndRemove(Cli& cli, const TopologyKey& key, Progress& progress) {
  return Remove(cli, key, nullptr, progress, Sweep::kYes);
}

Status EndAndRemoveIf(Cli& cli, const TopologyKey& key, const Stored<DesiredState>& seen,
                      Progress& progress, Sweep sweep) {
  return Remove(cli, key, &seen, progress, sweep);
}

void SweepPackages(Cli& cli, Progress& progress) {
  auto lock = cli.packages->LockAlone(kPackagesLockTime);
  if (!lock.ok()) {
    progress.Note("note: unused packages stay until the next kill: " + lock.status().message());
    return;
  }
  Result<std::vector<TopologyKey>> keys = ListTopologies(*cli.store);
  Status status = keys.status();
  scheduler::LocalFolder::InUse in_use;
  if (keys.ok()) {
    for (const TopologyKey& key : *keys) {
      auto submitted = ReadSubmitted(*cli.store, key);
      // An unreadable record could refer to any of them.
      if (!submitted.ok()) status = submitted.status();
      if (!submitted.ok()) break;
      if (!*submitted) continue;
      in_use.programs.insert((*submitted)->value.program_sha256());
      in_use.engines.insert((*submitted)->value.engine_sha256());
    }
  }
  if (status.ok()) {
    auto swept = cli.packages->Sweep(in_use);
    if (!swept.ok()) status = swept.status();
  }
  if (!status.ok()) progress.Note("note: unused packages stay: " + status.message());
}

}  // namespace tools::cli
