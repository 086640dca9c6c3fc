#include "heron/state/file_store.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "heron/base/random.h"
#include "heron/state/counted_lease.h"
#include "heron/state/file_system.h"
#include "heron/state/path.h"
#include "heron/state/poller.h"
#include "heron/state/version_folder.h"

namespace heron::state {
namespace {

constexpr char kMarker[] = "/=store";
constexpr char kMarkerText[] = "A state store of heron, format 1.\n";
constexpr char kScratch[] = "/=new";
constexpr char kValueFolder[] = "/=value";
constexpr Duration kSweepInterval = std::chrono::minutes(10);
constexpr int kMaxDepth = kMaxPathBytes / 2;

class FolderStore : public FileStore {
 public:
  explicit FolderStore(FileStoreOptions options)
      : options_(std::move(options)),
        context_{.sync = options_.sync, .step = options_.step},
        last_sweep_(clock_.Now().time_since_epoch().count()),
        poller_(options_.watch_interval,
                [this](const std::string& path) { return Signature(path); }) {}

  Status Init();

  Result<VersionedValue> Get(const std::string& path) override;
  Result<int64_t> Create(const std::string& path, const std::string& value) override;
  Result<int64_t> Set(const std::string& path, const std::string& value,
                      int64_t expected_version) override;
  Status Delete(const std::string& path, int64_t expected_version) override;
  Result<std::vector<std::string>> List(const std::string& path) override;
  Status Sweep() override;

  std::unique_ptr<Watch> WatchNode(const std::string& path,
                                   std::function<void()> changed) override {
    return poller_.Add(path, std::move(changed));
  }
  std::unique_ptr<Lease> Contend(const std::string& path, LeaseOptions options,
                                 LeaseEvents events) override {
    return MakeCountedLease(*this, path, std::move(options), std::move(events), clock_);
  }
  Result<LeaseView> ReadLease(const std::string& path) override {
    return ReadCountedLease(*this, path);
  }

 private:
  VersionFolder Folder(const std::string& path) const {
    return VersionFolder(options_.root + path + kValueFolder, context_);
  }
  // "There is no such node" is only known of a store that is there.
  Status CheckStoreIsThere() const;
  Status NoNode(const std::string& path) const;
  Result<int64_t> SetNext(const std::string& path, const std::string& value, bool tombstone,
                          int64_t expected_version);
  Result<bool> CreateFirst(const std::string& path, const std::string& value, int64_t* version);
  Status MakeParents(const std::string& path);
  Result<bool> IsVisible(const std::string& folder, int depth) const;
  Status SweepFolder(const std::string& folder, int depth);
  Status SweepScratch();
  void MaybeSweep();
  Result<int64_t> Signature(const std::string& path) const;

  // For the loops of those that lose races. Bounded by the call's time.
  class Patience {
   public:
    Patience(const Clock& clock, Duration time) : clock_(clock), until_(clock.Now() + time) {}
    bool End() {
      if (++tries_ > 4) std::this_thread::yield();
      return clock_.Now() >= until_;
    }

   private:
    const Clock& clock_;
    MonotonicTime until_;
    int tries_ = 0;
  };
  Status GaveUp(const std::string& path) const {
    return Unavailable(path + ": others changed it all the time; try again");
  }

