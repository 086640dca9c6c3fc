// Identifiers that travel through the whole system.
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>

namespace heron {

using TaskId = int32_t;       // from 1, unique in a topology
using ContainerId = int32_t;  // 0: the topology master's; tasks live in 1 and above; may be sparse

// Which life of a process this is: (container incarnation, restart count), compared in that order. A higher epoch
// displaces a lower one. For a topology master `incarnation` is the mastership epoch.
struct Epoch {
  uint64_t incarnation = 0;
  uint64_t restart = 0;

  friend auto operator<=>(const Epoch&, const Epoch&) = default;
  std::string ToString() const {
    return std::to_string(incarnation) + "." + std::to_string(restart);
  }
  friend std::ostream& operator<<(std::ostream& os, const Epoch& e) { return os << e.ToString(); }
};

}  // namespace heron
