#include "tools/cli/engine_files.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>

namespace tools::cli {
namespace {

namespace fs = std::filesystem;

// Each executable and its folder under Bazel's output folder.
const std::pair<const char*, const char*> kExecutables[] = {
    {"heron-supervisor", "scheduler/local"},
    {"heron-executor", "heron/executor"},
    {"heron-topology-master", "heron/topology_master"},
    {"heron-stream-manager", "heron/stream_manager"},
};

bool IsExecutable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

heron::Result<std::string> SelfPath() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return heron::ErrnoStatus(error.value(), "cannot find this program's own file");
  return self.string();
}

std::string InstalledConfigFolder(const std::string& self) {
  const fs::path folder =
      (fs::path(self).parent_path() / ".." / "share" / "heron" / "config").lexically_normal();
  std::error_code error;
  return fs::is_directory(folder, error) ? folder.string() : "";
}

heron::Result<std::vector<std::string>> FindEngine(const std::string& self,
                                                   const std::string& override_folder) {
  const fs::path folder = fs::path(self).parent_path();
  std::vector<std::string> files;
  std::string missing;
  for (const auto& [name, bazel_folder] : kExecutables) {
    std::vector<fs::path> places = {fs::path(override_folder) / name};
    if (override_folder.empty()) {
      places = {folder / name, folder / ".." / "libexec" / "heron" / name,
                folder / ".." / ".." / bazel_folder / name};
    }
    bool found = false;
    for (const fs::path& place : places) {
      const fs::path normal = place.lexically_normal();
      if (found || !IsExecutable(normal)) continue;
      files.push_back(normal.string());
      found = true;
    }
    if (!found) missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  if (missing.empty()) return files;
  return heron::NotFound(
      "the engine is not complete: no " + missing + " in " +
      (override_folder.empty()
           ? folder.string() + " or its ../libexec/heron; build it, or set HERON_ENGINE_FOLDER"
           : override_folder + " (HERON_ENGINE_FOLDER)"));
}

}  // namespace tools::cli
