#include <filesystem>
#include <string_view>

#include "heron/state/file_store.h"
#include "heron/state/memory_store.h"
#include "heron/state/state_store.h"

namespace heron::state {

namespace {

constexpr std::string_view kFile = "file:";
constexpr std::string_view kMemory = "memory:";

std::string FolderOf(const std::string& url) {
  std::string root = url.substr(kFile.size());
  if (root.starts_with("//")) root.erase(0, root.find_first_not_of('/') - 1);  // file:///path
  return root;
}

}  // namespace

Result<std::unique_ptr<StateStore>> OpenStateStore(const std::string& url, MakeStore make) {
  if (url.starts_with(kFile)) {
    FileStoreOptions options;
    options.root = FolderOf(url);
    options.make = make == MakeStore::kYes;
    Result<std::unique_ptr<FileStore>> store = FileStore::Open(std::move(options));
    if (!store.ok()) return store.status().WithContext("state store");
    return std::unique_ptr<StateStore>(std::move(*store));
  }
  if (url == kMemory) return MakeMemoryStore();
  if (url.starts_with(kMemory))
    return MakeMemoryStore(SharedMemoryTree(url.substr(kMemory.size())));
  return InvalidArgument("state store \"" + url.substr(0, 200) +
                         "\" is of no known kind; known are file:/absolute/folder and memory:");
}

bool StateStoreExists(const std::string& url) {
  if (!url.starts_with(kFile)) return true;
  std::error_code error;
  const std::string folder = FolderOf(url);
  const std::filesystem::file_status status = std::filesystem::status(folder, error);
  if (status.type() == std::filesystem::file_type::not_found) return false;
  // Something that cannot be looked into may be one.
  if (!std::filesystem::is_directory(status)) return true;
  return std::filesystem::exists(folder + "/=store", error) || error;
}

}  // namespace heron::state
