#include "tools/cli/failed_submits.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "heron/base/log_tail.h"

namespace tools::cli {
namespace {

namespace fs = std::filesystem;
using heron::state::TopologyKey;
using Json = nlohmann::ordered_json;

constexpr char kExtension[] = ".json";

// Lines stay lines; whatever a program printed becomes text.
std::string Cleaned(const std::string& text) {
  std::string cleaned;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) cleaned += '\n';
    cleaned += heron::PrintableText(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return cleaned;
}

}  // namespace

std::string FailedSubmits::FileOf(const TopologyKey& key) const {
  return folder_ + "/" + key.role + "/" + key.env + "/" + key.name + kExtension;
}

void FailedSubmits::Put(const TopologyKey& key, const FailedSubmit& failed) const {
  const std::string path = FileOf(key);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const Json json = {{"cause", failed.cause},
                     {"text", Cleaned(failed.text.substr(0, kMaxTextBytes))},
                     {"program", Cleaned(failed.program.substr(0, kMaxTextBytes))},
                     {"at_unix_ms", failed.at_unix_ms}};
  // No name of a topology begins with a dot.
  const std::string part =
      fs::path(path).parent_path().string() + "/.part-" + std::to_string(getpid());
  {
    std::ofstream out(part, std::ios::trunc);
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  }
  fs::rename(part, path, error);
  if (error) fs::remove(part, error);
  ForgetOldest();
}

std::optional<FailedSubmit> FailedSubmits::Find(const TopologyKey& key) const {
  std::ifstream in(FileOf(key));
  if (!in) return std::nullopt;
  const Json json = Json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto text = [&json](const char* name) {
    auto it = json.find(name);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  FailedSubmit failed{text("cause"), text("text"), text("program")};
  auto at = json.find("at_unix_ms");
  if (at != json.end() && at->is_number_integer()) failed.at_unix_ms = at->get<int64_t>();
  if (failed.cause.empty()) return std::nullopt;
  return failed;
}

void FailedSubmits::Remove(const TopologyKey& key) const {
  std::error_code error;
  fs::path path = FileOf(key);
  if (!fs::remove(path, error)) return;
  // Env and role as far as they are empty now.
  for (int i = 0; i < 2; ++i) {
    path = path.parent_path();
    if (!fs::remove(path, error) || error) return;
  }
}

void FailedSubmits::ForgetOldest() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() == kExtension) {
      files.emplace_back(fs::last_write_time(it->path(), ignored), it->path());
    }
  }
  if (files.size() <= kMost) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i + kMost < files.size(); ++i) fs::remove(files[i].second, error);
}

}  // namespace tools::cli
