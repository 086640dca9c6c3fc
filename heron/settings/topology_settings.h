// What the engine itself reads from a topology's configuration (Topology.config), typed and
// checked.
//
// Every process of a topology parses the same map and gets the same settings. Values are checked at
// submit; a process that finds a bad one nevertheless exits with the message. A plain value: copy
// it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/status.h"

namespace heron::settings {

enum class ReliabilityMode { kAtMostOnce, kAtLeastOnce, kEffectivelyOnce };

struct TopologySettings {
  int32_t containers = 1;                                           // topology.containers
  int64_t tuple_max_bytes = 8 << 20;                                // topology.tuple.max.bytes
  int32_t task_max_restarts = 3;                                    // topology.task.max.restarts
  int64_t batch_max_bytes = 64 << 10;                               // topology.batch.max.bytes
  int64_t batch_max_age_us = 1000;                                  // topology.batch.max.age.us
  int64_t queue_high_bytes = 4 << 20;                               // topology.queue.high.bytes
  int64_t destination_grace_ms = 10'000;                            // topology.destination.grace.ms
  ReliabilityMode reliability_mode = ReliabilityMode::kAtMostOnce;  // topology.reliability.mode
  int64_t message_timeout_ms = 30'000;                              // topology.message.timeout.ms
  int64_t max_spout_pending = 0;        // topology.max.spout.pending; 0: auto
  int64_t heartbeat_interval_ms = 500;  // topology.heartbeat.interval.ms
  int64_t heartbeat_timeout_ms = 3000;  // topology.heartbeat.timeout.ms
  int64_t lease_ms = 1000;              // topology.master.lease.ms

  // One line each, for the user: an old name was read.
  std::vector<std::string> notices;

  int64_t queue_low_bytes() const { return queue_high_bytes / 4; }
  Duration batch_max_age() const { return std::chrono::microseconds(batch_max_age_us); }
  Duration destination_grace() const { return std::chrono::milliseconds(destination_grace_ms); }
  bool acking() const { return reliability_mode == ReliabilityMode::kAtLeastOnce; }
  Duration message_timeout() const { return std::chrono::milliseconds(message_timeout_ms); }
  Duration heartbeat_interval() const { return std::chrono::milliseconds(heartbeat_interval_ms); }
  Duration heartbeat_timeout() const { return std::chrono::milliseconds(heartbeat_timeout_ms); }
  Duration lease() const { return std::chrono::milliseconds(lease_ms); }
};

// Everything that is wrong, a line each; empty: ParseTopologySettings succeeds.
std::vector<std::string> ConfigProblems(const std::map<std::string, std::string>& config);
// The same for what a component sets for itself: keys of the engine hold for the whole topology.
std::vector<std::string> ComponentConfigProblems(const std::map<std::string, std::string>& config);

// kInvalidArgument lists all problems at once, a line each. Keys outside "topology." and "heron."
// are the user's and are not looked at.
Result<TopologySettings> ParseTopologySettings(const std::map<std::string, std::string>& config);

// From any map of strings, protobuf's say.
template <typename StringMap>
Result<TopologySettings> ParseTopologySettings(const StringMap& config) {
  std::map<std::string, std::string> copy;
  for (const auto& entry : config) copy.emplace(entry.first, entry.second);
  return ParseTopologySettings(copy);
}

}  // namespace heron::settings
