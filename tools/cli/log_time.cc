#include "tools/cli/log_time.h"

#include <ctime>

namespace tools::cli {
namespace {

constexpr int64_t kDayMs = 24 * 3600 * 1000;

// Takes exactly `digits` digits off the front; -1 when they are not there.
int Take(std::string_view* text, size_t digits) {
  if (text->size() < digits) return -1;
  int number = 0;
  for (char c : text->substr(0, digits)) {
    if (c < '0' || c > '9') return -1;
    number = 10 * number + (c - '0');
  }
  text->remove_prefix(digits);
  return number;
}

bool Skip(std::string_view* text, std::string_view any_of) {
  if (text->empty() || any_of.find(text->front()) == std::string_view::npos) return false;
  text->remove_prefix(1);
  return true;
}

// "22:16:54", perhaps with ".123"; what is behind stays.
bool TakeTime(std::string_view* text, std::tm* parts, int* ms) {
  parts->tm_hour = Take(text, 2);
  if (!Skip(text, ":")) return false;
  parts->tm_min = Take(text, 2);
  if (!Skip(text, ":")) return false;
  parts->tm_sec = Take(text, 2);
  *ms = 0;
  if (Skip(text, ".,")) {
    int scale = 100;
    for (int digit = Take(text, 1); digit >= 0; digit = Take(text, 1), scale /= 10) {
      *ms += digit * scale;
    }
  }
  return parts->tm_hour >= 0 && parts->tm_hour < 24 && parts->tm_min >= 0 && parts->tm_min < 60 &&
         parts->tm_sec >= 0 && parts->tm_sec <= 60;
}

int64_t UnixMs(std::tm parts, int ms, bool utc) {
  parts.tm_isdst = -1;
  const std::time_t seconds = utc ? timegm(&parts) : mktime(&parts);
  return static_cast<int64_t>(seconds) * 1000 + ms;
}

bool IsDate(const std::tm& parts) {
  return parts.tm_mon >= 0 && parts.tm_mon < 12 && parts.tm_mday >= 1 && parts.tm_mday <= 31;
}

// "I20261130 22:16:54.123456", in older versions without the year
std::optional<int64_t> EngineTime(std::string_view line, int64_t now_unix_ms) {
  if (!Skip(&line, "IWEF")) return std::nullopt;
  std::tm parts = {};
  int ms = 0;
  const bool has_year = line.find(' ') == 8;
  if (has_year) parts.tm_year = Take(&line, 4) - 1900;
  parts.tm_mon = Take(&line, 2) - 1;
  parts.tm_mday = Take(&line, 2);
  if (!IsDate(parts) || !Skip(&line, " ") || !TakeTime(&line, &parts, &ms)) return std::nullopt;
  if (has_year) return UnixMs(parts, ms, /*utc=*/false);
  const std::time_t now = static_cast<std::time_t>(now_unix_ms / 1000);
  std::tm today = {};
  localtime_r(&now, &today);
  // The end of December may be read in January, and clocks may differ a little.
  parts.tm_year = today.tm_year + 1;
  int64_t at = UnixMs(parts, ms, /*utc=*/false);
  while (at > now_unix_ms + kDayMs && parts.tm_year > 0) {
    --parts.tm_year;
    at = UnixMs(parts, ms, /*utc=*/false);
  }
  return at;
}

}  // namespace

std::optional<int64_t> LineUnixMs(std::string_view line, int64_t now_unix_ms) {
  constexpr std::string_view kHeadline = "--- started by heron ";
  if (line.starts_with(kHeadline)) line.remove_prefix(kHeadline.size());
  if (std::optional<int64_t> engine = EngineTime(line, now_unix_ms)) return engine;
  std::tm parts = {};
  int ms = 0;
  parts.tm_year = Take(&line, 4) - 1900;
  if (!Skip(&line, "-")) return std::nullopt;
  parts.tm_mon = Take(&line, 2) - 1;
  if (!Skip(&line, "-")) return std::nullopt;
  parts.tm_mday = Take(&line, 2);
  if (!IsDate(parts) || !Skip(&line, " T") || !TakeTime(&line, &parts, &ms)) return std::nullopt;
  return UnixMs(parts, ms, Skip(&line, "Z"));
}

}  // namespace tools::cli
