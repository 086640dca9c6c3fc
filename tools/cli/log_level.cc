#include "tools/cli/log_level.h"

#include <cctype>
#include <utility>

namespace tools::cli {
namespace {

constexpr int kWordsLookedAt = 4;

std::optional<LogLevel> OfLetter(char letter) {
  switch (letter) {
    case 'I':
      return LogLevel::kInfo;
    case 'W':
      return LogLevel::kWarning;
    case 'E':
    case 'F':
      return LogLevel::kError;
    default:
      return std::nullopt;
  }
}

std::optional<LogLevel> OfWord(std::string_view word) {
  constexpr std::pair<std::string_view, LogLevel> kWords[] = {
      {"TRACE", LogLevel::kInfo},     {"DEBUG", LogLevel::kInfo},   {"INFO", LogLevel::kInfo},
      {"NOTICE", LogLevel::kInfo},    {"WARN", LogLevel::kWarning}, {"WARNING", LogLevel::kWarning},
      {"ERROR", LogLevel::kError},    {"ERR", LogLevel::kError},    {"FATAL", LogLevel::kError},
      {"CRITICAL", LogLevel::kError},
  };
  constexpr std::string_view kAround = "[](){}<>:,;|-";
  while (!word.empty() && kAround.find(word.front()) != std::string_view::npos) {
    word.remove_prefix(1);
  }
  while (!word.empty() && kAround.find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  for (const auto& [name, level] : kWords) {
    if (word == name) return level;
  }
  return std::nullopt;
}

// Takes the next word off the front.
std::string_view TakeWord(std::string_view* line) {
  const size_t begin = line->find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    *line = {};
    return {};
  }
  const size_t end = line->find_first_of(" \t", begin);
  const std::string_view word = line->substr(begin, end - begin);
  *line = end == std::string_view::npos ? std::string_view() : line->substr(end);
  return word;
}

}  // namespace

std::optional<LogLevel> LineLevel(std::string_view line) {
  // "W20261130 22:16:54.123456", in older versions "W1130 22:16:54.123456"
  if (line.size() > 5 && std::isdigit(static_cast<unsigned char>(line[1])) != 0 &&
      std::isdigit(static_cast<unsigned char>(line[4])) != 0 &&
      line.substr(0, 12).find(' ') != std::string_view::npos) {
    if (const auto level = OfLetter(line[0])) return level;
  }
  if (line.starts_with("terminate called")) return LogLevel::kError;
  std::string_view rest = line;
  std::string_view before;
  for (int i = 0; i < kWordsLookedAt; ++i) {
    const std::string_view word = TakeWord(&rest);
    if (word.empty()) break;
    if (word == "heron:" && before.size() == 1) return OfLetter(before[0]);
    if (const auto level = OfWord(word)) return level;
    before = word;
  }
  return std::nullopt;
}

}  // namespace tools::cli
