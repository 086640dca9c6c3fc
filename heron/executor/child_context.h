// What an executor knows that its children need.
#pragma once

#include <cstdint>

#include "heron/executor/options.h"
#include "proto/plan.pb.h"

namespace heron::executor {

struct ChildContext {
  Options options;
  uint16_t port = 0;                  // of this executor
  proto::SubmittedTopology topology;  // empty until it was read; only instances need it
};

}  // namespace heron::executor
