// Reads a yaml file into a flat list of keys with their lines. The decoder of bytes that people
// write by hand: whatever is in them, the result is a Status with file and line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heron/base/status.h"

namespace heron::settings {

inline constexpr size_t kYamlMaxBytes = 256 << 10;
inline constexpr size_t kYamlMaxEntries = 4096;
inline constexpr size_t kYamlMaxDepth = 16;

struct YamlEntry {
  std::string key;  // nested maps joined with '.'
  std::string value;
  int line = 0;  // from 1
};

// Maps of scalars, nested or not. Lists, aliases, several documents and a key given twice are
// errors. `file` is for messages.
Result<std::vector<YamlEntry>> ParseYaml(std::string_view text, const std::string& file);

// kNotFound when there is no such file.
Result<std::vector<YamlEntry>> ReadYamlFile(const std::string& file);

}  // namespace heron::settings
