// From what a program described to what runs: the submitter's changes, all checks, the packing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heron/base/status.h"
#include "proto/plan.pb.h"
#include "proto/topology.pb.h"

namespace scheduler {

struct Overrides {
  std::optional<int> containers;       // --containers
  std::optional<int> parallelism_all;  // --parallelism-all
  std::vector<std::pair<std::string, int>>
      parallelism;  // --parallelism, stronger than the one for all
};

struct Definition {
  heron::proto::Topology topology;             // after the changes
  std::map<std::string, uint32_t> key_groups;  // by component
  heron::proto::PackingPlan plan;
  std::vector<std::string> notices;  // a line each, for the user
};

// `config` is the whole configuration that the topology is to run with, its own included.
// InvalidArgument lists all problems, a line each; FailedPrecondition: it is right, but
// cannot be packed.
heron::Result<Definition> Define(const heron::proto::Topology& described, const std::string& name,
                                 const Overrides& overrides,
                                 std::map<std::string, std::string> config);

}  // namespace scheduler
