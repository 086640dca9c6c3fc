// SHA-256, by OpenSSL: the name of a package is the hash of its content.
#pragma once

#include <string>
#include <string_view>

#include "heron/base/status.h"

namespace scheduler {

// The 32 raw bytes.
std::string Sha256(std::string_view bytes);

// Of a file's content, streamed. Lower-case hex.
heron::Result<std::string> Sha256OfFile(const std::string& path);

}  // namespace scheduler
