// The file "launch" of a topology folder: the command line and the environment the supervisor was
// started with, so that whoever starts another one starts the same. Mode 0600: an environment may
// hold secrets.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "heron/base/process.h"
#include "heron/base/status.h"

namespace scheduler::local {

struct LaunchFile {
  std::vector<std::string> argv;
  heron::Environment environment;
};

std::string LaunchFilePath(const std::string& topology_folder);
// Held by the supervisor while it lives (heron/base/file_lock.h).
std::string SupervisorLockPath(const std::string& topology_folder);

heron::Status WriteLaunchFile(const std::string& topology_folder, const LaunchFile& file);
// NotFound when there is none, DataLoss when it is damaged.
heron::Result<LaunchFile> ReadLaunchFile(const std::string& topology_folder);

}  // namespace scheduler::local
