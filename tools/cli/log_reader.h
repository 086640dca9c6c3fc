// One log file with the older ones that it was rotated into (heron/base/log_rotation.h): FILE.1 is
// the newest of them. Together they are one text, in the order oldest, ..., FILE.1, FILE.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tools::cli {

struct LogFile {
  std::string path;
  std::string name;  // "split-7", "tm", "sm:1", "executor:0", "supervisor"
};

struct LogRange {
  std::optional<int> lines;  // the last ones; nullopt: all
  bool older_files = false;  // those before FILE too
};

class LogReader {
 public:
  using Sink = std::function<void(std::string_view)>;

  explicit LogReader(LogFile file) : file_(std::move(file)) {}

  const LogFile& file() const { return file_; }
  // Gives pieces of text to the sink, not cut at line ends; later reads begin behind them. Nothing
  // while there is no such file.
  void Read(const LogRange& range, const Sink& sink);
  // Complete lines that were added since, also those that a rotation has moved into older files
  // meanwhile; a file that was replaced or cut is read from its begin.
  std::string Added();

 private:
  std::string WholeLines();

  LogFile file_;
  ino_t inode_ = 0;
  ino_t older_inode_ = 0;  // of FILE.1; another one: FILE was rotated
  off_t position_ = 0;
  std::string half_;  // a line whose end has not come yet
};

}  // namespace tools::cli
