// How bad a line of a log is, as far as it says so.
#pragma once

#include <optional>
#include <string_view>

namespace tools::cli {

enum class LogLevel { kInfo, kWarning, kError };

// Of the engine's lines ("W20261130 22:16:54.123456 ...", "2026-11-30 22:16:54.123 W heron: ...")
// and of those that have a level in capitals among their first words ("[ERROR] ...", "2026-11-30
// WARN: ..."); nullopt where there is none: such a line counts as information.
std::optional<LogLevel> LineLevel(std::string_view line);

}  // namespace tools::cli
