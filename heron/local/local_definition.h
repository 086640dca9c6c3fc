// What runs in local mode: the program's topology with the changes of the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heron/api/topology_builder.h"
#include "heron/base/status.h"
#include "scheduler/definition/definition.h"

namespace heron::local {

// `options` are ("containers", "2"), ("parallelism", "split=4"), ("parallelism-all", "2") and
// ("config", "key=value"). InvalidArgument lists all problems, a line each.
//
// The configuration is the program's own under that of `options`; the files of a cluster are not
// read. Tuples for a task that is down are held for a day unless `options` say otherwise, and a
// tuple has a day to be acknowledged unless anybody does: peers cannot die separately, and a
// debugger stops them all.
Result<scheduler::Definition> DefineLocal(
    const TopologyBuilder& builder,
    const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace heron::local