  const FileStoreOptions options_;
  const VersionFolder::Context context_;
  const SystemClock clock_;
  std::atomic<int64_t> last_sweep_;
  Poller poller_;
};

Status FolderStore::Init() {
  if (!options_.make) {
    // What is there but no folder is an error here and now, not a store that is missing.
    return Exists(options_.root) ? MakeFolder(options_.root) : Status::Ok();
  }
  for (size_t slash = 1; slash != std::string::npos;) {
    slash = options_.root.find('/', slash + 1);
    HERON_RETURN_IF_ERROR(MakeFolder(options_.root.substr(0, slash)));
  }
  std::string marker = options_.root + kMarker;
  if (Exists(marker)) return Status::Ok();
  std::string temp = options_.root + "/=store." + ToHex(RandomBytes(8));
  Result<FileDescriptor> file = WriteNewFile(temp, kMarkerText, "", options_.sync);
  if (!file.ok()) return file.status();
  Result<FileAnswer> answer = PublishFile(*file, temp, marker);
  RemoveFile(temp).IgnoreError();
  if (!answer.ok()) return answer.status();
  HERON_RETURN_IF_ERROR(MakeFolder(options_.root + kScratch));
  return options_.sync ? SyncFolder(options_.root) : Status::Ok();
}

Status FolderStore::CheckStoreIsThere() const {
  // Not lstat's "no": a store of which nothing can be told is not a store without nodes.
  if (Exists(options_.root + kMarker)) return Status::Ok();
  return Unavailable(options_.root + ": the state store's folder is gone (no file \"=store\")");
}

Status FolderStore::NoNode(const std::string& path) const {
  HERON_RETURN_IF_ERROR(CheckStoreIsThere());
  return NotFound(path + ": no such node");
}

Result<VersionedValue> FolderStore::Get(const std::string& path) {
  HERON_RETURN_IF_ERROR(CheckNodePath(path));
  VersionedValue out;
  Result<VersionFolder::Current> current = Folder(path).Read(&out.value);
  if (!current.ok()) return current.status();
  if (current->state != VersionFolder::State::kValue) return NoNode(path);
  out.version = current->version;
  return out;
}

Result<int64_t> FolderStore::Create(const std::string& path, const std::string& value) {
  HERON_RETURN_IF_ERROR(CheckNodePath(path));
  HERON_RETURN_IF_ERROR(CheckValue(path, value));
  MaybeSweep();
  VersionFolder folder = Folder(path);
  Patience patience(clock_, options_.call_timeout);
  do {
    Result<VersionFolder::Current> current = folder.ReadCurrent();
    if (!current.ok()) return current.status();
    if (current->state == VersionFolder::State::kValue) {
      return AlreadyExists(path + ": the node exists");
    }
    if (current->state == VersionFolder::State::kTombstone) {
      auto written = folder.WriteNext(current->version, value, /*tombstone=*/false);
      if (!written.ok()) return written.status();
      if (*written == VersionFolder::Written::kDone) return current->version + 1;
      continue;
    }
    int64_t version = 0;
    Result<bool> created = CreateFirst(path, value, &version);
    if (!created.ok()) return created.status();
    if (*created) return version;
  } while (!patience.End());
  return GaveUp(path);
}

Result<bool> FolderStore::CreateFirst(const std::string& path, const std::string& value,
                                      int64_t* version) {
  HERON_RETURN_IF_ERROR(CheckStoreIsThere());
  HERON_RETURN_IF_ERROR(MakeFolder(options_.root + kScratch));
  Status parents = MakeParents(path);
  if (parents.code() == StatusCode::kNotFound) return false;  // swept meanwhile: again
  HERON_RETURN_IF_ERROR(parents);
  std::string scratch = options_.root + kScratch + "/" + ToHex(RandomBytes(16));
  auto written = Folder(path).WriteFirst(scratch, value, version);
  if (!written.ok()) {
    // The scratch folder was swept away under us.
    if (written.status().code() == StatusCode::kNotFound) return false;
    return written.status();
  }
  return *written == VersionFolder::Written::kDone;
}

Status FolderStore::MakeParents(const std::string& path) {
  for (size_t slash = 0; slash != std::string::npos;) {
    slash = path.find('/', slash + 1);
    std::string folder = options_.root + path.substr(0, slash);
    if (Exists(folder)) {
      HERON_RETURN_IF_ERROR(MakeFolder(folder));  // says so when it is something else
      continue;
    }
    HERON_RETURN_IF_ERROR(MakeFolder(folder));
    if (options_.sync) HERON_RETURN_IF_ERROR(SyncFolder(folder.substr(0, folder.rfind('/'))));
  }
  return Status::Ok();
}

Result<int64_t> FolderStore::SetNext(const std::string& path, const std::string& value,
                                     bool tombstone, int64_t expected_version) {
  HERON_RETURN_IF_ERROR(CheckNodePath(path));
  HERON_RETURN_IF_ERROR(CheckValue(path, value));
  MaybeSweep();
  VersionFolder folder = Folder(path);
  Patience patience(clock_, options_.call_timeout);
  do {
    Result<VersionFolder::Current> current = folder.ReadCurrent();
    if (!current.ok()) return current.status();
    if (current->state != VersionFolder::State::kValue) return NoNode(path);
    if (expected_version != kAnyVersion && expected_version != current->version) {
      return VersionMismatch(path + ": changed since version " + std::to_string(expected_version) +
                             ", it is at " + std::to_string(current->version));
    }
    auto written = folder.WriteNext(current->version, value, tombstone);
    if (!written.ok()) return written.status();
    if (*written == VersionFolder::Written::kDone) return current->version + 1;
  } while (!patience.End());
  return GaveUp(path);
}

Result<int64_t> FolderStore::Set(const std::string& path, const std::string& value,
                                 int64_t expected_version) {
  return SetNext(path, value, /*tombstone=*/false, expected_version);
}

Status FolderStore::Delete(const std::string& path, int64_t expected_version) {
  return SetNext(path, "", /*tombstone=*/true, expected_version).status();
}

// Whether this folder has a node with a value, itself or below.
Result<bool> FolderStore::IsVisible(const std::string& folder, int depth) const {
  if (depth > kMaxDepth) return false;
  Result<VersionFolder::Current> current =
      VersionFolder(folder + kValueFolder, context_).ReadCurrent();
  if (!current.ok()) return current.status();
  if (current->state == VersionFolder::State::kValue) return true;
  auto entries = ReadFolder(folder);
  if (!entries.ok()) return entries.status();
  if (!entries->has_value()) return false;
  for (const FolderEntry& entry : **entries) {
    if (!entry.is_folder || !IsPathComponent(entry.name)) continue;
    Result<bool> visible = IsVisible(folder + "/" + entry.name, depth + 1);
    if (!visible.ok() || *visible) return visible;
  }
  return false;
}

Result<std::vector<std::string>> FolderStore::List(const std::string& path) {
  HERON_RETURN_IF_ERROR(CheckListPath(path));
  std::string folder = options_.root + (path == "/" ? "" : path);
  auto entries = ReadFolder(folder);
  if (!entries.ok()) return entries.status();
  std::vector<std::string> names;
  if (!entries->has_value()) {
    HERON_RETURN_IF_ERROR(CheckStoreIsThere());
    return names;
  }
  for (FolderEntry& entry : **entries) {
    if (!entry.is_folder || !IsPathComponent(entry.name)) continue;
    Result<bool> visible = IsVisible(folder + "/" + entry.name, 0);
    if (!visible.ok()) return visible.status();
    if (*visible) names.push_back(std::move(entry.name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<int64_t> FolderStore::Signature(const std::string& path) const {
  HERON_RETURN_IF_ERROR(CheckNodePath(path));
  Result<VersionFolder::Current> current = Folder(path).ReadCurrent();
  if (!current.ok()) return current.status();
  if (current->state == VersionFolder::State::kNone) HERON_RETURN_IF_ERROR(CheckStoreIsThere());
  return current->state == VersionFolder::State::kValue ? current->version : 0;
}

Status FolderStore::Sweep() {
  HERON_RETURN_IF_ERROR(CheckStoreIsThere());
  HERON_RETURN_IF_ERROR(SweepScratch());
  return SweepFolder(options_.root, 0);
}

Status FolderStore::SweepScratch() {
  std::string scratch = options_.root + kScratch;
  auto entries = ReadFolder(scratch);
  if (!entries.ok()) return entries.status();
  if (!entries->has_value()) return Status::Ok();
  for (const FolderEntry& entry : **entries) {
    std::string folder = scratch + "/" + entry.name;
    if (!entry.is_folder || AgeSeconds(folder) < options_.sweep_age.count()) continue;
    // Its maker may be stopped just before the rename: take it away as a whole, never empty it in
    // its place.
    std::string doomed = scratch + "/" + ToHex(RandomBytes(16));
    Result<FileAnswer> moved = PublishFolder(folder, doomed);
    if (!moved.ok()) return moved.status();
    if (*moved != FileAnswer::kDone) continue;
    auto files = ReadFolder(doomed);
    if (!files.ok()) return files.status();
    for (const FolderEntry& file : files->value_or(std::vector<FolderEntry>())) {
      HERON_RETURN_IF_ERROR(RemoveFile(doomed + "/" + file.name));
    }
    HERON_RETURN_IF_ERROR(RemoveEmptyFolder(doomed));
  }
  return Status::Ok();
}

Status FolderStore::SweepFolder(const std::string& folder, int depth) {
  if (depth > kMaxDepth) return Status::Ok();
  auto entries = ReadFolder(folder);
  if (!entries.ok()) return entries.status();
  if (!entries->has_value()) return Status::Ok();
  for (const FolderEntry& entry : **entries) {
    if (!entry.is_folder) continue;
    std::string child = folder + "/" + entry.name;
    if ("/" + entry.name == kValueFolder) {
      Result<bool> swept = VersionFolder(child, context_).Sweep(options_.sweep_age.count());
      if (!swept.ok()) return swept.status();
    } else if (IsPathComponent(entry.name)) {
      HERON_RETURN_IF_ERROR(SweepFolder(child, depth + 1));
      // Empty folders go with their last node. One just made by a creator goes too, who makes it
      // again.
      HERON_RETURN_IF_ERROR(RemoveEmptyFolder(child));
    }
  }
  return Status::Ok();
}

void FolderStore::MaybeSweep() {
  int64_t now = clock_.Now().time_since_epoch().count();
  int64_t last = last_sweep_.load();
  if (now - last < kSweepInterval.count() || !last_sweep_.compare_exchange_strong(last, now)) {
    return;
  }
  Status status = Sweep();
  LOG_IF(WARNING, !status.ok()) << "sweeping the state store: " << status.ToString();
}

}  // namespace

Result<std::unique_ptr<FileStore>> FileStore::Open(FileStoreOptions options) {
  while (options.root.size() > 1 && options.root.ends_with('/')) options.root.pop_back();
  if (options.root.size() < 2 || options.root[0] != '/' ||
      options.root.find('\0') != std::string::npos) {
    return InvalidArgument("file:" + options.root +
                           ": the folder must be an absolute path below /");
  }
  auto store = std::make_unique<FolderStore>(std::move(options));
  HERON_RETURN_IF_ERROR(store->Init());
  return std::unique_ptr<FileStore>(std::move(store));
}

}  // namespace heron::state
