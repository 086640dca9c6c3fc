#include "heron/state/counted_lease.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "heron/base/random.h"
#include "heron/state/lease_core.h"
#include "proto/state.pb.h"

namespace heron::state {
namespace {

class CountedLease : public Lease {
 public:
  CountedLease(StateStore& store, std::string path, LeaseOptions options, LeaseEvents events,
               const Clock& clock)
      : store_(store),
        path_(std::move(path)),
        events_(std::move(events)),
        clock_(clock),
        core_({ToHex(RandomBytes(16)), std::move(options.payload), options.lease}) {
    io_thread_ = std::thread([this] { RunIo(); });
    judge_thread_ = std::thread([this] { RunJudge(); });
  }

  ~CountedLease() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      judge_wake_.notify_all();
    }
    judge_thread_.join();
    io_thread_.join();
  }

  void SetPayload(std::string payload) override {
    std::lock_guard lock(mutex_);
    core_.SetPayload(std::move(payload));
    judge_wake_.notify_all();
  }

  bool Held() const override {
    std::lock_guard lock(mutex_);
    return core_.Held(clock_.Now()) && told_epoch_ == core_.epoch();
  }

 private:
  void RunJudge() {
    std::unique_lock lock(mutex_);
    while (true) {
      Tell(lock);
      if (stop_ && !io_busy_) break;
      MonotonicTime now = clock_.Now();
      MonotonicTime wait_until = now + std::chrono::hours(1);
      if (!io_busy_) {
        step_ = core_.Next(now);
        if (step_.what != LeaseCore::Do::kWait) {
          io_busy_ = true;
          io_wake_.notify_all();
        } else {
          wait_until = step_.wait_until;
        }
      }
      if (core_.Held(now)) wait_until = std::min(wait_until, core_.valid_until());
      Duration wait = std::max(wait_until - now, Duration(0));
      // Read the wakes under the same lock as the decision: none is lost.
      if (!(stop_ && !io_busy_)) judge_wake_.wait_for(lock, wait);
    }
    step_ = core_.Release(clock_.Now());
    io_busy_ = step_.what != LeaseCore::Do::kWait;
    io_end_ = true;
    io_wake_.notify_all();
  }

  // Calls the callbacks for what changed since they were last called. Unlocks meanwhile.
  void Tell(std::unique_lock<std::mutex>& lock) {
    while (!stop_) {
      bool held = core_.Held(clock_.Now());
      uint64_t epoch = held ? core_.epoch() : 0;
      if (epoch == told_epoch_) return;
      bool gained = told_epoch_ == 0;
      // Lost comes before gained, also when both happened since.
      told_epoch_ = gained ? epoch : 0;
      lock.unlock();
      if (gained && events_.on_gained) events_.on_gained(epoch);
      if (!gained && events_.on_lost) events_.on_lost();
      lock.lock();
    }
  }

  void RunIo() {
    std::unique_lock lock(mutex_);
    while (true) {
      io_wake_.wait(lock, [&] { return io_busy_ || io_end_; });
      if (!io_busy_) return;
      LeaseCore::Step step = step_;
      lock.unlock();
      MonotonicTime started = clock_.Now();
      if (step.what == LeaseCore::Do::kRead) {
        Result<VersionedValue> read = store_.Get(path_);
        lock.lock();
        if (read.ok()) {
          core_.OnRead(clock_.Now(), std::move(read->value), read->version);
        } else {
          core_.OnRead(clock_.Now(), read.status(), 0);
        }
      } else {
        Result<int64_t> written = step.what == LeaseCore::Do::kCreate
                                      ? store_.Create(path_, step.value)
                                      : store_.Set(path_, step.value, step.expected_version);
        lock.lock();
        core_.OnWritten(started, clock_.Now(), written);
      }
      io_busy_ = false;
      judge_wake_.notify_all();
    }
  }

  StateStore& store_;
  const std::string path_;
  const LeaseEvents events_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable judge_wake_;
  std::condition_variable io_wake_;
  // Under mutex_.
  mutable LeaseCore core_;
  LeaseCore::Step step_;
  bool io_busy_ = false;  // step_ is with the I/O thread
  bool io_end_ = false;
  bool stop_ = false;
  uint64_t told_epoch_ = 0;  // what the callbacks know; 0: not held

  std::thread io_thread_;
  std::thread judge_thread_;
};

}  // namespace

std::unique_ptr<Lease> MakeCountedLease(StateStore& store, const std::string& path,
                                        LeaseOptions options, LeaseEvents events,
                                        const Clock& clock) {
  return std::make_unique<CountedLease>(store, path, std::move(options), std::move(events), clock);
}

Result<LeaseView> ReadCountedLease(StateStore& store, const std::string& path) {
  Result<VersionedValue> read = store.Get(path);
  if (!read.ok()) return read.status();
  proto::Lease record;
  if (!record.ParseFromString(read->value)) {
    return DataLoss(path + ": its value is no lease; delete the node");
  }
  return LeaseView{.payload = record.payload(),
                   .epoch = record.epoch(),
                   .counter = record.counter(),
                   .released = record.released()};
}

}  // namespace heron::state
