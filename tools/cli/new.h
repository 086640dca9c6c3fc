// The command `heron new`: a project for a topology of the user's own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heron/base/status.h"
#include "tools/cli/context.h"

namespace tools::cli {

// Makes `folder` with the files of examples/outside, the topology named `name` (empty: as the
// folder). Refuses a folder that has something in it. What it made is removed again when it cannot
// make all. Uses only the streams of the context.
heron::Status NewCommand(Cli& cli, const std::string& folder, const std::string& name);

// File names and contents of examples/outside. Embedded: nothing must be found at run time.
const std::vector<std::pair<std::string, std::string>>& ProjectTemplate();

}  // namespace tools::cli
