// What `heron explain --output json` prints; the schema is in README.md.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "tools/cli/explanation.h"

namespace tools::cli {

// With "error" as other commands print it when `status` is not ok.
std::string ExplainJson(const std::string& cluster, const ExplainFacts& facts,
                        const std::vector<Cause>& causes, const heron::Status& status);

}  // namespace tools::cli
