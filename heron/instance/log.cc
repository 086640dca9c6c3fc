#include "heron/instance/log.h"

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

namespace heron::instance {

namespace {

thread_local std::string log_label;

}  // namespace

void SetLogLabel(std::string label) { log_label = std::move(label); }
const std::string& LogLabel() { return log_label; }

void Log(LogLevel level, std::string_view text) {
  struct timeval now = {};
  gettimeofday(&now, nullptr);
  struct tm parts = {};
  localtime_r(&now.tv_sec, &parts);
  char stamp[64];
  size_t size = strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &parts);
  const int written = snprintf(stamp + size, sizeof(stamp) - size, ".%03d %c heron: ",
                               static_cast<int>(now.tv_usec / 1000), static_cast<char>(level));
  std::string line(stamp, size + static_cast<size_t>(written));
  if (!log_label.empty()) line.append(log_label).append(": ");
  line.append(text);
  line.push_back('\n');
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace heron::instance
