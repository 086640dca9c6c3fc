// The command line of heron-stream-manager.
#pragma once

#include "heron/base/status.h"
#include "heron/stream_manager/options.h"

namespace heron::stream_manager {

// Takes its flags out of the arguments. kInvalidArgument names the flag.
Result<Options> ParseOptions(int* argc, char*** argv);

}  // namespace heron::stream_manager
