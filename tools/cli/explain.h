// The command `heron explain`: why a topology is not (fully) running, or does not finish.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "tools/cli/context.h"
#include "tools/cli/explanation.h"

namespace tools::cli {

// Ok whenever something could be told of the topology; NotFound when there is no such topology and
// Unavailable when the state cannot be read, after that was told with --output json.
heron::Status ExplainCommand(Cli& cli, const heron::state::TopologyKey& key);

// The same when the state store could not even be opened.
heron::Status ExplainUnreachable(Cli& cli, const heron::state::TopologyKey& key,
                                 const heron::Status& why);

// At most ten lines of verdict, then the evidence of the first causes, then what to do.
std::string ExplanationText(const ExplainFacts& facts, const std::vector<Cause>& causes);

}  // namespace tools::cli
