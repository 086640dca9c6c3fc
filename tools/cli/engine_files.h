// Where the executables of the engine are.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"

namespace tools::cli {

// Looks for heron-supervisor, heron-executor, heron-topology-master and heron-stream-manager in
// `override_folder` alone when that is not empty (HERON_ENGINE_FOLDER). Otherwise beside the heron
// command `self` (a real path), in
// ../libexec/heron, and where Bazel builds them. NotFound names what is missing and where it was
// looked for.
heron::Result<std::vector<std::string>> FindEngine(const std::string& self,
                                                   const std::string& override_folder);

// The settings that were installed with `self`; empty when there are none (built-in ones hold).
std::string InstalledConfigFolder(const std::string& self);

// The real path of this process's executable.
heron::Result<std::string> SelfPath();

}  // namespace tools::cli
