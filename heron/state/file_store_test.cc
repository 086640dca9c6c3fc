#include "heron/state/file_store.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "heron/state/store_contract.h"

namespace heron::state {
namespace {

namespace fs = std::filesystem;

// Removed with its last user.
class Folder {
 public:
  Folder() {
    const char* base = ::getenv("TEST_TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/storeXXXXXX";
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string root() const { return path_ + "/root"; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

StoreUnderTest OnDisk(const std::string& name, bool sync) {
  return {.name = name,
          .make =
              [sync] {
                auto folder = std::make_shared<Folder>();
                return [folder, sync]() -> std::unique_ptr<StateStore> {
                  FileStoreOptions options{.root = folder->root(), .sync = sync};
                  options.watch_interval = std::chrono::milliseconds(5);
                  auto store = FileStore::Open(options);
                  EXPECT_TRUE(store.ok()) << store.status().ToString();
                  return std::move(*store);
                };
              },
          .across_processes = true,
          .increments = sync ? 20 : 100};
}

INSTANTIATE_TEST_SUITE_P(File, StoreContract,
                         testing::Values(OnDisk("sync", true), OnDisk("no_sync", false)),
                         [](const auto& test) { return test.param.name; });

class FileStoreTest : public testing::Test {
 protected:
  std::unique_ptr<FileStore> Open(std::chrono::seconds sweep_age = std::chrono::hours(1)) {
    auto store = FileStore::Open({.root = folder_.root(), .sync = false, .sweep_age = sweep_age});
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    return std::move(*store);
  }
  // The files of a node, sorted.
  std::vector<std::string> Files(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.root() + path + "/=value")) {
      names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  Folder folder_;
};

TEST_F(FileStoreTest, OnlyTheOwnerMayLookInside) {
  auto store = Open();
  ASSERT_TRUE(store->Create("/a/b", "secret").ok());
  for (const auto& entry : fs::recursive_directory_iterator(folder_.root())) {
    auto expected = entry.is_directory() ? fs::perms::owner_all
                                         : fs::perms::owner_read | fs::perms::owner_write;
    EXPECT_EQ(entry.status().permissions(), expected) << entry.path();
  }
}

TEST_F(FileStoreTest, OldVersionsAreRemoved) {
  auto store = Open();
  ASSERT_TRUE(store->Create("/a", "0").ok());
  for (int i = 1; i <= 50; ++i) ASSERT_TRUE(store->Set("/a", std::to_string(i), kAnyVersion).ok());
  EXPECT_LE(Files("/a").size(), 4u);
  EXPECT_EQ(store->Get("/a")->value, "50");
  ASSERT_TRUE(store->Create("/b", std::string(1 << 20, 'x')).ok());
  EXPECT_EQ(Files("/b").size(), 1u) << "no left-overs";
}

TEST_F(FileStoreTest, DamageIsNamedAndCanBeOverwritten) {
  auto store = Open();
  std::string value = "a value of some length";
  int64_t version = *store->Create("/a", value);
  std::string file = Files("/a")[0];
  std::string good;
  {
    std::ifstream in(file, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  auto write = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  };
  // Cut off anywhere, and each byte changed.
  for (size_t i = 0; i < good.size(); ++i) {
    write(good.substr(0, i));
    Result<VersionedValue> cut = store->Get("/a");
    EXPECT_EQ(cut.status().code(), StatusCode::kDataLoss) << i;
    EXPECT_NE(cut.status().message().find(file), std::string::npos);
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    write(changed);
    EXPECT_EQ(store->Get("/a").status().code(), StatusCode::kDataLoss) << i;
  }
  write(good + "x");
  EXPECT_EQ(store->Get("/a").status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(store->Create("/a", "x").status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(*store->List("/"), std::vector<std::string>{"a"});
  write("");
  ASSERT_TRUE(store->Set("/a", "repaired", version).ok());
  EXPECT_EQ(store->Get("/a")->value, "repaired");
  write(good);
  EXPECT_EQ(store->Get("/a")->value, "repaired");
  std::ofstream(Files("/a").back(), std::ios::binary | std::ios::trunc) << "";
  EXPECT_TRUE(store->Delete("/a", kAnyVersion).ok());
  EXPECT_EQ(store->Get("/a").status().code(), StatusCode::kNotFound);
}

TEST_F(FileStoreTest, GarbageInTheTreeIsPassedOver) {
  auto store = Open();
  ASSERT_TRUE(store->Create("/a/b", "v").ok());
  std::string values = folder_.root() + "/a/b/=value";
  for (std::string name : {"v.1", "v.99999999999999999999", "v.0000000000000000000x", "t.", "x y",
                           "v.-0000000000000000001", "t.00000000000000000009.dead",
                           "v.09223372036854775807", "v.00000000000000000000"}) {
    std::ofstream(values + "/" + name) << "garbage";
  }
  std::ofstream(folder_.root() + "/a/file") << "x";
  std::ofstream(folder_.root() + "/a/b/file") << "x";
  fs::create_directory(folder_.root() + "/a/not a name");
  fs::create_directory(folder_.root() + "/a/empty");
  fs::create_directory_symlink(folder_.root(), folder_.root() + "/a/loop");
  EXPECT_EQ(store->Get("/a/b")->value, "v");
  EXPECT_EQ(*store->List("/a"), std::vector<std::string>{"b"});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(store->Set("/a/b", "w", kAnyVersion).ok());
  EXPECT_TRUE(Open(std::chrono::seconds(0))->Sweep().ok());
  EXPECT_EQ(store->Get("/a/b")->value, "w");
}

TEST_F(FileStoreTest, AFileOrALinkInTheWayIsNamed) {
  auto store = Open();
  std::ofstream(folder_.root() + "/file") << "x";
  Status status = store->Create("/file/a", "v").status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status.ToString();
  EXPECT_NE(status.message().find(folder_.root() + "/file"), std::string::npos);
  EXPECT_EQ(store->Get("/file/a").status().code(), StatusCode::kFailedPrecondition);
  fs::create_symlink("loop", folder_.root() + "/loop");
  for (Status failed : {store->Create("/loop/a", "v").status(), store->Get("/loop/a").status(),
                        store->List("/loop").status()}) {
    EXPECT_EQ(failed.code(), StatusCode::kFailedPrecondition) << failed.ToString();
    EXPECT_NE(failed.message().find(folder_.root() + "/loop"), std::string::npos);
  }
  fs::create_symlink("nowhere", folder_.root() + "/dangling");
  EXPECT_EQ(store->Create("/dangling/a", "v").status().code(), StatusCode::kFailedPrecondition);

  ASSERT_TRUE(store->Create("/n", "v").ok());
  std::string file = Files("/n")[0];
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(store->Get("/n").status().code(), StatusCode::kDataLoss);
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(store->Get("/n").status().code(), StatusCode::kDataLoss) << "and does not hang";
  fs::remove(file);
  fs::create_symlink("/dev/zero", file);
  EXPECT_EQ(store->Get("/n").status().code(), StatusCode::kDataLoss);
}

TEST_F(FileStoreTest, ARootThatIsNoFolderIsRefused) {
  std::string file = folder_.path() + "/file";
  std::ofstream(file) << "x";
  for (std::string root : {file, file + "/below"}) {
    Status status = FileStore::Open({.root = root}).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status.ToString();
    EXPECT_NE(status.message().find(file), std::string::npos);
  }
  fs::create_symlink("loop", folder_.path() + "/loop");
  EXPECT_EQ(FileStore::Open({.root = folder_.path() + "/loop/x"}).status().code(),
            StatusCode::kFailedPrecondition);
  for (std::string root : {"", "relative", "/", "///"}) {
    EXPECT_EQ(FileStore::Open({.root = root}).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST_F(FileStoreTest, AStoreThatWentAwayIsNotAnEmptyOne) {
  auto store = Open();
  ASSERT_TRUE(store->Create("/a", "v").ok());
  fs::rename(folder_.root(), folder_.path() + "/away");
  EXPECT_EQ(store->Get("/a").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(store->Set("/a", "w", kAnyVersion).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(store->Delete("/a", kAnyVersion).code(), StatusCode::kUnavailable);
  EXPECT_EQ(store->Create("/a", "w").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(store->List("/").status().code(), StatusCode::kUnavailable);
  fs::create_directory(folder_.root());  // an empty mount point
  EXPECT_EQ(store->Get("/a").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(store->Create("/a", "w").status().code(), StatusCode::kUnavailable);
  fs::remove(folder_.root());
  fs::rename(folder_.path() + "/away", folder_.root());
  EXPECT_EQ(store->Get("/a")->value, "v");
}

TEST_F(FileStoreTest, LostPermissionIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do everything";
  auto store = Open();
  ASSERT_TRUE(store->Create("/a", "v").ok());
  std::string values = folder_.root() + "/a/=value";
  fs::permissions(values, fs::perms::owner_read | fs::perms::owner_exec);
  Status status = store->Set("/a", "w", kAnyVersion).status();
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
  EXPECT_NE(status.message().find(values), std::string::npos);
  EXPECT_EQ(store->Get("/a")->value, "v");
  fs::permissions(values, fs::perms::none);
  EXPECT_EQ(store->Get("/a").status().code(), StatusCode::kPermissionDenied);
  fs::permissions(values, fs::perms::owner_all);
}

TEST_F(FileStoreTest, SweepRemovesOnlyOldTraces) {
  auto store = Open();
  int64_t version = *store->Create("/a/b/c", "v");
  ASSERT_TRUE(store->Create("/a/x", "stays").ok());
  ASSERT_TRUE(store->Delete("/a/b/c", version).ok());
  ASSERT_TRUE(store->Sweep().ok());
  EXPECT_TRUE(fs::exists(folder_.root() + "/a/b/c")) << "an hour has not passed";
  std::ofstream(folder_.root() + "/a/x/=value/t.00000000000000000009.dead") << "x";
  fs::create_directory(folder_.root() + "/=new/dead");
  std::ofstream(folder_.root() + "/=new/dead/v.00000000000000000009") << "x";
  ASSERT_TRUE(Open(std::chrono::seconds(0))->Sweep().ok());
  EXPECT_FALSE(fs::exists(folder_.root() + "/a/b"));
  EXPECT_EQ(store->Get("/a/x")->value, "stays");
  EXPECT_EQ(Files("/a/x").size(), 1u);
  EXPECT_TRUE(fs::is_empty(folder_.root() + "/=new"));
  // The swept node comes again with other versions.
  ASSERT_TRUE(store->Create("/a/b/c", "v").ok());
  EXPECT_EQ(store->Set("/a/b/c", "w", version).status().code(), StatusCode::kVersionMismatch);
}

// Creators, writers, deleters and sweepers that find everything old enough, all at once.
TEST_F(FileStoreTest, SweepingRacesWithEverybody) {
  std::mutex mutex;
  std::set<int64_t> given;
  std::set<int64_t> used;
  int created = 0;
  int deleted = 0;
  std::atomic<bool> end = false;
  std::vector<std::thread> sweepers;
  for (int i = 0; i < 2; ++i) {
    sweepers.emplace_back([&] {
      auto store = Open(std::chrono::seconds(0));
      while (!end) {
        Status status = store->Sweep();
        EXPECT_TRUE(status.ok()) << status.ToString();
      }
    });
  }
  std::vector<std::thread> users;
  for (int t = 0; t < 4; ++t) {
    users.emplace_back([&, t] {
      auto store = Open();
      for (int i = 0; i < 300; ++i) {
        Result<VersionedValue> read = store->Get("/p/n");
        if (!read.ok()) {
          EXPECT_EQ(read.status().code(), StatusCode::kNotFound) << read.status().ToString();
          Result<int64_t> version = store->Create("/p/n", "v");
          std::lock_guard lock(mutex);
          if (version.ok()) {
            EXPECT_TRUE(given.insert(*version).second);
            ++created;
          } else {
            EXPECT_EQ(version.status().code(), StatusCode::kAlreadyExists)
                << version.status().ToString();
          }
        } else if ((i + t) % 3 != 0) {
          Status status = store->Delete("/p/n", read->version);
          std::lock_guard lock(mutex);
          if (status.ok()) {
            EXPECT_TRUE(used.insert(read->version).second);
            ++deleted;
          }
        } else {
          Result<int64_t> version = store->Set("/p/n", "w", read->version);
          std::lock_guard lock(mutex);
          if (version.ok()) {
            EXPECT_TRUE(given.insert(*version).second);
            EXPECT_TRUE(used.insert(read->version).second);
          }
        }
      }
    });
  }
  for (std::thread& user : users) user.join();
  end = true;
  for (std::thread& sweeper : sweepers) sweeper.join();
  EXPECT_EQ(created - deleted, Open()->Get("/p/n").ok() ? 1 : 0);
  EXPECT_GT(deleted, 10);
}

}  // namespace
}  // namespace heron::state
