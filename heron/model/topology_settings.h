// The engine's own configuration keys of a topology: those that begin with "topology.". Others belong to users.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proto/topology.pb.h"

namespace heron::model {

struct TopologySetting {
  std::string_view key;
  int64_t by_default;
  int64_t lowest;
  int64_t highest;
  std::string_view meaning;
};

inline constexpr std::string_view kSettingPrefix = "topology.";

inline constexpr std::string_view kTupleMaxBytes = "topology.tuple.max.bytes";
inline constexpr std::string_view kQueueHighBytes = "topology.queue.high.bytes";
inline constexpr std::string_view kDestinationGraceMs = "topology.destination.grace.ms";
inline constexpr std::string_view kTaskMaxRestarts = "topology.task.max.restarts";

std::span<const TopologySetting> TopologySettings();  // all of them, sorted by key
const TopologySetting* FindTopologySetting(std::string_view key);

// The value in the topology's configuration, the default if it has none or a wrong one (CheckTopology refuses those). Of a
// known key only: 0 otherwise.
int64_t TopologySettingOf(const proto::Topology& topology, std::string_view key);

// "" if `value` may be the value of `key`, which begins with "topology."; otherwise what is wrong and the remedy.
std::string CheckTopologySetting(std::string_view key, std::string_view value);

}  // namespace heron::model
