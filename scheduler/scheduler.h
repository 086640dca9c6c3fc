// What the CLI and the API server ask of a resource scheduler. One implementation per cluster manager, in its own folder.
//
// Threads: used from one thread. Calls block, bounded by their own timeouts. Every call may be repeated: doing a done thing
// is success.
#pragma once

#include <memory>
#include <string>
#include <vector>

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

struct ProcessInfo {
  int64_t pid = 0;
  std::string what;  // "supervisor", "executor 2", "instance split[3] (task 7)", as its command line tells
  char state = '?';  // as /proc/PID/stat has it: R S D, T stopped by a signal; '?' where it is not known
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Starts containers 0 and those of the packing plan. When it fails it leaves nothing behind.
  virtual heron::Status Launch(const LaunchRequest& request) = 0;

  // Ends every process of this topology id and returns when none is left. Works without the scheduler's own service
  // (supervisor). Fails naming what could not be ended.
  virtual heron::Status Kill(const heron::state::TopologyKey& key,
                             const std::string& topology_id) = 0;

  // Removes what Launch made on disk except logs when `keep_logs`.
  virtual heron::Status CleanUp(const heron::state::TopologyKey& key,
                                const std::string& topology_id, bool keep_logs) = 0;

  // Processes of this topology id that are alive now.
  virtual heron::Result<std::vector<ProcessInfo>> Processes(const std::string& topology_id) = 0;

  // Where the logs of this topology are: folders "container-K" with files "executor.log", "tm.log", "sm.log",
  // "COMPONENT-TASK.log".
  virtual std::string LogFolder(const heron::state::TopologyKey& key,
                                const std::string& topology_id) = 0;
};

}  // namespace scheduler
