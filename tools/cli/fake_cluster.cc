#include "tools/cli/fake_cluster.h"

#include <stdlib.h>

#include <filesystem>

#include "heron/state/memory_store.h"

namespace tools::cli {

using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::state::TopologyKey;

Status FakeScheduler::Launch(const scheduler::LaunchRequest& request) {
  calls.push_back("launch " + request.topology_id);
  launches.push_back(request);
  alive[request.topology_id] = 3;
  return on_launch ? on_launch(request) : Status::Ok();
}

Status FakeScheduler::Relaunch(const scheduler::LaunchRequest& request) {
  calls.push_back("relaunch " + request.topology_id);
  launches.push_back(request);
  health.erase(request.topology_id);
  alive[request.topology_id] = 3;
  return on_launch ? on_launch(request) : Status::Ok();
}

heron::Result<scheduler::Health> FakeScheduler::Examine(const TopologyKey&, const std::string& id,
                                                        const std::vector<heron::ContainerId>&) {
  const auto said = health.find(id);
  if (said != health.end()) return said->second;
  if (!Processes(id)->empty()) return scheduler::Health();
  return scheduler::Health{true, "none of its processes is alive"};
}

Status FakeScheduler::Kill(const TopologyKey&, const std::string& id) {
  calls.push_back("kill " + id);
  return End(id);
}

Status FakeScheduler::Stop(const TopologyKey&, const std::string& id) {
  calls.push_back("stop " + id);
  return End(id);
}

Status FakeScheduler::End(const std::string& id) {
  if (on_kill) on_kill(id);
  if (kill_fails) return heron::Internal("executor 2 (pid 77) does not die");
  if (!immortal) {
    alive.erase(id);
    std::erase_if(running, [&](const auto& topology) { return topology.topology_id == id; });
  }
  return Status::Ok();
}

Status FakeScheduler::RestartContainer(const std::string& id, heron::ContainerId container) {
  calls.push_back("restart container " + std::to_string(container) + " of " + id);
  return Status::Ok();
}

Status FakeScheduler::RestartTask(const std::string& id, int task) {
  calls.push_back("restart task " + std::to_string(task) + " of " + id);
  return Status::Ok();
}

Status FakeScheduler::CleanUp(const TopologyKey&, const std::string& id, bool keep_logs) {
  calls.push_back("clean " + id + (keep_logs ? " but logs" : ""));
  return Status::Ok();
}

heron::Result<std::vector<scheduler::ProcessInfo>> FakeScheduler::Processes(const std::string& id) {
  if (processes.contains(id)) return processes[id];
  std::vector<scheduler::ProcessInfo> found;
  for (int i = 0; alive.contains(id) && i < alive[id]; ++i) {
    scheduler::ProcessInfo process;
    process.pid = 100 + i;
    process.what = "executor " + std::to_string(i);
    process.kind = scheduler::ProcessKind::kExecutor;
    process.container = i;
    found.push_back(process);
  }
  if (alive.contains(id) && supervised) {
    scheduler::ProcessInfo process;
    process.what = "supervisor";
    process.kind = scheduler::ProcessKind::kSupervisor;
    found.push_back(process);
  }
  return found;
}

std::string FakeScheduler::LogFolder(const TopologyKey&, const std::string& id) {
  return log_root + "/" + id;
}

FakeCluster::FakeCluster() : store(heron::state::MakeMemoryStore()) {
  const char* parent = getenv("TEST_TMPDIR");
  folder = std::string(parent == nullptr ? "/tmp" : parent) + "/clusterXXXXXX";
  CHECK(mkdtemp(folder.data()) != nullptr);
  scheduler.log_root = folder + "/logs";
  packages = std::make_unique<scheduler::LocalFolder>(folder + "/packages");
  cli.store = store.get();
  cli.scheduler = &scheduler;
  cli.packages = packages.get();
  killed_names = std::make_unique<KilledNames>(folder + "/killed");
  cli.killed_names = killed_names.get();
  failed_submits = std::make_unique<FailedSubmits>(folder + "/failed-submits");
  cli.failed_submits = failed_submits.get();
  cli.clock = &clock;
  cli.out = &out;
  cli.err = &err;
  cli.default_role = "ads";
  cli.default_env = "prod";
  cli.by = "ada@here:1";
  cli.sleep = [this](heron::Duration time) {
    CHECK_LT(++sleeps_, 100'000) << "waits for ever";
    if (on_sleep) on_sleep(sleeps_);
    clock.Advance(time);
  };
  cli.interrupted = [this] { return interrupted; };
}

FakeCluster::~FakeCluster() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

void FakeCluster::Put(const std::string& path, const std::string& bytes) {
  auto now = store->Get(path);
  if (now.ok()) {
    CHECK(store->Set(path, bytes, now->version).ok());
  } else {
    CHECK(store->Create(path, bytes).ok());
  }
}

void FakeCluster::AddTopology(const std::string& name, DesiredState::Desire desire,
                              ExecutionState::State state, bool with_processes) {
  const TopologyKey key = Key(name);
  SetDesired(name, desire);
  heron::proto::SubmittedTopology submitted;
  submitted.set_topology_id(IdOf(name));
  submitted.set_name(name);
  submitted.set_program_sha256("p-" + name);
  submitted.set_engine_sha256("e");
  auto* lines = submitted.mutable_topology()->add_components();
  lines->set_name("lines");
  lines->set_kind(heron::proto::SPOUT);
  lines->set_parallelism(2);
  lines->set_bounded(true);
  auto* count = submitted.mutable_topology()->add_components();
  count->set_name("count");
  count->set_kind(heron::proto::BOLT);
  count->set_parallelism(1);
  Put(heron::state::TopologyPath(key), submitted.SerializeAsString());

  heron::proto::PackingPlan plan;
  plan.set_version(1);
  const auto add = [](heron::proto::PlannedContainer* container, int task,
                      const std::string& component, int index) {
    auto* planned = container->add_tasks();
    planned->set_task(task);
    planned->set_component(component);
    planned->set_component_index(index);
  };
  auto* one = plan.add_containers();
  one->set_container(1);
  add(one, 1, "lines", 0);
  add(one, 3, "count", 0);
  auto* two = plan.add_containers();
  two->set_container(2);
  add(two, 2, "lines", 1);
  Put(heron::state::PackingPlanPath(key), plan.SerializeAsString());

  if (state != ExecutionState::STATE_UNSPECIFIED) {
    ExecutionState execution;
    execution.set_state(state);
    SetExecution(name, execution);
  }
  if (with_processes) scheduler.alive[IdOf(name)] = 3;
}

void FakeCluster::SetDesired(const std::string& name, DesiredState::Desire desire,
                             const std::string& by) {
  DesiredState desired;
  desired.set_topology_id(IdOf(name));
  desired.set_desire(desire);
  desired.set_by(by);
  desired.set_since_unix_ms(1'000'000'000'000);
  Put(heron::state::DesiredPath(Key(name)), desired.SerializeAsString());
}

void FakeCluster::SetExecution(const std::string& name, const ExecutionState& state) {
  ExecutionState copy = state;
  if (copy.topology_id().empty()) copy.set_topology_id(IdOf(name));
  Put(heron::state::ExecutionStatePath(Key(name)), copy.SerializeAsString());
}

ExecutionState FakeCluster::Execution(const std::string& name) {
  ExecutionState state;
  auto node = store->Get(heron::state::ExecutionStatePath(Key(name)));
  if (node.ok()) CHECK(state.ParseFromString(node->value));
  return state;
}

std::optional<DesiredState> FakeCluster::Desired(const std::string& name) {
  auto node = store->Get(heron::state::DesiredPath(Key(name)));
  if (!node.ok()) return std::nullopt;
  DesiredState desired;
  CHECK(desired.ParseFromString(node->value));
  return desired;
}

std::vector<std::string> FakeCluster::Nodes(const std::string& name) {
  std::vector<std::string> found;
  for (const char* tree : {"/desired/", "/executionstate/", "/packingplans/", "/pplans/",
                           "/tmasters/", "/topologies/"}) {
    const std::string path = tree + Key(name).ToString();
    if (store->Get(path).ok()) found.push_back(path);
  }
  return found;
}

}  // namespace tools::cli
