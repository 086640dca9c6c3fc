// A cluster for the tests of commands: a memory store, a scheduler that only notes, a clock that
// moves when somebody sleeps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/state/paths.h"
#include "heron/state/state_store.h"
#include "proto/plan.pb.h"
#include "proto/state.pb.h"
#include "scheduler/scheduler.h"
#include "scheduler/uploader/local_folder.h"
#include "tools/cli/context.h"

namespace tools::cli {

class FakeScheduler : public scheduler::Scheduler {
 public:
  heron::Status Launch(const scheduler::LaunchRequest& request) override;
  heron::Status Relaunch(const scheduler::LaunchRequest& request) override;
  heron::Status Kill(const heron::state::TopologyKey& key, const std::string& id) override;
  heron::Status Stop(const heron::state::TopologyKey& key, const std::string& id) override;
  heron::Status RestartContainer(const std::string& id, heron::ContainerId container) override;
  heron::Status RestartTask(const std::string& id, int task) override;
  heron::Status CleanUp(const heron::state::TopologyKey& key, const std::string& id,
                        bool keep_logs) override;
  heron::Result<std::vector<scheduler::ProcessInfo>> Processes(const std::string& id) override;
  heron::Result<std::vector<scheduler::RunningTopology>> Running() override { return running; }
  heron::Result<scheduler::Health> Examine(const heron::state::TopologyKey& key,
                                           const std::string& id,
                                           const std::vector<heron::ContainerId>&) override;
  std::string LogFolder(const heron::state::TopologyKey& key, const std::string& id) override;

  std::map<std::string, int> alive;                                      // processes by id
  std::map<std::string, std::vector<scheduler::ProcessInfo>> processes;  // the same, named
  std::vector<scheduler::RunningTopology> running;                       // until killed
  std::map<std::string, scheduler::Health> health;  // by id; else lost when none is alive
  std::vector<std::string> calls;  // "launch ID", "relaunch ID", "kill ID", "stop ID", "clean ID",
                                   // "restart container K of ID", "restart task T of ID"
  std::vector<scheduler::LaunchRequest> launches;
  std::function<heron::Status(const scheduler::LaunchRequest&)> on_launch;
  std::function<void(const std::string& id)> on_kill;
  bool supervised = false;  // Processes() names a supervisor, too
  bool kill_fails = false;
  bool immortal = false;  // Kill says ok, but processes stay
  std::string log_root;

 private:
  heron::Status End(const std::string& id);
};

class FakeCluster {
 public:
  FakeCluster();
  ~FakeCluster();

  // A topology with a packing plan: spout "lines" (bounded) with tasks 1 and 2, bolt "count" with
  // task 3, two containers.
  void AddTopology(const std::string& name, heron::proto::DesiredState::Desire desire,
                   heron::proto::ExecutionState::State state, bool with_processes = true);
  std::string IdOf(const std::string& name) const { return name + "-1"; }
  heron::state::TopologyKey Key(const std::string& name) const { return {"ads", "prod", name}; }

  // Whether there is such a node or not.
  void Put(const std::string& path, const std::string& bytes);
  void SetDesired(const std::string& name, heron::proto::DesiredState::Desire desire,
                  const std::string& by = "ada@elsewhere:7");
  void SetExecution(const std::string& name, const heron::proto::ExecutionState& state);
  heron::proto::ExecutionState Execution(const std::string& name);
  std::optional<heron::proto::DesiredState> Desired(const std::string& name);
  // The paths of `name` that exist.
  std::vector<std::string> Nodes(const std::string& name);

  // Runs before the clock moves, each time something sleeps; the count is from 1.
  std::function<void(int)> on_sleep;
  bool interrupted = false;

  std::unique_ptr<heron::state::StateStore> store;
  FakeScheduler scheduler;
  heron::ManualClock clock;
  std::string folder;  // of the test, removed at the end
  std::unique_ptr<scheduler::LocalFolder> packages;
  std::unique_ptr<KilledNames> killed_names;
  std::unique_ptr<FailedSubmits> failed_submits;
  std::ostringstream out;
  std::ostringstream err;
  Cli cli;

 private:
  int sleeps_ = 0;
};

}  // namespace tools::cli
