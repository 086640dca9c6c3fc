#include "tools/cli/log_reader.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace tools::cli {
namespace {

constexpr size_t kBlock = 64 << 10;
constexpr size_t kMaxTailBytes = 16 << 20;  // of one file, however long its lines are
constexpr int kMostFiles = 100;

// An open file, as long as it was when it was opened.
class Part {
 public:
  explicit Part(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info = {};
    if (fd_ < 0 || fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return;
    good_ = true;
    size_ = info.st_size;
    inode_ = info.st_ino;
  }
  ~Part() {
    if (fd_ >= 0) close(fd_);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  bool good() const { return good_; }
  off_t size() const { return size_; }
  ino_t inode() const { return inode_; }
  // Keeps the file from being rotated while this lives. The size is that of now.
  bool Lock() {
    if (flock(fd_, LOCK_SH | LOCK_NB) != 0) return false;
    struct stat info = {};
    if (fstat(fd_, &info) == 0) size_ = info.st_size;
    return true;
  }
  void Unlock() { flock(fd_, LOCK_UN); }

  void Read(off_t begin, off_t end, const LogReader::Sink& sink) const {
    const auto block = std::make_unique<char[]>(kBlock);
    while (begin < end) {
      const size_t wanted = std::min(kBlock, static_cast<size_t>(end - begin));
      const ssize_t got = pread(fd_, block.get(), wanted, begin);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      sink(std::string_view(block.get(), static_cast<size_t>(got)));
      begin += got;
    }
  }
  std::string Text(off_t begin, off_t end) const {
    std::string text;
    Read(begin, end, [&text](std::string_view piece) { text += piece; });
    return text;
  }

 private:
  const int fd_;
  bool good_ = false;
  off_t size_ = 0;
  ino_t inode_ = 0;
};

using Parts = std::vector<std::unique_ptr<Part>>;

std::string Older(const std::string& path, int number) {
  return path + "." + std::to_string(number);
}

ino_t InodeOf(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// FILE.1, FILE.2, ... up to the one with this inode, without it.
Parts OlderParts(const std::string& path, ino_t until) {
  Parts parts;
  for (int i = 1; i <= kMostFiles; ++i) {
    auto part = std::make_unique<Part>(Older(path, i));
    if (!part->good() || part->inode() == until) break;
    parts.push_back(std::move(part));
  }
  return parts;
}

// Where the last lines of a text of several parts begin: part (0 is the newest) and offset.
std::pair<size_t, off_t> FindTail(const Parts& parts, int lines) {
  size_t read = 0;
  bool at_end = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    off_t begin = parts[i]->size();
    while (begin > 0) {
      if (lines <= 0 || read >= kMaxTailBytes) return {i, begin};
      const off_t from = std::max<off_t>(0, begin - static_cast<off_t>(kBlock));
      const std::string text = parts[i]->Text(from, begin);
      for (size_t at = text.size(); at > 0; --at) {
        // The line end at the very end ends the last line.
        if (text[at - 1] == '\n' && !at_end && --lines == 0) {
          return {i, from + static_cast<off_t>(at)};
        }
        at_end = false;
      }
      read += text.size();
      begin = from;
    }
  }
  return {parts.empty() ? 0 : parts.size() - 1, 0};
}

}  // namespace

void LogReader::Read(const LogRange& range, const Sink& sink) {
  Parts parts;
  parts.push_back(std::make_unique<Part>(file_.path));
  Part& present = *parts.front();
  if (!present.good()) return;
  // A rotation under way takes a moment; the sizes are taken before or after it.
  for (int i = 0; !present.Lock() && i < 1000; ++i) usleep(1000);
  inode_ = present.inode();
  position_ = present.size();
  older_inode_ = InodeOf(Older(file_.path, 1));
  half_.clear();
  if (range.older_files) {
    for (auto& part : OlderParts(file_.path, 0)) parts.push_back(std::move(part));
  }
  auto [last, begin] =
      range.lines ? FindTail(parts, *range.lines) : std::pair<size_t, off_t>(parts.size() - 1, 0);
  // The older ones do not change any more; the present one is read before the lock goes, because
  // the sink may take any time.
  const std::string newest = present.Text(last == 0 ? begin : 0, position_);
  present.Unlock();
  for (size_t i = last; i > 0; --i) parts[i]->Read(i == last ? begin : 0, parts[i]->size(), sink);
  if (!newest.empty()) sink(newest);
}

std::string LogReader::Added() {
  Part present(file_.path);
  if (!present.good()) return "";
  if (!present.Lock()) return "";  // is being rotated: next time
  const ino_t older = InodeOf(Older(file_.path, 1));
  if (present.inode() != inode_) {
    position_ = 0;
    half_.clear();
  } else if (older != older_inode_ && older != 0) {
    // What was cut off since the last read is in the older files: their sizes tell how much it was.
    const Parts parts = OlderParts(file_.path, older_inode_);
    for (size_t i = parts.size(); i > 0; --i) {
      const Part& part = *parts[i - 1];
      if (position_ < part.size()) half_ += part.Text(position_, part.size());
      position_ = std::max<off_t>(0, position_ - part.size());
    }
  }
  if (present.size() < position_) {
    position_ = 0;
    half_.clear();
  }
  inode_ = present.inode();
  older_inode_ = older;
  const off_t end = std::min<off_t>(present.size(), position_ + static_cast<off_t>(kMaxTailBytes));
  half_ += present.Text(position_, end);
  position_ = end;
  return WholeLines();
}

// A half line waits for its rest, unless it is endless.
std::string LogReader::WholeLines() {
  const size_t last = half_.rfind('\n');
  const size_t whole = half_.size() >= kMaxTailBytes ? half_.size()
                       : last == std::string::npos   ? 0
                                                     : last + 1;
  std::string text = half_.substr(0, whole);
  half_.erase(0, whole);
  return text;
}

}  // namespace tools::cli
