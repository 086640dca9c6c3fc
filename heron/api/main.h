// The one line that a topology's main() ends with.
#pragma once

#include "heron/api/topology_builder.h"

namespace heron {

// Does what the command line asks and returns the exit code: explains the topology (run plainly),
// describes it to `heron submit` (--heron-describe-fd=N), runs one task of it (--heron-instance and
// its companions, set by the engine), or runs all of it in this process (--heron-local, below).
// Before "--" only --heron-* options and --help are taken; what stands behind it is the program's
// own (heron::Args). Mistakes in the topology are all printed to stderr; the code is then 2.
//
//   PROGRAM --heron-local [--heron-containers=N] [--heron-parallelism=COMPONENT=N]...
//       [--heron-parallelism-all=N] [--heron-config=KEY=VALUE]... -- ARGUMENTS
//
// runs the topology as a cluster would, with threads instead of processes: for a debugger, a
// profiler or a sanitizer. It ends when the topology does or at Ctrl-C (SIGINT, SIGTERM: within a
// second). What the engine says goes to stderr. The code is 0 (FINISHED; what was lost is said), 1
// (FAILED, or it cannot start; the reason is said), 130 after Ctrl-C, 143 after SIGTERM. All tasks
// share the process: its variables, its standard streams, and its end if one of them crashes.
int Main(int argc, char** argv, TopologyBuilder& topology);

}  // namespace heron
