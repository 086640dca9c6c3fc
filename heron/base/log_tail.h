// The last words of a process: the end of what it wrote into its log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heron {

// The last `max_lines` lines with something in them that were written behind `offset`, joined by "
// | ", at most `max_bytes` bytes from the end. Always valid UTF-8 without control characters,
// whatever the file holds; empty when it cannot be read. A file shorter than `offset` was rotated
// meanwhile: all that is in it counts.
std::string LogTail(const std::string& path, int64_t offset, int max_lines = 3,
                    size_t max_bytes = 500);

// Valid UTF-8 without control characters, for protobuf strings and people; what is not becomes '?'
// or a space.
std::string PrintableText(std::string_view bytes);

// The file's size, 0 when there is none.
int64_t FileSize(const std::string& path);

}  // namespace heron
