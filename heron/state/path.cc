#include "heron/state/path.h"

namespace heron::state {
namespace {

Status BadPath(const std::string& path, const std::string& why) {
  std::string shown;
  for (char c : path.substr(0, 200)) {
    shown += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
  }
  return InvalidArgument("state path \"" + shown + "\": " + why);
}

}  // namespace

bool IsPathComponent(std::string_view component) {
  if (component.empty() || component.size() > kMaxPathComponentBytes) return false;
  if (component == "." || component == "..") return false;
  for (char c : component) {
    bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '.' || c == '@' || c == '-';
    if (!ok) return false;
  }
  return true;
}

Status CheckNodePath(const std::string& path) {
  if (path.size() > kMaxPathBytes) {
    return BadPath(path, "longer than " + std::to_string(kMaxPathBytes) + " bytes");
  }
  if (path.empty() || path[0] != '/') return BadPath(path, "it must start with '/'");
  std::string_view rest = std::string_view(path).substr(1);
  while (true) {
    size_t slash = rest.find('/');
    if (!IsPathComponent(rest.substr(0, slash))) {
      return BadPath(
          path, "between the slashes there must be 1 to " + std::to_string(kMaxPathComponentBytes) +
                    " letters, digits, '_', '.', '@' or '-', and neither \".\" nor \"..\"");
    }
    if (slash == std::string_view::npos) return Status::Ok();
    rest.remove_prefix(slash + 1);
  }
}

Status CheckListPath(const std::string& path) {
  return path == "/" ? Status::Ok() : CheckNodePath(path);
}

Status CheckValue(const std::string& path, const std::string& value) {
  if (value.size() <= kMaxValueBytes) return Status::Ok();
  return InvalidArgument(path + ": a value of " + std::to_string(value.size()) +
                         " bytes; the limit is " + std::to_string(kMaxValueBytes));
}

}  // namespace heron::state
