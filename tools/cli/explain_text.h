// Words and numbers that several explanations share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/explanation.h"

namespace tools::cli {

std::string AgeText(int64_t ms);        // "3 s", "12 min", "5 h"; never negative
std::string BytesText(uint64_t bytes);  // "812 bytes", "8.1 MiB"
std::string CountText(uint64_t number, const std::string& what);  // "1 task", "3 tasks"
// "a, b and 3 more"
std::string JoinText(const std::vector<std::string>& words, size_t most = 4);

// For shells that would expand the brackets of "split[0]".
inline std::string Quoted(const std::string& target) { return "'" + target + "'"; }

// "heron logs NAME TARGET", with the place where the command needs it.
std::string CommandFor(const ExplainFacts& facts, const std::string& command,
                       const std::string& more = "");
// "log of split[0]: ..." for the last lines of that log.
void AddLastLines(const ExplainFacts& facts, const std::string& target, Cause* cause);
// The process when the list of processes has it.
const scheduler::ProcessInfo* FindProcess(const ExplainFacts& facts, const std::string& what);
inline bool IsStopped(const scheduler::ProcessInfo* process) {
  return process != nullptr && (process->state == 'T' || process->state == 't');
}
// What a stopped process needs.
void AddContinue(const scheduler::ProcessInfo& process, const std::string& who, Cause* cause);

}  // namespace tools::cli
