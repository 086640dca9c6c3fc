// The scheduler of a cluster that is this machine: one supervisor process per topology, which runs
// the executors.
//
//   CLUSTER_FOLDER/topologies/ROLE/ENV/NAME/ID/
//     secret  launch  stopped  supervisor.lock  supervisor.pid  supervisor.log  container-K/*.log
//
// Kill needs none of the topology's processes and none of these files: it finds all processes by
// their environment, in which each carries HERON_TOPOLOGY, HERON_TOPOLOGY_ROLE, HERON_TOPOLOGY_ENV,
// HERON_TOPOLOGY_ID and HERON_CLUSTER_FOLDER. Processes are only signalled when pid, start time and
// boot id say that they are the ones that are meant.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/process.h"
#include "heron/base/status.h"
#include "scheduler/scheduler.h"

namespace scheduler::local {

class LocalScheduler : public Scheduler {
 public:
  struct Options {
    std::string cluster_folder;  // $HERON_ROOT/local, absolute
    heron::Duration launch_timeout = std::chrono::seconds(10);
    // Of a supervisor that was told to stop.
    heron::Duration stop_timeout = std::chrono::seconds(5);
    // Of everything else.
    heron::Duration kill_timeout = std::chrono::seconds(10);
  };

  explicit LocalScheduler(Options options);

  // Returns when the supervisor runs and has started its executors. The error has the end of
  // supervisor.log.
  heron::Status Launch(const LaunchRequest& request) override;
  heron::Status Relaunch(const LaunchRequest& request) override;
  heron::Status Kill(const heron::state::TopologyKey& key, const std::string& topology_id) override;
  heron::Status Stop(const heron::state::TopologyKey& key, const std::string& topology_id) override;
  heron::Status RestartContainer(const std::string& topology_id,
                                 heron::ContainerId container) override;
  heron::Status RestartTask(const std::string& topology_id, int task) override;
  heron::Status CleanUp(const heron::state::TopologyKey& key, const std::string& topology_id,
                        bool keep_logs) override;
  heron::Result<std::vector<ProcessInfo>> Processes(const std::string& topology_id) override;
  heron::Result<std::vector<RunningTopology>> Running() override;
  heron::Result<Health> Examine(const heron::state::TopologyKey& key,
                                const std::string& topology_id,
                                const std::vector<heron::ContainerId>& containers) override;
  std::string LogFolder(const heron::state::TopologyKey& key,
                        const std::string& topology_id) override;

 private:
  heron::Status Start(const LaunchRequest& request, const std::string& folder) const;
  heron::Status MakeFolder(const LaunchRequest& request, const std::string& folder) const;
  heron::Status RunSupervisor(const LaunchRequest& request, const std::string& folder) const;
  heron::Status Tell(const std::string& topology_id, const std::string& what,
                     const std::function<bool(const ProcessInfo&)>& is_meant) const;
  heron::SpawnOptions SupervisorCommand(const LaunchRequest& request,
                                        const std::string& folder) const;
  void StopSupervisor(const std::string& folder, const std::string& topology_id) const;

  const Options options_;
};

}  // namespace scheduler::local
