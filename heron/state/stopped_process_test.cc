// A process stopped (SIGSTOP) between any two steps of an operation on the file store, while others
// go on, and then continued: what it does afterwards must neither succeed wrongly nor do harm.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "heron/state/eventually.h"
#include "heron/state/file_store.h"

namespace heron::state {
namespace {

using Operation = std::function<Status(FileStore&)>;

class StoppedProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = ::getenv("TEST_TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/stoppedXXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::unique_ptr<FileStore> Open(int sweep_age_s = 3600,
                                  std::function<void(const char*)> step = nullptr) {
    auto store = FileStore::Open({.root = root_,
                                  .sync = false,
                                  .sweep_age = std::chrono::seconds(sweep_age_s),
                                  .step = std::move(step)});
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    return std::move(*store);
  }

  // A child that runs `operation` and stops itself at step number `stop_at`. False: it ended before
  // that.
  bool StartStopped(const Operation& operation, int stop_at, int sweep_age_s) {
    child_ = ::fork();
    if (child_ == 0) {
      int step = 0;
      auto store = Open(sweep_age_s, [&](const char*) {
        if (step++ == stop_at) ::raise(SIGSTOP);
      });
      Status status = operation(*store);
      _exit(static_cast<int>(status.code()));
    }
    CHECK_GT(child_, 0);
    int status = 0;
    CHECK_EQ(::waitpid(child_, &status, WUNTRACED), child_);
    return WIFSTOPPED(status);
  }

  StatusCode Continue() {
    CHECK_EQ(::kill(child_, SIGCONT), 0);
    int status = 0;
    CHECK_EQ(::waitpid(child_, &status, 0), child_);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    return static_cast<StatusCode>(WEXITSTATUS(status));
  }

  // Runs `meanwhile` at each step of `operation`. `check` is given what the operation said.
  void AtEachStep(const Operation& prepare, const Operation& operation, const Operation& meanwhile,
                  const std::function<void(FileStore&, bool had_happened, StatusCode)>& check,
                  const std::function<bool(FileStore&)>& has_happened, int sweep_age_s = 3600) {
    int stopped = 0;
    for (int step = 0; step < 100; ++step) {
      SCOPED_TRACE("stopped at step " + std::to_string(step));
      root_ = folder_ + "/" + std::to_string(++stores_);
      auto store = Open();
      ASSERT_TRUE(prepare(*store).ok());
      if (!StartStopped(operation, step, sweep_age_s)) break;
      ++stopped;
      bool had_happened = has_happened(*store);
      Status status = meanwhile(*store);
      ASSERT_TRUE(status.ok()) << status.ToString();
      StatusCode said = Continue();
      check(*store, had_happened, said);
      if (HasFailure()) return;
      // The node works on.
      EXPECT_TRUE(store->Create("/after", "x").ok());
      auto left = Open(0);
      EXPECT_TRUE(left->Sweep().ok());
    }
    EXPECT_GE(stopped, 2);
  }

  static Status Sets(FileStore& store, int times, const std::string& value) {
    for (int i = 0; i < times; ++i) {
      HERON_RETURN_IF_ERROR(store.Set("/n", value, kAnyVersion).status());
    }
    return Status::Ok();
  }
  static bool Is(FileStore& store, const std::string& value) {
    Result<VersionedValue> read = store.Get("/n");
    return read.ok() && read->value == value;
  }

