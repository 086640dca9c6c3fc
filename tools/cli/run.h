// The command `heron run`: PROGRAM --heron-local, with the options of a submit.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "tools/cli/definition.h"

namespace tools::cli {

struct RunOptions {
  std::string program;
  Overrides overrides;
  std::vector<std::string> config;     // key=value
  std::vector<std::string> arguments;  // after --
};

// What is executed.
std::vector<std::string> RunLine(const RunOptions& options);

// Becomes the program. Returns only when that cannot be.
heron::Status RunCommand(const RunOptions& options);

}  // namespace tools::cli
