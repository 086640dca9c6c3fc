// The command line of heron-executor.
#pragma once

#include "heron/base/status.h"
#include "heron/executor/options.h"

namespace heron::executor {

// Removes what it knows from the arguments. InvalidArgument names the flag that is missing or
// wrong.
Result<Options> ParseOptions(int* argc, char*** argv);

}  // namespace heron::executor
