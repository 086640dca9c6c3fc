// The command `heron completion`: scripts that complete command lines in bash and zsh.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "tools/cli/command_line.h"
#include "tools/cli/context.h"
#include "tools/cli/target.h"

namespace tools::cli {

std::string BashCompletion(const std::vector<CommandSpec>& commands);
std::string ZshCompletion(const std::vector<CommandSpec>& commands);

// One line per topology of the place: what the scripts complete names with.
heron::Status TopologyNamesCommand(Cli& cli, const Place& place);

}  // namespace tools::cli
