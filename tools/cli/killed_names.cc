#include "tools/cli/killed_names.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>

namespace tools::cli {
namespace {

constexpr size_t kMaxBytes = 32 << 10;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(2 * kMaxBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

bool HasLine(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

bool KilledNames::Contains(const heron::state::TopologyKey& key) const {
  return HasLine(ReadAll(path_), key.ToString());
}

void KilledNames::Add(const heron::state::TopologyKey& key) {
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX) == 0) {
    std::string text = ReadAll(path_);
    const std::string line = key.ToString() + "\n";
    if (!HasLine(text, key.ToString())) {
      text += line;
      if (text.size() > kMaxBytes) text.erase(0, text.find('\n', text.size() / 2) + 1);
      // In place: the lock is on this file.
      if (pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
        const int cut = ftruncate(fd, static_cast<off_t>(text.size()));
        (void)cut;
      }
    }
  }
  close(fd);
}

}  // namespace tools::cli
