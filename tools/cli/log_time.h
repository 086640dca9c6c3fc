// When a line of a log was written, as far as it says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tools::cli {

// Unix time in ms of the stamp at the line's begin: "2026-11-30 22:16:54", with 'T' or fractions,
// in local time unless it ends in 'Z'; "I20261130 22:16:54.123456" of the engine's processes (W,
// E, F too); without a year it is the latest one that is not after `now_unix_ms` by more than a
// day. The words
// "--- started by heron" may stand before it.
std::optional<int64_t> LineUnixMs(std::string_view line, int64_t now_unix_ms);

}  // namespace tools::cli
