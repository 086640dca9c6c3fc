#include "heron/state/async_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "heron/state/memory_store.h"

namespace heron::state {
namespace {

// Lets calls through only while the gate is open.
class GatedStore : public StateStore {
 public:
  GatedStore() : store_(MakeMemoryStore()) {}
  void Open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    wake_.notify_all();
  }
  int calls() const { return calls_; }

  Result<VersionedValue> Get(const std::string& path) override {
    Pass();
    return store_->Get(path);
  }
  Result<int64_t> Create(const std::string& path, const std::string& value) override {
    Pass();
    return store_->Create(path, value);
  }
  Result<int64_t> Set(const std::string& path, const std::string& value, int64_t v) override {
    Pass();
    return store_->Set(path, value, v);
  }
  Status Delete(const std::string& path, int64_t version) override {
    Pass();
    return store_->Delete(path, version);
  }
  Result<std::vector<std::string>> List(const std::string& path) override {
    return store_->List(path);
  }
  std::unique_ptr<Watch> WatchNode(const std::string& path, std::function<void()> fn) override {
    return store_->WatchNode(path, std::move(fn));
  }
  std::unique_ptr<Lease> Contend(const std::string& path, LeaseOptions options,
                                 LeaseEvents events) override {
    return store_->Contend(path, std::move(options), std::move(events));
  }
  Result<LeaseView> ReadLease(const std::string& path) override { return store_->ReadLease(path); }

 private:
  void Pass() {
    ++calls_;
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return open_; });
  }
  std::unique_ptr<StateStore> store_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool open_ = false;
  std::atomic<int> calls_ = 0;
};

class AsyncStoreTest : public testing::Test {
 protected:
  // Runs the loop until Stop, or fails after 30 s.
  void Run() {
    net::TimerId timer = loop_.RunAfter(std::chrono::seconds(30), [this] {
      ADD_FAILURE() << "waited for too long";
      loop_.Stop();
    });
    loop_.Run();
    loop_.CancelTimer(timer);
  }
  net::EventLoop loop_;
  std::shared_ptr<StateStore> memory_ = MakeMemoryStore();
};

TEST_F(AsyncStoreTest, AnswersComeInOrderInTheLoopsThread) {
  AsyncStore store(loop_, memory_);
  std::string log;
  auto me = std::this_thread::get_id();
  store.Create("/a", "1", [&](Result<int64_t> version) {
    EXPECT_EQ(std::this_thread::get_id(), me);
    ASSERT_TRUE(version.ok());
    log += "create ";
    store.Set("/a", "2", *version, [&](Result<int64_t> set) {
      EXPECT_TRUE(set.ok());
      log += "set ";
    });
    store.Get("/a", [&](Result<VersionedValue> read) { log += "get" + read->value + " "; });
    store.Delete("/a", kAnyVersion, [&](Status status) {
      EXPECT_TRUE(status.ok());
      log += "delete ";
    });
    store.ReadLease("/a", [&](Result<LeaseView> view) {
      EXPECT_EQ(view.status().code(), StatusCode::kNotFound);
      loop_.Stop();
    });
  });
  Run();
  EXPECT_EQ(log, "create set get2 delete ");
}

TEST_F(AsyncStoreTest, TooManyWaitingCallsFailAtOnce) {
  auto gated = std::make_shared<GatedStore>();
  AsyncStore store(loop_, gated, 2);
  int done = 0;
  int refused = 0;
  auto count = [&](Result<VersionedValue> read) {
    if (read.status().code() == StatusCode::kUnavailable) {
      // The others wait in front of the gate still.
      if (++refused == 3) gated->Open();
    } else {
      ++done;
    }
    if (done + refused == 6) loop_.Stop();
  };
  store.Get("/a", count);
  while (gated->calls() == 0) std::this_thread::yield();  // the worker has that one
  for (int i = 0; i < 5; ++i) store.Get("/a", count);
  Run();
  EXPECT_EQ(done, 3);
  EXPECT_EQ(refused, 3);
}

TEST_F(AsyncStoreTest, NoCallbackAfterTheEnd) {
  auto gated = std::make_shared<GatedStore>();
  auto store = std::make_unique<AsyncStore>(loop_, gated);
  for (int i = 0; i < 10; ++i) {
    store->Get("/a", [](Result<VersionedValue>) { ADD_FAILURE() << "called after the end"; });
  }
  while (gated->calls() == 0) std::this_thread::yield();
  std::thread opener([&] { gated->Open(); });
  store.reset();
  opener.join();
  EXPECT_LE(gated->calls(), 10);
  loop_.Post([this] { loop_.Stop(); });
  Run();
}

TEST_F(AsyncStoreTest, WatchAndLeaseCallInTheLoop) {
  AsyncStore store(loop_, memory_);
  auto me = std::this_thread::get_id();
  auto watch = store.WatchNode("/n", [&] {
    EXPECT_EQ(std::this_thread::get_id(), me);
    if (memory_->Get("/n").ok()) loop_.Stop();
  });
  store.Create("/n", "v", [](Result<int64_t> version) { EXPECT_TRUE(version.ok()); });
  Run();
  watch.reset();

  std::unique_ptr<Lease> lease = store.Contend("/lease", {.payload = "p"},
                                               {.on_gained =
                                                    [&](uint64_t epoch) {
                                                      EXPECT_EQ(epoch, 1u);
                                                      EXPECT_EQ(std::this_thread::get_id(), me);
                                                      loop_.Stop();
                                                    },
                                                .on_lost = [] { ADD_FAILURE(); }});
  Run();
  EXPECT_TRUE(lease->Held());
  lease.reset();
  // Released by the worker, in order: before this call.
  store.ReadLease("/lease", [&](Result<LeaseView> view) {
    EXPECT_TRUE(view->released);
    loop_.Stop();
  });
  Run();
}

TEST_F(AsyncStoreTest, ALeaseMayOutliveTheStore) {
  auto store = std::make_unique<AsyncStore>(loop_, memory_);
  auto lease = store->Contend("/lease", {}, {.on_gained = [&](uint64_t) { loop_.Stop(); }});
  Run();
  store.reset();
  lease.reset();
  EXPECT_TRUE(memory_->ReadLease("/lease")->released);
}

}  // namespace
}  // namespace heron::state
