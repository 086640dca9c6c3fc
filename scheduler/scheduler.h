// What the CLI and the API server ask of a resource scheduler. One implementation per cluster manager, in its own folder.
//
// Threads: used from one thread. Calls block, bounded by their own timeouts. Every call may be repeated: doing a done thing
// is success.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "proto/plan.pb.h"

namespace scheduler {

// Everything a scheduler needs to start the executors of a topology.
struct LaunchRequest {
  heron::state::TopologyKey key;
  std::string topology_id;
  std::string state_url;               // the executors' view of the state store
  heron::proto::PackingPlan packing_plan;
  std::string engine_folder;           // heron-executor and its siblings, by content hash
  std::string program_path;            // the user's program, by content hash
  std::string secret;                  // 32 bytes
  std::string process_settings;        // HERON_SETTINGS of every process
};

enum class ProcessKind {
  kSupervisor,
  kExecutor,
  kTopologyMaster,
  kStreamManager,
  kInstance,
  kOther,  // started by user code
};

struct ProcessInfo {
  int64_t pid = 0;
  std::string what;  // "supervisor", "executor 2", "instance split[3] (task 7)", as its command line tells
  char state = '?';  // as /proc/PID/stat has it: R S D, T stopped by a signal; '?' where it is not known
  ProcessKind kind = ProcessKind::kOther;
  heron::ContainerId container = -1;  // -1: of none, or not told
  int task = 0;                       // of an instance
};

// A topology that has processes, whatever the state store says.
struct RunningTopology {
  heron::state::TopologyKey key;
  std::string topology_id;
  int processes = 0;
};

// How a topology that is wanted looks to the scheduler.
struct Health {
  bool lost = false;   // nobody runs it and nobody brings it back
  std::string reason;  // of that; or what is missing and stays so. Empty: all is well or is being restarted
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Starts containers 0 and those of the packing plan. When it fails it leaves nothing behind.
  virtual heron::Status Launch(const LaunchRequest& request) = 0;

  // Starts them anew, in the environment of the Launch as far as that is on record. What still runs is ended first.
  // When it fails, no process is left.
  virtual heron::Status Relaunch(const LaunchRequest& request) = 0;

  // Ends every process of this topology id and returns when none is left. Works without the scheduler's own service
  // (supervisor) and without anything on disk. Fails naming what could not be ended.
  virtual heron::Status Kill(const heron::state::TopologyKey& key,
                             const std::string& topology_id) = 0;

  // The same for a while: until the next Relaunch, Examine says that it was stopped.
  virtual heron::Status Stop(const heron::state::TopologyKey& key,
                             const std::string& topology_id) = 0;

  // Tells the container's processes, or the task's, to stop in order; whoever watches them starts them again at once.
  // FailedPrecondition when there is none now.
  virtual heron::Status RestartContainer(const std::string& topology_id,
                                         heron::ContainerId container) = 0;
  virtual heron::Status RestartTask(const std::string& topology_id, int task) = 0;

  // Removes what Launch made on disk except logs when `keep_logs`.
  virtual heron::Status CleanUp(const heron::state::TopologyKey& key,
                                const std::string& topology_id, bool keep_logs) = 0;

  // Processes of this topology id that are alive now.
  virtual heron::Result<std::vector<ProcessInfo>> Processes(const std::string& topology_id) = 0;

  // All topologies of this cluster that have a living process.
  virtual heron::Result<std::vector<RunningTopology>> Running() = 0;

  // `containers`: those of the packing plan, without 0.
  virtual heron::Result<Health> Examine(const heron::state::TopologyKey& key,
                                        const std::string& topology_id,
                                        const std::vector<heron::ContainerId>& containers) = 0;

  // Where the logs of this topology are: folders "container-K" with files "executor.log", "tm.log", "sm.log",
  // "COMPONENT-TASK.log".
  virtual std::string LogFolder(const heron::state::TopologyKey& key,
                                const std::string& topology_id) = 0;
};

}  // namespace scheduler
