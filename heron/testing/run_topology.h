// Runs a whole topology in the test's process, as PROGRAM --heron-local does, and says how it
// ended.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "heron/api/topology_builder.h"

namespace heron::testing {

struct TopologyOptions {
  std::vector<std::string> arguments = {};  // as behind --; main() has already used its own
  int containers = 1;
  std::map<std::string, int> parallelism = {};     // by component
  std::map<std::string, std::string> config = {};  // over the builder's
  // For topologies that do not end: stops it, without Finish, as soon as this holds; asked every
  // few milliseconds.
  std::function<bool()> until = {};
  // Then it is stopped. User code that does not return is named on stderr and waited for.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

struct TopologyResult {
  // "FINISHED", "FAILED", "STOPPED" (`until` held), "TIMED_OUT", or "REFUSED": mistakes in the
  // topology or the options.
  std::string state;
  std::string reason;                   // of FAILED, TIMED_OUT and REFUSED
  std::vector<std::string> incomplete;  // of FINISHED: what was lost
  std::vector<std::string> failures;    // of tasks, the latest: what they threw

  // Finished, and nothing was lost.
  bool complete() const { return state == "FINISHED" && incomplete.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const TopologyResult& result);
};

// `builder` must outlive the call only. Several may run at once. Thread: any.
TopologyResult RunTopology(const TopologyBuilder& builder, const TopologyOptions& options = {});

}  // namespace heron::testing
