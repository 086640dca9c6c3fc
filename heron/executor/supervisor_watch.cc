#include "heron/executor/supervisor_watch.h"

#include <glog/logging.h>

#include <algorithm>

#include "heron/base/file_lock.h"
#include "heron/base/process.h"
#include "heron/model/store_verdict.h"

namespace heron::executor {
namespace {

constexpr Duration kLookInterval = std::chrono::milliseconds(200);
// Executors take turns: mostly the first one's supervisor is there before the next one looks.
constexpr Duration kTurn = std::chrono::milliseconds(100);
constexpr ContainerId kMostTurns = 10;
// Between two starts of one executor; doubled while it is in vain.
constexpr Duration kFirstDelay = std::chrono::seconds(2);
constexpr Duration kMostDelay = std::chrono::seconds(30);

}  // namespace

SupervisorWatch::SupervisorWatch(net::EventLoop& loop, state::AsyncStore& store, Options options,
                                 std::function<bool()> ending)
    : loop_(loop),
      store_look_(store, options.key, options.topology_id),
      options_(std::move(options)),
      ending_(std::move(ending)),
      lock_(options_.supervisor_folder + "/supervisor.lock") {
  timer_ = loop_.RunEvery(kLookInterval, [this] { Look(); });
}

SupervisorWatch::~SupervisorWatch() { loop_.CancelTimer(timer_); }

void SupervisorWatch::Look() {
  if (IsLocked(lock_)) {
    gone_since_.reset();
    delay_ = kFirstDelay;
    next_start_ = {};
    return;
  }
  const MonotonicTime now = loop_.clock().Now();
  if (!gone_since_) gone_since_ = now;
  const auto turn = std::min(options_.container, kMostTurns);
  if (ending_() || now - *gone_since_ < turn * kTurn || now < next_start_) return;
  // One that is being killed, or has ended, needs none.
  store_look_.Read([this](model::StoreVerdict verdict) {
    if (verdict == model::StoreVerdict::kGoOn && !ending_() && !IsLocked(lock_)) Start();
  });
}

void SupervisorWatch::Start() {
  next_start_ = loop_.clock().Now() + delay_;
  delay_ = std::min(2 * delay_, kMostDelay);
  SpawnOptions spawn;
  spawn.argv = {options_.supervisor, "--resume=" + options_.supervisor_folder};
  // So that kill finds it before it has taken its own.
  spawn.environment = OwnEnvironment();
  spawn.environment["HERON_PROCESS"] = "supervisor";
  spawn.environment.erase("HERON_CONTAINER");
  spawn.working_folder = options_.supervisor_folder;
  spawn.log_file = options_.supervisor_folder + "/supervisor.log";
  spawn.die_with_parent = false;
  spawn.new_session = true;
  const Result<ProcessIdentity> started = SpawnProcess(spawn);
  if (started.ok()) {
    LOG(WARNING) << "the supervisor is gone; started another one";
  } else {
    LOG(ERROR) << "the supervisor is gone, and another one cannot be started: "
               << started.status().ToString();
  }
}

}  // namespace heron::executor