  std::string folder_;
  std::string root_;
  int stores_ = 0;
  pid_t child_ = -1;
};

// What others do while it is stopped.
Status Recreate(FileStore& store) {
  Status deleted = store.Delete("/n", kAnyVersion);
  if (!deleted.ok() && deleted.code() != StatusCode::kNotFound) return deleted;
  return store.Create("/n", "other").status();
}

TEST_F(StoppedProcessTest, Set) {
  auto prepare = [](FileStore& store) -> Status {
    HERON_RETURN_IF_ERROR(store.Create("/n", "start").status());
    return Sets(store, 5, "start");
  };
  auto operation = [](FileStore& store) -> Status {
    Result<VersionedValue> read = store.Get("/n");
    if (!read.ok()) return read.status();
    return store.Set("/n", "stale", read->version).status();
  };
  auto happened = [](FileStore& store) { return Is(store, "stale"); };
  auto check = [](FileStore& store, bool had_happened, StatusCode said) {
    if (had_happened) {
      EXPECT_EQ(said, StatusCode::kOk);
    } else {
      EXPECT_TRUE(said == StatusCode::kVersionMismatch || said == StatusCode::kNotFound)
          << StatusCodeName(said);
    }
    EXPECT_TRUE(Is(store, "other")) << "a stale write showed";
  };
  // One write more, many (the stale number was used and removed), and a new life of the node.
  for (int writes : {1, 2, 3, 20}) {
    AtEachStep(
        prepare, operation, [&](FileStore& s) { return Sets(s, writes, "other"); }, check,
        happened);
  }
  AtEachStep(prepare, operation, Recreate, check, happened);
  AtEachStep(
      prepare, operation,
      [this](FileStore& store) -> Status {
        HERON_RETURN_IF_ERROR(store.Delete("/n", kAnyVersion));
        HERON_RETURN_IF_ERROR(Open(0)->Sweep());
        HERON_RETURN_IF_ERROR(store.Create("/n", "other").status());
        return Sets(store, 10, "other");
      },
      check, happened);
}

TEST_F(StoppedProcessTest, Delete) {
  auto prepare = [](FileStore& store) { return store.Create("/n", "start").status(); };
  auto operation = [](FileStore& store) -> Status {
    Result<VersionedValue> read = store.Get("/n");
    if (!read.ok()) return read.status();
    return store.Delete("/n", read->version);
  };
  auto happened = [](FileStore& store) { return !store.Get("/n").ok(); };
  auto check = [](FileStore& store, bool had_happened, StatusCode said) {
    EXPECT_EQ(said, had_happened ? StatusCode::kOk : StatusCode::kVersionMismatch);
    EXPECT_TRUE(Is(store, "other"));
  };
  AtEachStep(
      prepare, operation,
      [](FileStore& store) -> Status {
        if (!store.Get("/n").ok()) return store.Create("/n", "other").status();
        return Sets(store, 10, "other");
      },
      check, happened);
  AtEachStep(
      prepare, operation,
      [this](FileStore& store) -> Status {
        store.Delete("/n", kAnyVersion).IgnoreError();
        HERON_RETURN_IF_ERROR(Open(0)->Sweep());
        return store.Create("/n", "other").status();
      },
      check, happened);
}

// Creation of a node that never was, and of one that was deleted.
TEST_F(StoppedProcessTest, Create) {
  auto nothing = [](FileStore&) { return Status::Ok(); };
  auto tombstone = [](FileStore& store) -> Status {
    HERON_RETURN_IF_ERROR(store.Create("/n", "old").status());
    return store.Delete("/n", kAnyVersion);
  };
  auto operation = [](FileStore& store) { return store.Create("/n", "stale").status(); };
  auto happened = [](FileStore& store) { return Is(store, "stale"); };
  auto check = [](FileStore& store, bool had_happened, StatusCode said) {
    EXPECT_EQ(said, had_happened ? StatusCode::kOk : StatusCode::kAlreadyExists);
    EXPECT_TRUE(Is(store, "other"));
  };
  auto create_or_set = [](FileStore& store) -> Status {
    Result<int64_t> created = store.Create("/n", "other");
    if (created.ok() || created.status().code() != StatusCode::kAlreadyExists) {
      return created.status();
    }
    return Sets(store, 10, "other");
  };
  auto sweep_and_create = [&, this](FileStore& store) -> Status {
    if (!store.Get("/n").ok()) HERON_RETURN_IF_ERROR(Open(0)->Sweep());
    return create_or_set(store);
  };
  auto many_lives = [this](FileStore& store) -> Status {
    for (int i = 0; i < 3; ++i) {
      HERON_RETURN_IF_ERROR(Recreate(store));
      HERON_RETURN_IF_ERROR(store.Delete("/n", kAnyVersion));
      HERON_RETURN_IF_ERROR(Open(0)->Sweep());
    }
    return store.Create("/n", "other").status();
  };
  for (const Operation& prepare : {Operation(nothing), Operation(tombstone)}) {
    AtEachStep(prepare, operation, create_or_set, check, happened);
    AtEachStep(prepare, operation, sweep_and_create, check, happened);
    AtEachStep(prepare, operation, many_lives, check, happened);
  }
}

// Nobody else did anything but sweep: the creator must come through, once.
TEST_F(StoppedProcessTest, CreateOverASweep) {
  AtEachStep([](FileStore&) { return Status::Ok(); },
             [](FileStore& store) { return store.Create("/p/q/n", "mine").status(); },
             [this](FileStore&) { return Open(0)->Sweep(); },
             [](FileStore& store, bool, StatusCode said) {
               EXPECT_EQ(said, StatusCode::kOk);
               Result<VersionedValue> read = store.Get("/p/q/n");
               ASSERT_TRUE(read.ok()) << read.status().ToString();
               EXPECT_EQ(read->value, "mine");
             },
             [](FileStore&) { return false; });
}

// A sweeper that stops half-way and goes on in another life of the node.
TEST_F(StoppedProcessTest, Sweep) {
  auto prepare = [](FileStore& store) -> Status {
    HERON_RETURN_IF_ERROR(store.Create("/n", "old").status());
    HERON_RETURN_IF_ERROR(Sets(store, 5, "old"));
    return store.Delete("/n", kAnyVersion);
  };
  auto operation = [](FileStore& store) { return store.Sweep(); };
  auto check = [](FileStore& store, bool, StatusCode said) {
    EXPECT_EQ(said, StatusCode::kOk);
    EXPECT_TRUE(Is(store, "other"));
  };
  auto never = [](FileStore&) { return false; };
  AtEachStep(
      prepare, operation, [](FileStore& s) { return s.Create("/n", "other").status(); }, check,
      never, 0);
  AtEachStep(
      prepare, operation,
      [](FileStore& store) -> Status {
        HERON_RETURN_IF_ERROR(Recreate(store));
        return Sets(store, 10, "other");
      },
      check, never, 0);
  AtEachStep(
      prepare, operation,
      [this](FileStore& store) -> Status {
        HERON_RETURN_IF_ERROR(Open(0)->Sweep());
        return store.Create("/n", "other").status();
      },
      check, never, 0);
}

TEST_F(StoppedProcessTest, AHolderStoppedBetweenItsCheckAndItsWriteIsFenced) {
  root_ = folder_ + "/store";
  auto store = Open();
  ASSERT_TRUE(store->Create("/plan", "start").ok());
  // The child holds the lease, looks that it does, reads the plan, and is stopped before it writes
  // it.
  child_ = ::fork();
  if (child_ == 0) {
    auto mine = Open();
    auto lease = mine->Contend("/lease", {.lease = std::chrono::milliseconds(1000)}, {});
    if (!Eventually([&] { return lease->Held(); })) _exit(101);
    Result<VersionedValue> plan = mine->Get("/plan");
    if (!plan.ok() || !lease->Held()) _exit(102);
    ::raise(SIGSTOP);
    if (lease->Held()) _exit(103);
    _exit(static_cast<int>(mine->Set("/plan", "stale", plan->version).status().code()));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child_, &status, WUNTRACED), child_);
  ASSERT_TRUE(WIFSTOPPED(status)) << status;
  auto lease = store->Contend("/lease", {.lease = std::chrono::milliseconds(1000)}, {});
  ASSERT_TRUE(Eventually([&] { return lease->Held(); }));
  EXPECT_EQ(store->ReadLease("/lease")->epoch, 2u);
  ASSERT_TRUE(store->Set("/plan", "new", store->Get("/plan")->version).ok());
  EXPECT_EQ(Continue(), StatusCode::kVersionMismatch);
  EXPECT_EQ(store->Get("/plan")->value, "new");
  EXPECT_TRUE(lease->Held()) << "the woken one did not disturb";
}

// No room for the value: the write fails with a message, the old value stays, nothing is left over.
TEST_F(StoppedProcessTest, AFullDisk) {
  root_ = folder_ + "/store";
  auto store = Open();
  ASSERT_TRUE(store->Create("/n", "old").ok());
  child_ = ::fork();
  if (child_ == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit {
      4096, 4096
    };
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto mine = Open();
    Status set = mine->Set("/n", std::string(1 << 20, 'x'), kAnyVersion).status();
    Status created = mine->Create("/m", std::string(1 << 20, 'x')).status();
    bool named = set.message().find(root_ + "/n") != std::string::npos;
    _exit(!set.ok() && !created.ok() && named ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child_, &status, 0), child_);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Is(*store, "old"));
  EXPECT_EQ(store->Get("/m").status().code(), StatusCode::kNotFound);
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 2) << "the store's mark and one value";
}

}  // namespace
}  // namespace heron::state
