// The definition of a submit, with the settings of the cluster.
#pragma once

#include <string>

#include "heron/base/status.h"
#include "heron/settings/cluster_config.h"
#include "proto/topology.pb.h"
#include "scheduler/definition/definition.h"

namespace tools::cli {

using scheduler::Definition;
using scheduler::Overrides;

// `config` has the settings of the cluster's files and of --config. InvalidArgument lists all
// problems, a line each; FailedPrecondition: it is right, but cannot be packed.
heron::Result<Definition> Define(const heron::proto::Topology& described, const std::string& name,
                                 const Overrides& overrides,
                                 const heron::settings::ClusterConfig& config);

// The plan as a table for people: a line per container.
std::string PlanTable(const Definition& definition);

}  // namespace tools::cli
