// From messages to what contexts and readers need.
#pragma once

#include <string>
#include <vector>

#include "heron/api/internal/task_runtime.h"
#include "heron/api/internal/tuple_reader.h"
#include "heron/api/topology_info.h"
#include "heron/model/task_layout.h"
#include "proto/topology.pb.h"

namespace heron::internal {

// component, parallelism, config and outputs from the running definition; the caller fills in the
// rest.
TaskFacts FactsOf(const proto::Topology& topology, const proto::Component& component);

TopologyInfo InfoOf(const model::TaskLayout& layout);
// Without its tasks.
ComponentInfo InfoOf(const proto::Component& component);

// The origin for tuples of `stream` (an index in `source.outputs`, which it must be within) read by
// `reader`.
TupleOrigin OriginOf(const proto::Component& source, int stream, const std::string& reader);

}  // namespace heron::internal
