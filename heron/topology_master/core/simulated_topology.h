// For tests: everything around topology masters, moving by itself: executors, stream managers and
// tasks that start, work, end, die and come back, and masters that take over from each other. Time
// is simulated; the seed decides everything.
//
// Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/topology_master/core/master_harness.h"

namespace heron::topology_master {

class SimulatedTopology {
 public:
  // How often what goes wrong, per 1000 steps of 20 ms.
  struct Faults {
    int kill_task = 0;
    int kill_stream_manager = 0;
    int kill_executor = 0;
    int kill_master = 0;
    int lose_lease = 0;     // and gain it again
    int second_master = 0;  // the old one has not noticed
    int drop_session = 0;
    int store_trouble = 0;  // per 1000 writes
  };

  SimulatedTopology(uint64_t seed, const std::vector<std::pair<std::string, int>>& components,
                    const std::vector<ContainerId>& containers);

  void Step(const Faults& faults);
  // Without faults, until the store says FINISHED and every executor was told to stop. False: it
  // did not come.
  bool RunToTheEnd(Duration limit);
  // The master dies in its `n`-th write from now on, which then happens or not.
  void KillMasterInWrite(int n, bool stored);

  StoreModel store;
  ManualClock clock;
  // A task died that had not finished, after tuples could flow.
  bool something_was_lost = false;
  bool something_died = false;
  std::map<TaskId, int> finish_runs;
  int writes = 0;

 private:
  struct Task {
    Epoch epoch;
    proto::TaskStatus::Phase phase = proto::TaskStatus::PHASE_UNSPECIFIED;
    int wait = 0;  // steps until it goes on
    bool finish_lost = false;
  };
  struct Container {
    proto::ExecutorReport report;
    bool running = false;
    bool stopped = false;
    uint64_t mastership = 0;  // highest heard of
    std::vector<proto::PlannedTask> plan;
    std::map<TaskId, proto::TaskGrant> grants;
    std::map<TaskId, Task> tasks;
    uint64_t last_failure = 0;
    SessionId session = 0;

    Epoch manager_epoch;
    SessionId manager_session = 0;
    bool active = false;
    uint64_t plan_version = 0;
    int connect_wait = 0;
    // To the master before; alive until the new one is dialled.
    SessionId former_session = 0;
    SessionId former_manager_session = 0;
  };
  struct Peer {
    ContainerId container = 0;
    bool is_manager = false;
  };
  struct Master {
    std::unique_ptr<MasterUnderTest> process;
    std::map<SessionId, Peer> peers;
  };

  bool Chance(int per_1000) { return static_cast<int>(random_() % 1000) < per_1000; }
  int Delay(int max) { return static_cast<int>(random_() % static_cast<uint64_t>(max)) + 1; }
  MasterUnderTest* Leader() { return leader_.process.get(); }

  void StartMaster();
  void StartExecutor(ContainerId id);
  void Inject(const Faults& faults);
  void KillTask(ContainerId id, TaskId task);
  void Disconnect(ContainerId id);
  void Connect(ContainerId id);
  void Report(ContainerId id);
  void OnPlan(ContainerId id, const proto::ContainerPlan& plan);
  void OnUpdate(ContainerId id, const proto::MasterUpdate& update);
  void StartTask(ContainerId id, TaskId task, Epoch epoch);
  void MoveTask(ContainerId id, TaskId id_of_task, Task& task);
  bool UpstreamEnded(TaskId task) const;
  ContainerId RandomContainer();

  std::mt19937_64 random_;
  std::vector<ContainerId> ids_;
  std::map<TaskId, int> component_of_;
  std::map<ContainerId, Container> containers_;
  Master leader_;
  Master former_;  // does not know yet that it is no master any more
  int master_wait_ = 0;
  int former_wait_ = 0;
  uint64_t lease_epoch_ = 0;
  SessionId last_session_ = 0;
  uint64_t last_nonce_ = 0;
  std::set<std::pair<TaskId, std::pair<uint64_t, uint64_t>>> lives_;
  std::set<TaskId> ever_finished_;
  int store_trouble_ = 0;
  int dies_in_write_ = 0;
  bool dying_write_is_stored_ = false;
  bool master_must_die_ = false;
};

}  // namespace heron::topology_master
