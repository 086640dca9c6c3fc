#include "heron/state/poller.h"

#include <optional>
#include <utility>
#include <vector>

namespace heron::state {
namespace {

struct Entry {
  std::string path;
  std::function<void()> changed;
  std::optional<int64_t> last;  // poller thread only
  bool first = true;            // poller thread only
  bool ended = false;           // under Shared::mutex
};

}  // namespace

struct Poller::Shared {
  Duration interval;
  Signature signature;

  std::mutex mutex;
  std::condition_variable wake;           // the thread waits here
  std::condition_variable callback_done;  // destructors of watches wait here
  std::vector<std::shared_ptr<Entry>> entries;
  const Entry* calling = nullptr;
  uint64_t kicks = 0;
  bool stop = false;
  std::thread thread;
  std::thread::id thread_id;

  void Run();
  void Look(Entry& entry);
};

namespace {

class PolledWatch : public Watch {
 public:
  PolledWatch(std::shared_ptr<Poller::Shared> shared, std::shared_ptr<Entry> entry)
      : shared_(std::move(shared)), entry_(std::move(entry)) {}

  ~PolledWatch() override {
    std::unique_lock lock(shared_->mutex);
    entry_->ended = true;
    std::erase(shared_->entries, entry_);
    // From inside its own callback there is nothing to wait for.
    if (shared_->thread_id == std::this_thread::get_id()) return;
    shared_->callback_done.wait(lock, [&] { return shared_->calling != entry_.get(); });
  }

 private:
  std::shared_ptr<Poller::Shared> shared_;
  std::shared_ptr<Entry> entry_;
};

}  // namespace

void Poller::Shared::Look(Entry& entry) {
  Result<int64_t> now = signature(entry.path);
  bool call = std::exchange(entry.first, false);
  if (now.ok()) {
    call = call || entry.last != *now;
    entry.last = *now;
  }
  if (!call) return;
  {
    std::lock_guard lock(mutex);
    if (entry.ended || stop) return;
    calling = &entry;
  }
  entry.changed();
  std::lock_guard lock(mutex);
  calling = nullptr;
  callback_done.notify_all();
}

void Poller::Shared::Run() {
  std::unique_lock lock(mutex);
  thread_id = std::this_thread::get_id();
  while (!stop) {
    uint64_t seen = kicks;
    std::vector<std::shared_ptr<Entry>> round = entries;
    lock.unlock();
    for (const std::shared_ptr<Entry>& entry : round) Look(*entry);
    round.clear();
    lock.lock();
    wake.wait_for(lock, interval, [&] { return stop || kicks != seen; });
  }
}

Poller::Poller(Duration interval, Signature signature) : shared_(std::make_shared<Shared>()) {
  shared_->interval = interval;
  shared_->signature = std::move(signature);
}

Poller::~Poller() {
  std::thread thread;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    shared_->wake.notify_all();
    thread = std::move(shared_->thread);
  }
  if (thread.joinable()) thread.join();
}

std::unique_ptr<Watch> Poller::Add(const std::string& path, std::function<void()> changed) {
  auto entry = std::make_shared<Entry>();
  entry->path = path;
  entry->changed = std::move(changed);
  std::lock_guard lock(shared_->mutex);
  shared_->entries.push_back(entry);
  ++shared_->kicks;
  if (!shared_->thread.joinable()) {
    // The thread ends before the poller does, so a plain pointer is enough.
    shared_->thread = std::thread([shared = shared_.get()] { shared->Run(); });
  }
  shared_->wake.notify_all();
  return std::make_unique<PolledWatch>(shared_, std::move(entry));
}

void Poller::Kick() {
  std::lock_guard lock(shared_->mutex);
  ++shared_->kicks;
  shared_->wake.notify_all();
}

}  // namespace heron::state
