// Whether a definition can run: the one set of rules for TopologyBuilder, the CLI and everything
// that reads a definition from outside. Believes nothing about the message. Which "topology." keys
// exist and what they may be set to is the business of heron/settings.
#pragma once

#include <string>
#include <vector>

#include "proto/topology.pb.h"

namespace heron::model {

inline constexpr uint32_t kApiVersion = 1;
inline constexpr uint32_t kMaxParallelism = 10'000;
inline constexpr int kMaxComponents = 1'000;
inline constexpr int kMaxStreams = 255;        // of one component
inline constexpr int64_t kMaxTasks = 100'000;  // of the topology
inline constexpr int64_t kMinTickUs = 1'000;
inline constexpr int64_t kMaxTickUs = 24LL * 3600 * 1'000'000;

// All mistakes, each naming component and stream and what to do; empty if there is none. In the
// order of the definition.
std::vector<std::string> CheckTopology(const proto::Topology& topology);

// "shuffle", "fields", "partial-key"...
std::string GroupingName(proto::GroupingKind kind);

}  // namespace heron::model
