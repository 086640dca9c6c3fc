// The one line that a topology's main() ends with.
#pragma once

#include "heron/api/topology_builder.h"

namespace heron {

// Does what the command line asks and returns the exit code: explains the topology (run plainly),
// describes it to `heron submit` (--heron-describe-fd=N), or runs one task of it (--heron-instance
// and its companions, set by the engine). Before "--" only --heron-* options and --help are taken;
// what stands behind it is the program's own (heron::Args). Mistakes in the topology are all
// printed to stderr; the code is then 2.
int Main(int argc, char** argv, TopologyBuilder& topology);

}  // namespace heron
