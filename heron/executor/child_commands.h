// How each kind of child is started: command line, environment, folder, log. See "Command lines" in
// heron/docs/life_of_a_topology.md.
#pragma once

#include <string>

#include "heron/base/process.h"
#include "heron/executor/child_context.h"
#include "heron/executor/core/child.h"

namespace heron::executor {

// The working folder of an instance falls back to the container folder when the submitter's is
// gone: looked up at each call. `environment` is this process's own.
SpawnOptions ChildCommand(const Child& child, const ChildContext& context,
                          const Environment& environment);

// "HERON_PROCESS=instance-7": in the environment of the child and of all that it starts.
std::string ProcessMarker(const ChildKey& key);

}  // namespace heron::executor
