#include "tools/cli/explain_text.h"

#include <algorithm>
#include <cstdio>

namespace tools::cli {
namespace {

constexpr int kLogLines = 5;
constexpr size_t kMaxLineBytes = 300;

}  // namespace

std::string AgeText(int64_t ms) {
  const int64_t seconds = std::max<int64_t>(ms, 0) / 1000;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 2 * 3600) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86400) + " days";
}

std::string BytesText(uint64_t bytes) {
  if (bytes < 1024) return CountText(bytes, "byte");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string CountText(uint64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string JoinText(const std::vector<std::string>& words, size_t most) {
  std::string text;
  const size_t shown = words.size() > most ? most : words.size();
  for (size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == words.size();
    if (i > 0) text += last ? " and " : ", ";
    text += words[i];
  }
  if (shown < words.size()) text += " and " + std::to_string(words.size() - shown) + " more";
  return text;
}

std::string CommandFor(const ExplainFacts& facts, const std::string& command,
                       const std::string& more) {
  return "heron " + command + " " + facts.place + facts.key.name + (more.empty() ? "" : " " + more);
}

void AddLastLines(const ExplainFacts& facts, const std::string& target, Cause* cause) {
  for (std::string& line : facts.last_lines(target, kLogLines)) {
    if (line.size() > kMaxLineBytes) line = line.substr(0, kMaxLineBytes) + "...";
    cause->evidence.push_back("log of " + target + ": " + line);
  }
}

const scheduler::ProcessInfo* FindProcess(const ExplainFacts& facts, const std::string& what) {
  if (!facts.processes) return nullptr;
  for (const scheduler::ProcessInfo& process : *facts.processes) {
    if (process.what == what) return &process;
  }
  return nullptr;
}

void AddContinue(const scheduler::ProcessInfo& process, const std::string& who, Cause* cause) {
  cause->evidence.push_back(who + " (pid " + std::to_string(process.pid) +
                            ") is stopped by a signal (SIGSTOP, Ctrl-Z or a debugger)");
  cause->remedies.push_back({"let it go on", "kill -CONT " + std::to_string(process.pid)});
}

}  // namespace tools::cli
