// Whose processes may talk to each other: a topology's name, id and secret.
#pragma once

#include <string>

#include "heron/base/status.h"

namespace heron::link {

struct TopologyCredentials {
  std::string topology_name;
  std::string topology_id;
  std::string secret;  // 32 bytes, from a file of mode 0600 (ReadSecretFile)
};

inline constexpr size_t kSecretBytes = 32;

// 32 raw bytes; refuses a file that group or others may read.
Result<std::string> ReadSecretFile(const std::string& path);

}  // namespace heron::link
