// The packing of a topology: how many containers there are and which tasks run in each.
//
// Round robin deals the tasks, in component order, over the containers like cards. The tasks of a
// component are neighbours, so no container holds more than one task more of any component than
// another does, and container sizes differ by at most one.
//
// Pure functions: no threads, no I/O, nothing kept.
#pragma once

#include <cstdint>

#include "heron/base/status.h"
#include "proto/plan.pb.h"
#include "proto/topology.pb.h"

namespace scheduler {

// A plan of more tasks than this is refused: it would not fit the limits of plans and of reports.
inline constexpr int64_t kMaxTasks = 100'000;

// Task ids run from 1 in component order, container ids from 1, the version is 1. The same input
// gives the same plan.
//
// No container is empty: with fewer tasks than `containers` the plan has one container per task, so
// the number of containers in use is that of the plan, not the one asked for.
//
// InvalidArgument, naming the number that is wrong: `containers` below 1, no component, a component
// without tasks, more than kMaxTasks tasks.
heron::Result<heron::proto::PackingPlan> PackRoundRobin(const heron::proto::Topology& topology,
                                                        int containers);

}  // namespace scheduler
