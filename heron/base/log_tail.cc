#include "heron/base/log_tail.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace heron {
namespace {

constexpr int64_t kReadBytes = 8192;

// Length of the valid UTF-8 sequence at the front, 0 if there is none.
size_t SequenceLength(std::string_view bytes) {
  const auto byte = [&bytes](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  size_t length = 0;
  if (first < 0x80) {
    return 1;
  } else if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
  } else {
    return 0;
  }
  if (bytes.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies behind U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

std::string PrintableText(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = SequenceLength(bytes);
    const unsigned char first = static_cast<unsigned char>(bytes[0]);
    if (length == 0) {
      text += '?';
    } else if (length == 1 && (first < 0x20 || first == 0x7F)) {
      text += ' ';
    } else {
      text.append(bytes.substr(0, length));
    }
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return text;
}

int64_t FileSize(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

std::string LogTail(const std::string& path, int64_t offset, int max_lines, size_t max_bytes) {
  const int64_t size = FileSize(path);
  if (offset > size) offset = 0;
  const int64_t begin = std::max(offset, size - kReadBytes);
  if (begin >= size) return "";
  std::ifstream in(path, std::ios::binary);
  std::string bytes(static_cast<size_t>(size - begin), '\0');
  in.seekg(begin);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(in.gcount(), 0)));

  std::vector<std::string> lines;
  while (!bytes.empty() && static_cast<int>(lines.size()) < max_lines) {
    const size_t line_end = bytes.find_last_of('\n');
    const size_t line_begin = line_end == std::string::npos ? 0 : line_end + 1;
    std::string line = PrintableText(std::string_view(bytes).substr(line_begin));
    if (line.find_first_not_of(' ') != std::string::npos) lines.push_back(std::move(line));
    bytes.resize(line_end == std::string::npos ? 0 : line_end);
  }
  std::string tail;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!tail.empty()) tail += " | ";
    tail += *line;
  }
  // A cut in the middle of a character shows as '?'.
  if (tail.size() > max_bytes) tail = PrintableText(tail.substr(tail.size() - max_bytes));
  return tail;
}

}  // namespace heron
