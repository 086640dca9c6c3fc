// The command `heron version`.
#pragma once

#include "heron/base/status.h"
#include "tools/cli/context.h"

namespace tools::cli {

// Uses only the streams of the context.
heron::Status VersionCommand(Cli& cli);

}  // namespace tools::cli
