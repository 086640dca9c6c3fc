#include "heron/state/store_contract.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace heron::state {

Status IncrementNode(StateStore& store, const std::string& path, int times) {
  while (times > 0) {
    Result<VersionedValue> read = store.Get(path);
    if (!read.ok()) return read.status();
    Result<int64_t> written =
        store.Set(path, std::to_string(std::stoll(read->value) + 1), read->version);
    if (written.ok()) {
      --times;
    } else if (written.status().code() != StatusCode::kVersionMismatch) {
      return written.status();
    }
  }
  return Status::Ok();
}

namespace {

void InThreads(int count, const std::function<void(int)>& run) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
}

// What a lease said, in order.
class LeaseLog {
 public:
  LeaseEvents Events() {
    return {[this](uint64_t epoch) { Add(static_cast<int64_t>(epoch)); }, [this] { Add(-1); }};
  }
  std::vector<int64_t> entries() {
    std::lock_guard lock(mutex_);
    return entries_;
  }
  bool WaitFor(int64_t entry) {
    return Eventually([&] {
      std::vector<int64_t> now = entries();
      return !now.empty() && now.back() == entry;
    });
  }

 private:
  void Add(int64_t entry) {
    std::lock_guard lock(mutex_);
    entries_.push_back(entry);
  }
  std::mutex mutex_;
  std::vector<int64_t> entries_;
};

