// How each kind of child is started: command line, environment, folder, log. See "Command lines" in
// heron/docs/life_of_a_topology.md.
#pragma once

#include <cstdint>
#include <string>

#include "heron/base/process.h"
#include "heron/executor/core/child.h"
#include "heron/executor/options.h"
#include "proto/plan.pb.h"

namespace heron::executor {

struct ChildContext {
  Options options;
  uint16_t port = 0;                  // of this executor
  proto::SubmittedTopology topology;  // empty until it was read; only instances need it
  Environment environment;            // this process's own
};

// The working folder of an instance falls back to the container folder when the submitter's is
// gone: looked up at each call.
SpawnOptions ChildCommand(const Child& child, const ChildContext& context);

// "HERON_PROCESS=instance-7": in the environment of the child and of all that it starts.
std::string ProcessMarker(const ChildKey& key);

}  // namespace heron::executor
