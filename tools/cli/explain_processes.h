// Causes that are processes: missing, stopped, dying again and again, stuck in a call of user code.
#pragma once

#include <vector>

#include "tools/cli/explanation.h"
#include "tools/cli/live_view.h"

namespace tools::cli {

// In the order in which to mend them. Marks what they explain.
void AddProcessCauses(LiveView& view, std::vector<Cause>* causes);

// What matters only once something else dies.
void AddSupervisorCause(const LiveView& view, std::vector<Cause>* causes);

}  // namespace tools::cli
