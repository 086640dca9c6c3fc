// Ends a topology and removes everything of it. Shared by kill, and by submit when a finished one
// holds the name.
//
// The fence: /desired is set to KILLING(id) first, by compare-and-set, and removed last. So submits
// wait, executors that look there stop, and a removal that was broken off can be taken up by
// anyone, any number at the same time.
#pragma once

#include <string>

#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "proto/state.pb.h"
#include "tools/cli/context.h"
#include "tools/cli/progress.h"
#include "tools/cli/records.h"

namespace tools::cli {

// Whether packages that nobody uses are removed too. A submit that holds their lock must not.
enum class Sweep { kNo, kYes };

// Ends every process, those that no node tells of included; removes every node, logs and packages
// that nobody uses. NotFound when there is neither a node nor a process.
heron::Status EndAndRemove(Cli& cli, const heron::state::TopologyKey& key, Progress& progress);

// Sets /desired from `seen` to KILLING first; VersionMismatch when it is not that any more.
heron::Status EndAndRemoveIf(Cli& cli, const heron::state::TopologyKey& key,
                             const Stored<heron::proto::DesiredState>& seen, Progress& progress,
                             Sweep sweep);

// Removes packages that no stored topology refers to. Skipped, with a note, while a submit is
// copying.
void SweepPackages(Cli& cli, Progress& progress);

}  // namespace tools::cli
