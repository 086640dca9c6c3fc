// Explanations of what is not there, not there yet, or has ended.
#pragma once

#include <optional>
#include <vector>

#include "tools/cli/explanation.h"

namespace tools::cli {

// nullopt: processes of it are there and should work.
std::optional<std::vector<Cause>> ExplainLife(const ExplainFacts& facts);

// The last submit of the name failed.
Cause FailedSubmitCause(const ExplainFacts& facts);

}  // namespace tools::cli
