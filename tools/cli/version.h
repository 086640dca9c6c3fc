// The command `heron version`.
#pragma once

#include "heron/base/status.h"
#include "tools/cli/context.h"

namespace tools::cli {

inline constexpr char kEngineVersion[] = "0.1.0";

// Uses only the streams of the context.
heron::Status VersionCommand(Cli& cli);

}  // namespace tools::cli
