#include "scheduler/local/container_list.h"

#include <algorithm>
#include <charconv>

namespace scheduler::local {

using heron::ContainerId;
using heron::InvalidArgument;
using heron::Result;

Result<std::vector<ContainerId>> ParseContainers(const std::string& text) {
  std::vector<ContainerId> containers;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at < end) {
    ContainerId container = -1;
    const auto [next, error] = std::from_chars(at, end, container);
    const bool known = std::count(containers.begin(), containers.end(), container) > 0;
    if (error != std::errc() || container < 0 || known || (next < end && *next != ',') ||
        next + 1 == end) {
      return InvalidArgument("--containers must be different numbers like 0,1,2, not '" + text +
                             "'");
    }
    containers.push_back(container);
    at = next + 1;
  }
  if (containers.empty()) return InvalidArgument("--containers is missing");
  return containers;
}

std::string FormatContainers(const std::vector<ContainerId>& containers) {
  std::string text;
  for (const ContainerId container : containers) {
    if (!text.empty()) text += ",";
    text += std::to_string(container);
  }
  return text;
}

}  // namespace scheduler::local
