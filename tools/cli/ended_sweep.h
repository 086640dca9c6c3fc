// Topologies that have ended are kept for a while, with their logs, so that people can look at
// them; then whoever lists topologies removes them.
#pragma once

#include <cstdint>

#include "tools/cli/context.h"

namespace tools::cli {

inline constexpr int64_t kKeepEndedMs = 7LL * 24 * 3600 * 1000;

// Removes what has been FINISHED or FAILED for longer than kKeepEndedMs, the way kill does: a name
// that is taken anew, killed or swept by somebody else meanwhile is left alone, and so is one that
// still has processes. Each one removed is told on standard error; a failure is a note there, and
// what is left shows as KILLING, which a kill completes. Costs two reads per topology when there is
// nothing to do.
void SweepEnded(Cli& cli);

}  // namespace tools::cli
