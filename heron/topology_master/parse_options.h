// The command line of heron-topology-master.
#pragma once

#include "heron/base/status.h"
#include "heron/topology_master/options.h"

namespace heron::topology_master {

// Removes what it knows from the arguments. InvalidArgument names the flag that is missing or
// wrong.
Result<Options> ParseOptions(int* argc, char*** argv);

}  // namespace heron::topology_master
