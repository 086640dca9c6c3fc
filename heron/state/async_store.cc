#include "heron/state/async_store.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace heron::state {
namespace {

// Shared by the handle and the callbacks that are under way. Used in the loop's thread only.
struct Alive {
  bool value = true;
};

// The worker. Held by the AsyncStore and by its leases, so that a lease outliving the AsyncStore
// can still be released.
class Worker {
 public:
  Worker(std::shared_ptr<StateStore> s, size_t max_pending)
      : store(std::move(s)), max_pending_(max_pending), thread_([this] { Run(); }) {}

  ~Worker() { End(); }

  // False when too many wait.
  bool Call(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    if (end_ || calls_ >= max_pending_) return false;
    ++calls_;
    queue_.push_back({std::move(work), true});
    wake_.notify_all();
    return true;
  }

  // Never refused and never dropped: ends of leases.
  void CleanUp(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      if (!end_) {
        queue_.push_back({std::move(work), false});
        wake_.notify_all();
        return;
      }
    }
    work();
  }

  void End() {
    {
      std::lock_guard lock(mutex_);
      end_ = true;
      wake_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  const std::shared_ptr<StateStore> store;

 private:
  struct Work {
    std::function<void()> run;
    bool is_call;
  };

  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return end_ || !queue_.empty(); });
      if (queue_.empty()) return;
      Work work = std::move(queue_.front());
      queue_.pop_front();
      if (work.is_call) --calls_;
      bool drop = work.is_call && end_;
      lock.unlock();
      if (!drop) work.run();
      work.run = nullptr;
      lock.lock();
    }
  }

  const size_t max_pending_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> queue_;
  size_t calls_ = 0;  // waiting in the queue
  bool end_ = false;
  std::thread thread_;
};

class LoopWatch : public Watch {
 public:
  LoopWatch(std::shared_ptr<Worker> worker, std::shared_ptr<Alive> alive,
            std::unique_ptr<Watch> watch)
      : worker_(std::move(worker)), alive_(std::move(alive)), watch_(std::move(watch)) {}
  ~LoopWatch() override {
    alive_->value = false;
    watch_.reset();
  }

 private:
  std::shared_ptr<Worker> worker_;  // keeps the store
  std::shared_ptr<Alive> alive_;
  std::unique_ptr<Watch> watch_;
};

class LoopLease : public Lease {
 public:
  LoopLease(std::shared_ptr<Worker> worker, std::shared_ptr<Alive> alive,
            std::unique_ptr<Lease> lease)
      : worker_(std::move(worker)), alive_(std::move(alive)), lease_(std::move(lease)) {}
  ~LoopLease() override {
    alive_->value = false;
    worker_->CleanUp([lease = std::move(lease_)]() mutable { lease.reset(); });
  }
  void SetPayload(std::string payload) override { lease_->SetPayload(std::move(payload)); }
  bool Held() const override { return lease_->Held(); }

 private:
  std::shared_ptr<Worker> worker_;
  std::shared_ptr<Alive> alive_;
  std::shared_ptr<Lease> lease_;
};

}  // namespace

struct AsyncStore::Impl {
  net::EventLoop& loop;
  std::shared_ptr<Worker> worker;
  std::shared_ptr<Alive> alive = std::make_shared<Alive>();

  // Runs `work(store)` in the worker's thread and posts `done(result)` back.
  template <typename Out>
  void Run(std::function<Out(StateStore&)> work, std::function<void(Out)> done) {
    // `done` travels in a shared_ptr: the loop's thread alone calls it, whoever drops it last.
    auto answer = std::make_shared<std::function<void(Out)>>(std::move(done));
    StateStore* store = worker->store.get();
    bool accepted = worker->Call(
        [store, &event_loop = loop, work = std::move(work), answer, life = alive]() mutable {
          auto out = std::make_shared<Out>(work(*store));
          event_loop.Post([out, answer = std::move(answer), life = std::move(life)] {
            if (life->value) (*answer)(std::move(*out));
          });
        });
    if (accepted) return;
    loop.Post([answer, life = alive] {
      if (life->value) (*answer)(Unavailable("too many calls wait for the state store"));
    });
  }
};

AsyncStore::AsyncStore(net::EventLoop& loop, std::shared_ptr<StateStore> store, size_t max_pending)
    : impl_(new Impl{loop, std::make_shared<Worker>(std::move(store), max_pending)}) {}

AsyncStore::~AsyncStore() {
  impl_->alive->value = false;
  impl_->worker->End();
}

void AsyncStore::Get(std::string path, std::function<void(Result<VersionedValue>)> done) {
  impl_->Run<Result<VersionedValue>>(
      [path = std::move(path)](StateStore& store) { return store.Get(path); }, std::move(done));
}

void AsyncStore::Create(std::string path, std::string value,
                        std::function<void(Result<int64_t>)> done) {
  impl_->Run<Result<int64_t>>([path = std::move(path), value = std::move(value)](
                                  StateStore& store) { return store.Create(path, value); },
                              std::move(done));
}

void AsyncStore::Set(std::string path, std::string value, int64_t expected_version,
                     std::function<void(Result<int64_t>)> done) {
  impl_->Run<Result<int64_t>>(
      [path = std::move(path), value = std::move(value), expected_version](StateStore& store) {
        return store.Set(path, value, expected_version);
      },
      std::move(done));
}

void AsyncStore::Delete(std::string path, int64_t expected_version,
                        std::function<void(Status)> done) {
  impl_->Run<Status>([path = std::move(path), expected_version](
                         StateStore& store) { return store.Delete(path, expected_version); },
                     std::move(done));
}

void AsyncStore::ReadLease(std::string path, std::function<void(Result<LeaseView>)> done) {
  impl_->Run<Result<LeaseView>>(
      [path = std::move(path)](StateStore& store) { return store.ReadLease(path); },
      std::move(done));
}

std::unique_ptr<Watch> AsyncStore::WatchNode(std::string path, std::function<void()> changed) {
  auto life = std::make_shared<Alive>();
  auto call = std::make_shared<std::function<void()>>(std::move(changed));
  auto post = [&event_loop = impl_->loop, life, call, store = impl_->alive] {
    event_loop.Post([life, call, store] {
      if (life->value && store->value) (*call)();
    });
  };
  return std::make_unique<LoopWatch>(impl_->worker, life,
                                     impl_->worker->store->WatchNode(path, std::move(post)));
}

std::unique_ptr<Lease> AsyncStore::Contend(std::string path, LeaseOptions options,
                                           LeaseEvents events) {
  auto life = std::make_shared<Alive>();
  auto calls = std::make_shared<LeaseEvents>(std::move(events));
  LeaseEvents posting;
  posting.on_gained = [&event_loop = impl_->loop, life, calls,
                       store = impl_->alive](uint64_t epoch) {
    event_loop.Post([life, calls, store, epoch] {
      if (life->value && store->value && calls->on_gained) calls->on_gained(epoch);
    });
  };
  posting.on_lost = [&event_loop = impl_->loop, life, calls, store = impl_->alive] {
    event_loop.Post([life, calls, store] {
      if (life->value && store->value && calls->on_lost) calls->on_lost();
    });
  };
  return std::make_unique<LoopLease>(
      impl_->worker, life,
      impl_->worker->store->Contend(path, std::move(options), std::move(posting)));
}

}  // namespace heron::state
