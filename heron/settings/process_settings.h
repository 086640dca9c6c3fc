// What a process of a topology must know before it can read anything of the topology: the submit
// puts it into the environment of the first process, from where each child inherits it.
//
// A plain value: copy it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "heron/base/clock.h"
#include "heron/base/status.h"

namespace heron::settings {

// The environment variable. Without it the defaults hold.
inline constexpr char kProcessSettingsVariable[] = "HERON_SETTINGS";

struct ProcessSettings {
  int64_t heartbeat_interval_ms = 500;  // topology.heartbeat.interval.ms
  int64_t heartbeat_timeout_ms = 3000;  // topology.heartbeat.timeout.ms
  int64_t lease_ms = 1000;              // topology.master.lease.ms
  int64_t log_max_bytes = 64 << 20;     // heron.log.max.bytes
  int64_t log_max_files = 5;            // heron.log.max.files

  Duration heartbeat_interval() const { return std::chrono::milliseconds(heartbeat_interval_ms); }
  Duration heartbeat_timeout() const { return std::chrono::milliseconds(heartbeat_timeout_ms); }
  Duration lease() const { return std::chrono::milliseconds(lease_ms); }
};

// "KEY=NUMBER,KEY=NUMBER,...", with every key of the struct. Values that are in `values`, by key,
// else the defaults; other keys are left out. kInvalidArgument names the key.
Result<std::string> FormatProcessSettings(const std::map<std::string, std::string>& values);

// The reverse. A key that is missing has its default; an unknown one is of another version and
// skipped. kInvalidArgument names the key.
Result<ProcessSettings> ParseProcessSettings(std::string_view text);

// From the environment of this process.
Result<ProcessSettings> OwnProcessSettings();

}  // namespace heron::settings
