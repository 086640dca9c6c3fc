// Causes in the flow of tuples: who is slow, who waits for whom, what the end waits for.
#pragma once

#include <vector>

#include "tools/cli/explanation.h"
#include "tools/cli/live_view.h"

namespace tools::cli {

void AddFlowCauses(LiveView& view, std::vector<Cause>* causes);

// What was lost since its tasks began; it may be long over.
void AddDropCauses(LiveView& view, std::vector<Cause>* causes);

// It starts, or is well; said when nothing else is.
Cause WellCause(LiveView& view);

}  // namespace tools::cli
