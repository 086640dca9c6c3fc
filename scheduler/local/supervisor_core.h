// What the supervisor decides: when an executor is started again, when it is done for good, when
// the supervisor itself ends. No I/O and no clock: it takes events with the time and acts through
// Effects.
//
// Thread: the supervisor's loop. Effects must not call back into the core.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/ids.h"
#include "heron/base/restart_backoff.h"
#include "heron/base/status.h"
#include "heron/model/store_verdict.h"

namespace scheduler::local {

class SupervisorCore {
 public:
  class Effects {
   public:
    virtual ~Effects() = default;
    // Its end comes as OnExecutorEnded, once.
    virtual heron::Status StartExecutor(heron::ContainerId container) = 0;
    // To its process group.
    virtual void SignalExecutor(heron::ContainerId container, int signo) = 0;
    // Answered by OnStoreVerdict; may be asked again before the answer.
    virtual void AskStore() = 0;
    // Last effect, once: all executors have ended for good.
    virtual void Exit(int code, const std::string& why) = 0;
  };

  static constexpr int kUnknownExit = -1;
  // An executor has this long after SIGTERM to stop its children (it gives them 2 s).
  static constexpr heron::Duration kStopGrace = std::chrono::seconds(3);
  // After SIGKILL; then the supervisor ends without them.
  static constexpr heron::Duration kKillGrace = std::chrono::seconds(5);

  SupervisorCore(std::vector<heron::ContainerId> containers, Effects* effects);

  // Starts all executors but those that an earlier supervisor has left `running`. An error means
  // that one could not be started; unless there is an earlier life to go on with, the supervisor is
  // then to end the others.
  heron::Status Start(const std::set<heron::ContainerId>& running, heron::MonotonicTime now);
  // kUnknownExit: of an adopted one.
  void OnExecutorEnded(heron::ContainerId container, int exit_code, heron::MonotonicTime now);
  // What the store says about going on; kGoOn also when it cannot be reached.
  void OnStoreVerdict(heron::model::StoreVerdict verdict, heron::MonotonicTime now);
  // SIGTERM: stops all executors.
  void OnTerminate(heron::MonotonicTime now);
  void OnTime(heron::MonotonicTime now);
  std::optional<heron::MonotonicTime> NextDeadline() const;

  bool ending() const { return ending_; }

 private:
  enum class Phase {
    kRunning,
    kAsking,   // ended; the store has been asked whether it is wanted
    kWaiting,  // to be started at `due`
    kDone,     // ended for good
  };
  struct Executor {
    Phase phase = Phase::kWaiting;
    heron::MonotonicTime started_at{};
    heron::MonotonicTime due{};
    heron::RestartBackoff backoff;
  };

  heron::Status StartExecutor(heron::ContainerId container, Executor& executor,
                              heron::MonotonicTime now);
  void ExitIfDone();

  Effects* const effects_;
  std::map<heron::ContainerId, Executor> executors_;
  bool ending_ = false;
  bool killed_ = false;
  bool exited_ = false;
  heron::MonotonicTime kill_at_{};
  heron::MonotonicTime give_up_at_{};
};

}  // namespace scheduler::local