TEST_P(StoreContract, GivesBackWhatWasWritten) {
  EXPECT_EQ(store_->Get("/a/b").status().code(), StatusCode::kNotFound);
  Result<int64_t> created = store_->Create("/a/b", "one");
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  EXPECT_EQ(store_->Get("/a/b")->value, "one");
  EXPECT_EQ(store_->Get("/a/b")->version, *created);
  EXPECT_EQ(store_->Create("/a/b", "two").status().code(), StatusCode::kAlreadyExists);
  Result<int64_t> set = store_->Set("/a/b", "three", *created);
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  EXPECT_NE(*set, *created);
  EXPECT_EQ(open_()->Get("/a/b")->value, "three") << "another client must see it";
  EXPECT_EQ(store_->Set("/a/b", "four", *created).status().code(), StatusCode::kVersionMismatch);
  EXPECT_EQ(store_->Delete("/a/b", *created).code(), StatusCode::kVersionMismatch);
  EXPECT_EQ(store_->Get("/a/b")->value, "three");
  EXPECT_TRUE(store_->Delete("/a/b", *set).ok());
  EXPECT_EQ(store_->Get("/a/b").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(store_->Delete("/a/b", kAnyVersion).code(), StatusCode::kNotFound);
  EXPECT_EQ(store_->Set("/a/b", "x", kAnyVersion).status().code(), StatusCode::kNotFound);
}

TEST_P(StoreContract, AnyVersionOverwritesAndDeletes) {
  ASSERT_TRUE(store_->Create("/a", "one").ok());
  ASSERT_TRUE(store_->Set("/a", "two", kAnyVersion).ok());
  EXPECT_EQ(store_->Get("/a")->value, "two");
  EXPECT_TRUE(store_->Delete("/a", kAnyVersion).ok());
  EXPECT_EQ(store_->Get("/a").status().code(), StatusCode::kNotFound);
}

TEST_P(StoreContract, ParentsHaveNoValue) {
  ASSERT_TRUE(store_->Create("/a/b/c", "x").ok());
  EXPECT_EQ(store_->Get("/a/b").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(store_->Set("/a/b", "y", kAnyVersion).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(store_->Create("/a/b", "parent").ok()) << "a node may have children and a value";
  ASSERT_TRUE(store_->Delete("/a/b", kAnyVersion).ok());
  EXPECT_EQ(store_->Get("/a/b/c")->value, "x");
}

TEST_P(StoreContract, AVersionIsNeverUsedTwice) {
  std::set<int64_t> versions;
  for (int round = 0; round < 20; ++round) {
    Result<int64_t> version = store_->Create("/n", "a");
    ASSERT_TRUE(version.ok()) << version.status().ToString();
    EXPECT_TRUE(versions.insert(*version).second);
    version = store_->Set("/n", "a", *version);
    ASSERT_TRUE(version.ok());
    EXPECT_TRUE(versions.insert(*version).second);
    ASSERT_TRUE(store_->Delete("/n", *version).ok());
  }
}

TEST_P(StoreContract, AVersionFromBeforeADeleteIsNoGoodAfterIt) {
  int64_t first = *store_->Create("/n", "same");
  ASSERT_TRUE(store_->Delete("/n", first).ok());
  ASSERT_TRUE(store_->Create("/n", "same").ok());
  EXPECT_EQ(store_->Set("/n", "stale", first).status().code(), StatusCode::kVersionMismatch);
  EXPECT_EQ(store_->Delete("/n", first).code(), StatusCode::kVersionMismatch);
  EXPECT_EQ(store_->Get("/n")->value, "same");
}

TEST_P(StoreContract, SmallAndLargeValues) {
  std::string large(8 << 20, 'x');
  for (size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>(i >> 12);
  ASSERT_TRUE(store_->Create("/empty", "").ok());
  EXPECT_EQ(store_->Get("/empty")->value, "");
  ASSERT_TRUE(store_->Create("/large", large).ok());
  EXPECT_TRUE(store_->Get("/large")->value == large);
  ASSERT_TRUE(store_->Set("/large", "", kAnyVersion).ok());
  EXPECT_EQ(store_->Get("/large")->value, "");
  ASSERT_TRUE(store_->Set("/large", std::string("\0\n\xff", 3), kAnyVersion).ok());
  EXPECT_EQ(store_->Get("/large")->value, std::string("\0\n\xff", 3));
  std::string too_large((64 << 20) + 1, 'x');
  EXPECT_EQ(store_->Create("/too", too_large).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Set("/large", too_large, kAnyVersion).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_P(StoreContract, BadPathsAreRefused) {
  std::vector<std::string> bad = {
      "",      "a",         "/",       "//",        "/a/",
      "/a//b", "/.",        "/a/../b", "/a/./b",    "/a b",
      "/=new", "/a/=value", "/a\n",    "/\xc3\xa4", std::string("/a\0b", 4)};
  bad.push_back("/" + std::string(300, 'x'));
  std::string deep;
  while (deep.size() <= 1024) deep += "/abcdefgh";
  bad.push_back(deep);
  for (const std::string& path : bad) {
    EXPECT_EQ(store_->Get(path).status().code(), StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(store_->Create(path, "x").status().code(), StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(store_->Set(path, "x", 1).status().code(), StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(store_->Delete(path, 1).code(), StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(store_->ReadLease(path).status().code(), StatusCode::kInvalidArgument) << path;
    if (path != "/") {
      EXPECT_EQ(store_->List(path).status().code(), StatusCode::kInvalidArgument) << path;
    }
  }
  for (std::string path : {"/a.b", "/...", "/A_b@c-9", "/v.00000000000000000001/t.x"}) {
    EXPECT_TRUE(store_->Create(path, "x").ok()) << path;
  }
}

TEST_P(StoreContract, ListsChildrenThatAreThere) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(*store_->List("/"), Names{});
  EXPECT_EQ(*store_->List("/none/here"), Names{});
  for (std::string path : {"/t/r/e/b", "/t/r/e/a", "/t/r/f/c", "/t-x", "/t/q"}) {
    ASSERT_TRUE(store_->Create(path, "v").ok());
  }
  EXPECT_EQ(*store_->List("/"), (Names{"t", "t-x"}));
  EXPECT_EQ(*store_->List("/t"), (Names{"q", "r"}));
  EXPECT_EQ(*store_->List("/t/r/e"), (Names{"a", "b"}));
  EXPECT_EQ(*store_->List("/t/r/e/a"), Names{});
  ASSERT_TRUE(store_->Delete("/t/r/f/c", kAnyVersion).ok());
  EXPECT_EQ(*store_->List("/t/r"), (Names{"e"})) << "a parent goes with its last node";
  ASSERT_TRUE(store_->Create("/t/r/f/c", "again").ok());
  EXPECT_EQ(*store_->List("/t/r"), (Names{"e", "f"}));
}

TEST_P(StoreContract, ThreadsIncrementWithoutLoss) {
  constexpr int kThreads = 8;
  ASSERT_TRUE(store_->Create("/sum", "0").ok());
  InThreads(kThreads, [&](int) {
    Status status = IncrementNode(*open_(), "/sum", GetParam().increments);
    EXPECT_TRUE(status.ok()) << status.ToString();
  });
  EXPECT_EQ(store_->Get("/sum")->value, std::to_string(kThreads * GetParam().increments));
}

TEST_P(StoreContract, ProcessesIncrementWithoutLoss) {
  if (!GetParam().across_processes) GTEST_SKIP() << "lives in one process";
  constexpr int kProcesses = 4;
  ASSERT_TRUE(store_->Create("/sum", "0").ok());
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      _exit(IncrementNode(*open_(), "/sum", GetParam().increments).ok() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(store_->Get("/sum")->value, std::to_string(kProcesses * GetParam().increments));
}

TEST_P(StoreContract, OneCreatorWins) {
  constexpr int kThreads = 8;
  for (int round = 0; round < 20; ++round) {
    std::string path = "/race/" + std::to_string(round);
    if (round % 2 == 1) {
      // On the traces of a deleted node as well.
      ASSERT_TRUE(store_->Create(path, "old").ok());
      ASSERT_TRUE(store_->Delete(path, kAnyVersion).ok());
    }
    std::atomic<int> winners = 0;
    std::atomic<int> winner = -1;
    InThreads(kThreads, [&](int i) {
      Result<int64_t> created = open_()->Create(path, std::to_string(i));
      if (created.ok()) {
        ++winners;
        winner = i;
      } else {
        EXPECT_EQ(created.status().code(), StatusCode::kAlreadyExists);
      }
    });
    EXPECT_EQ(winners, 1);
    EXPECT_EQ(store_->Get(path)->value, std::to_string(winner));
  }
}

// Everybody creates, sets and deletes one node. Each version is followed by one success at most,
// none is given out twice.
TEST_P(StoreContract, EachVersionHasOneSuccessor) {
  std::mutex mutex;
  std::set<int64_t> given;
  std::set<int64_t> used;
  int created = 0;
  int deleted = 0;
  auto take = [&](std::set<int64_t>& from, int64_t version) {
    EXPECT_TRUE(from.insert(version).second) << "version " << version << " twice";
  };
  InThreads(6, [&](int thread) {
    auto store = open_();
    for (int i = 0; i < GetParam().increments; ++i) {
      Result<VersionedValue> read = store->Get("/n");
      if (!read.ok()) {
        EXPECT_EQ(read.status().code(), StatusCode::kNotFound) << read.status().ToString();
        Result<int64_t> version = store->Create("/n", "v");
        std::lock_guard lock(mutex);
        if (version.ok()) take(given, *version), ++created;
      } else if ((i + thread) % 4 == 0) {
        Status status = store->Delete("/n", read->version);
        std::lock_guard lock(mutex);
        if (status.ok()) take(used, read->version), ++deleted;
      } else {
        Result<int64_t> version = store->Set("/n", "w", read->version);
        std::lock_guard lock(mutex);
        if (version.ok()) take(given, *version), take(used, read->version);
      }
    }
  });
  EXPECT_EQ(created - deleted, store_->Get("/n").ok() ? 1 : 0);
  EXPECT_GT(deleted, 0);
}

TEST_P(StoreContract, AWatchSeesCreateChangeAndDelete) {
  auto other = open_();
  std::atomic<int> calls = 0;
  auto watch = store_->WatchNode("/w/n", [&] { ++calls; });
  // After each change at least one call must come. More may: it is a hint.
  ASSERT_TRUE(Eventually([&] { return calls > 0; })) << "once after it was set up";
  int before = calls;
  ASSERT_TRUE(other->Create("/w/n", "a").ok());
  EXPECT_TRUE(Eventually([&] { return calls > before; })) << "created";
  before = calls;
  ASSERT_TRUE(other->Set("/w/n", "a", kAnyVersion).ok());
  EXPECT_TRUE(Eventually([&] { return calls > before; })) << "changed";
  before = calls;
  ASSERT_TRUE(other->Delete("/w/n", kAnyVersion).ok());
  EXPECT_TRUE(Eventually([&] { return calls > before; })) << "deleted";
}

TEST_P(StoreContract, NoCallAfterAWatchEnded) {
  std::atomic<int> others = 0;
  for (int round = 0; round < 20; ++round) {
    auto alive = std::make_unique<std::atomic<bool>>(true);
    std::atomic<bool> called = false;
    auto watch = store_->WatchNode("/n", [&, flag = alive.get()] {
      EXPECT_TRUE(*flag);
      called = true;
    });
    ASSERT_TRUE(Eventually([&] { return called.load(); }));
    ASSERT_TRUE((round == 0 ? store_->Create("/n", "x") : store_->Set("/n", "x", -1)).ok());
    watch.reset();
    *alive = false;
    alive.reset();
    others += 1;
  }
}

TEST_P(StoreContract, AWatchMayEndInItsOwnCall) {
  std::unique_ptr<Watch> watch;
  std::mutex mutex;
  std::atomic<bool> done = false;
  {
    std::lock_guard lock(mutex);
    watch = store_->WatchNode("/n", [&] {
      std::lock_guard inner(mutex);
      watch.reset();
      done = true;
    });
  }
  EXPECT_TRUE(Eventually([&] { return done.load(); }));
}

TEST_P(StoreContract, ALeaseIsHeldByOneAndPassedOn) {
  EXPECT_EQ(store_->ReadLease("/lease").status().code(), StatusCode::kNotFound);
  LeaseOptions options{.payload = "first", .lease = std::chrono::milliseconds(2000)};
  LeaseLog first_log;
  LeaseLog second_log;
  auto first = store_->Contend("/lease", options, first_log.Events());
  ASSERT_TRUE(first_log.WaitFor(1));
  EXPECT_TRUE(first->Held());
  EXPECT_EQ(store_->ReadLease("/lease")->payload, "first");
  EXPECT_EQ(store_->ReadLease("/lease")->epoch, 1u);

  options.payload = "second";
  auto other = open_();
  auto second = other->Contend("/lease", options, second_log.Events());
  first->SetPayload("changed");
  EXPECT_TRUE(Eventually([&] { return store_->ReadLease("/lease")->payload == "changed"; }));
  // The holder renews for longer than the lease; the contender stays out.
  uint64_t counter = store_->ReadLease("/lease")->counter;
  EXPECT_TRUE(Eventually([&] { return store_->ReadLease("/lease")->counter >= counter + 4; }));
  EXPECT_FALSE(second->Held());
  EXPECT_TRUE(second_log.entries().empty());

  first.reset();
  ASSERT_TRUE(second_log.WaitFor(2));
  EXPECT_EQ(store_->ReadLease("/lease")->payload, "second");
  EXPECT_EQ(first_log.entries(), (std::vector<int64_t>{1})) << "a release is no loss";
  second.reset();
  EXPECT_TRUE(store_->ReadLease("/lease")->released);
}

TEST_P(StoreContract, AHolderWhoseLeaseWasTakenIsTold) {
  LeaseLog log;
  LeaseOptions options{.payload = "p", .lease = std::chrono::milliseconds(2000)};
  auto lease = store_->Contend("/lease", options, log.Events());
  ASSERT_TRUE(log.WaitFor(1));
  // As another holder would after a take-over. It never renews, so the first gains again, with a
  // higher epoch.
  ASSERT_TRUE(Eventually([&] {
    auto read = store_->Get("/lease");
    return read.ok() && store_->Set("/lease", "\x0a\x01x\x10\x05", read->version).ok();
  }));
  ASSERT_TRUE(log.WaitFor(6));
  EXPECT_EQ(log.entries(), (std::vector<int64_t>{1, -1, 6}));
  ASSERT_TRUE(store_->Delete("/lease", kAnyVersion).ok());
  ASSERT_TRUE(log.WaitFor(7)) << "also after somebody deleted the node";
}

}  // namespace
}  // namespace heron::state
