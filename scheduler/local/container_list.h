// The ids of a topology's containers on a command line: "0,1,2".
#pragma once

#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/base/status.h"

namespace scheduler::local {

// InvalidArgument for anything but different numbers from 0 with commas between them.
heron::Result<std::vector<heron::ContainerId>> ParseContainers(const std::string& text);
std::string FormatContainers(const std::vector<heron::ContainerId>& containers);

}  // namespace scheduler::local
