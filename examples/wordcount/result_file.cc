#include "examples/wordcount/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "heron/heron.h"

namespace wordcount {
namespace {

[[noreturn]] void Fail(const std::string& path, int error) {
  throw heron::Unrecoverable("cannot write " + path + ": " +
                             std::generic_category().message(error));
}

std::string TemporaryName(const std::string& path) { return path + ".part"; }

// Gathers rows so that a row is not a system call.
class FileWriter {
 public:
  explicit FileWriter(std::string path)
      : path_(std::move(path)), fd_(open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666)) {
    if (fd_ < 0) Fail(path_, errno);
  }
  ~FileWriter() {
    if (fd_ >= 0) close(fd_);
  }
  FileWriter(const FileWriter&) = delete;

  void Append(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBufferBytes) Flush();
  }
  void FlushAndSync() {
    Flush();
    if (fsync(fd_) != 0) Fail(path_, errno);
  }

 private:
  static constexpr size_t kBufferBytes = 1 << 20;
  void Flush() {
    size_t done = 0;
    while (done < buffer_.size()) {
      ssize_t n = write(fd_, buffer_.data() + done, buffer_.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) Fail(path_, errno);
      done += static_cast<size_t>(n);
    }
    buffer_.clear();
  }
  std::string path_;
  int fd_;
  std::string buffer_;
};

}  // namespace

void CheckWritable(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) Fail(path, EISDIR);
  std::string part = TemporaryName(path);
  int fd = open(part.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) Fail(path, errno);
  close(fd);
  unlink(part.c_str());
}

void WriteRows(const std::string& path, std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.count != b.count ? a.count > b.count : a.word < b.word;
  });
  std::string part = TemporaryName(path);
  {
    FileWriter out(part);
    for (const Row& row : rows) {
      out.Append(row.word);
      out.Append("\t");
      out.Append(std::to_string(row.count));
      out.Append("\n");
    }
    out.FlushAndSync();
  }
  if (rename(part.c_str(), path.c_str()) != 0) Fail(path, errno);
}

}  // namespace wordcount
