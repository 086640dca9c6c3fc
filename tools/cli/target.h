// Which topology a command is about: `[CLUSTER[/ROLE[/ENV]]] NAME`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/state/paths.h"

namespace tools::cli {

// What stands for the parts that were not given.
struct TargetDefaults {
  std::string cluster = "local";
  std::string role;  // the user's name
  std::string env = "default";
};

struct Place {
  std::string cluster;
  std::string role;
  std::string env;
  bool role_given = false;
  bool env_given = false;
};

// All errors are InvalidArgument and say what is allowed.

// "local", "local/ads", "local/ads/prod"; "" is all defaults.
heron::Result<Place> ParsePlace(const std::string& text, const TargetDefaults& defaults);

// A topology's name, a role or an env: [A-Za-z0-9][A-Za-z0-9_.-]{0,127}. `what` goes into the
// message.
heron::Status CheckName(const std::string& what, const std::string& name);

heron::Result<heron::state::TopologyKey> MakeKey(const Place& place, const std::string& name);

// "10s", "500ms", "2m", "1h"; a number without a unit is refused.
heron::Result<heron::Duration> ParseDuration(const std::string& text);
std::string DurationText(heron::Duration duration);

// "KEY=VALUE"; the key is not empty.
heron::Result<std::pair<std::string, std::string>> ParseAssignment(const std::string& option,
                                                                   const std::string& text);
// A whole number from `least` to `most`.
heron::Result<int> ParseNumber(const std::string& what, const std::string& text, int least,
                               int most);

}  // namespace tools::cli
