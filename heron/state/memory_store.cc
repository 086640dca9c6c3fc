#include "heron/state/memory_store.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "heron/state/counted_lease.h"
#include "heron/state/path.h"
#include "heron/state/poller.h"

namespace heron::state {

class MemoryTree {
 public:
  std::mutex mutex;
  std::map<std::string, VersionedValue> nodes;
  int64_t next_version = 1;      // of the whole tree: never repeats on a path either
  std::vector<Poller*> pollers;  // of the clients; to be woken by a change

  void Changed() {
    for (Poller* poller : pollers) poller->Kick();
  }
};

namespace {

class MemoryStore : public StateStore {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryTree> tree)
      : tree_(std::move(tree)), poller_(std::chrono::seconds(1), [this](const std::string& path) {
          std::lock_guard lock(tree_->mutex);
          auto it = tree_->nodes.find(path);
          return Result<int64_t>(it == tree_->nodes.end() ? 0 : it->second.version);
        }) {
    std::lock_guard lock(tree_->mutex);
    tree_->pollers.push_back(&poller_);
  }

  ~MemoryStore() override {
    std::lock_guard lock(tree_->mutex);
    std::erase(tree_->pollers, &poller_);
  }

  Result<VersionedValue> Get(const std::string& path) override {
    HERON_RETURN_IF_ERROR(CheckNodePath(path));
    std::lock_guard lock(tree_->mutex);
    auto it = tree_->nodes.find(path);
    if (it == tree_->nodes.end()) return NotFound(path + ": no such node");
    return it->second;
  }

  Result<int64_t> Create(const std::string& path, const std::string& value) override {
    HERON_RETURN_IF_ERROR(CheckNodePath(path));
    HERON_RETURN_IF_ERROR(CheckValue(path, value));
    std::lock_guard lock(tree_->mutex);
    auto [it, fresh] = tree_->nodes.try_emplace(path);
    if (!fresh) return AlreadyExists(path + ": the node exists");
    it->second = VersionedValue{value, tree_->next_version++};
    tree_->Changed();
    return it->second.version;
  }

  Result<int64_t> Set(const std::string& path, const std::string& value,
                      int64_t expected_version) override {
    HERON_RETURN_IF_ERROR(CheckNodePath(path));
    HERON_RETURN_IF_ERROR(CheckValue(path, value));
    std::lock_guard lock(tree_->mutex);
    auto it = tree_->nodes.find(path);
    HERON_RETURN_IF_ERROR(CheckVersion(path, it, expected_version));
    it->second = VersionedValue{value, tree_->next_version++};
    tree_->Changed();
    return it->second.version;
  }

  Status Delete(const std::string& path, int64_t expected_version) override {
    HERON_RETURN_IF_ERROR(CheckNodePath(path));
    std::lock_guard lock(tree_->mutex);
    auto it = tree_->nodes.find(path);
    HERON_RETURN_IF_ERROR(CheckVersion(path, it, expected_version));
    tree_->nodes.erase(it);
    tree_->Changed();
    return Status::Ok();
  }

  Result<std::vector<std::string>> List(const std::string& path) override {
    HERON_RETURN_IF_ERROR(CheckListPath(path));
    std::string prefix = path == "/" ? path : path + "/";
    std::lock_guard lock(tree_->mutex);
    std::vector<std::string> names;
    for (auto it = tree_->nodes.lower_bound(prefix);
         it != tree_->nodes.end() && it->first.starts_with(prefix); ++it) {
      names.push_back(
          it->first.substr(prefix.size(), it->first.find('/', prefix.size()) - prefix.size()));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

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
  Status CheckVersion(const std::string& path,
                      std::map<std::string, VersionedValue>::const_iterator it,
                      int64_t expected_version) {
    if (it == tree_->nodes.end()) return NotFound(path + ": no such node");
    if (expected_version == kAnyVersion || expected_version == it->second.version) {
      return Status::Ok();
    }
    return VersionMismatch(path + ": changed since version " + std::to_string(expected_version) +
                           ", it is at " + std::to_string(it->second.version));
  }

  const std::shared_ptr<MemoryTree> tree_;
  const SystemClock clock_;
  Poller poller_;
};

}  // namespace

std::shared_ptr<MemoryTree> MakeMemoryTree() { return std::make_shared<MemoryTree>(); }

std::shared_ptr<MemoryTree> SharedMemoryTree(const std::string& name) {
  static std::mutex mutex;
  static auto& trees = *new std::map<std::string, std::shared_ptr<MemoryTree>>;
  std::lock_guard lock(mutex);
  std::shared_ptr<MemoryTree>& tree = trees[name];
  if (tree == nullptr) tree = MakeMemoryTree();
  return tree;
}

std::unique_ptr<StateStore> MakeMemoryStore(std::shared_ptr<MemoryTree> tree) {
  return std::make_unique<MemoryStore>(std::move(tree));
}

}  // namespace heron::state
