// What an executor decides: which processes of its container run, in which epoch, when they are
// started again, what the topology master is told, and when the executor itself ends. No I/O and no
// clock: it takes events with the time and acts through Effects.
//
// Thread: the executor's loop. Effects must not call back into the core.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/ids.h"
#include "heron/base/status.h"
#include "heron/executor/core/child.h"
#include "heron/executor/core/failure_log.h"
#include "heron/model/store_verdict.h"
#include "proto/container.pb.h"
#include "proto/master.pb.h"

namespace heron::executor {

class ExecutorCore {
 public:
  class Effects {
   public:
    virtual ~Effects() = default;
    // Starts the process in the epoch it has; returns its pid. Its end comes as OnChildEnded, once
    // and only after nothing of its process group is left.
    virtual Result<int64_t> StartChild(const Child& child) = 0;
    // To its process group.
    virtual void SignalChild(const Child& child, int signo) = 0;
    // Report() or child_update() says something new.
    virtual void ReportChanged() = 0;
    virtual void ChildUpdateChanged() = 0;
    // Last effect, once: every child has ended, the executor is to exit with this code.
    virtual void Exit(int code, const std::string& why) = 0;
  };

  // Who this executor is, for reports.
  struct Self {
    ContainerId container = 0;
    std::string host;
    int64_t pid = 0;
    std::string nonce;  // 16 random bytes
  };

  enum class Admission { kAdmitted, kFenced, kNotWanted };

  static constexpr Duration kStopGrace = std::chrono::seconds(2);  // from SIGTERM to SIGKILL
  // After all of these; then the executor ends without what is left and says so.
  static constexpr Duration kKillGrace = std::chrono::seconds(10);

  ExecutorCore(Self self, Effects* effects);

  // Container 0 starts the topology master, the others wait for a plan.
  void Start(MonotonicTime now);
  // From the topology master; of a lower mastership epoch than one seen before it is ignored.
  void OnContainerPlan(const proto::ContainerPlan& plan, MonotonicTime now);
  // What the store says; to be asked each second while no topology master is connected.
  void OnStoreVerdict(model::StoreVerdict verdict, MonotonicTime now);
  // SIGTERM.
  void OnTerminate(MonotonicTime now);

  // Whether a process that calls itself this is the child that runs now.
  Admission Admit(const proto::Identity& caller) const;
  // From an admitted session; one of an earlier life is ignored.
  void OnChildReport(const proto::Identity& child, const proto::ChildReport& report,
                     MonotonicTime now);
  void OnChildEnded(const ChildKey& key, const ChildEnd& end, MonotonicTime now);

  // Does what is due. To be called at NextDeadline().
  void OnTime(MonotonicTime now);
  std::optional<MonotonicTime> NextDeadline() const;

  proto::ExecutorReport Report() const;
  const proto::ChildUpdate& child_update() const { return child_update_; }
  const std::map<ChildKey, Child>& children() const { return children_; }
  uint64_t incarnation() const { return incarnation_; }
  uint64_t ignored_plans() const { return ignored_plans_; }
  bool ending() const { return ending_.has_value(); }

 private:
  struct Ending {
    int exit_code = 0;
    std::string why;
    bool said = false;  // Exit() was called
  };

  static ChildKey KeyOf(const proto::Identity& identity);
  void Run(const proto::ContainerPlan& plan, MonotonicTime now);
  void AdoptIncarnation(uint64_t incarnation, MonotonicTime now);
  void Want(const ChildKey& key, const proto::PlannedTask& task, MonotonicTime now);
  void DropUnwanted(MonotonicTime now);
  bool MayStart(const Child& child) const;
  void StartChild(Child& child, MonotonicTime now);
  void StopChild(Child& child, MonotonicTime now);
  void KillChild(Child& child);
  void RecordFailure(Child& child, const ChildEnd& end);
  void PlanRestart(Child& child, MonotonicTime now);
  void SetStreamManager(uint32_t port, Epoch epoch);
  // `at_once`: SIGKILL; otherwise instances are stopped first, then the rest.
  void BeginEnd(int exit_code, const std::string& why, bool at_once, MonotonicTime now);
  void StopNext(MonotonicTime now);
  void EndIfNothingIsLeft();

  const Self self_;
  Effects* const effects_;

  std::map<ChildKey, Child> children_;
  FailureLog failures_;
  proto::ChildUpdate child_update_;
  bool stream_manager_seen_ = false;  // in this incarnation: instances may start

  uint64_t mastership_epoch_ = 0;
  uint64_t incarnation_ = 0;
  uint64_t ignored_plans_ = 0;

  std::optional<Ending> ending_;
  std::optional<MonotonicTime> give_up_at_;
};

}  // namespace heron::executor
