#include "tools/cli/target.h"

#include <charconv>

#include "heron/model/names.h"

namespace tools::cli {
namespace {

constexpr char kNamePattern[] = "[A-Za-z0-9][A-Za-z0-9_.-]{0,127}";

}  // namespace

heron::Status CheckName(const std::string& what, const std::string& name) {
  if (heron::model::IsName(name)) return heron::Status::Ok();
  return heron::InvalidArgument(what + " " + heron::model::Quoted(name) + " must match " +
                                kNamePattern);
}

heron::Result<Place> ParsePlace(const std::string& text, const TargetDefaults& defaults) {
  Place place{defaults.cluster, defaults.role, defaults.env};
  if (text.empty()) return place;
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() > 3) {
    return heron::InvalidArgument("'" + text + "' has too many parts; write CLUSTER[/ROLE[/ENV]]");
  }
  HERON_RETURN_IF_ERROR(CheckName("the cluster", parts[0]));
  place.cluster = parts[0];
  if (parts.size() > 1) {
    HERON_RETURN_IF_ERROR(CheckName("the role", parts[1]));
    place.role = parts[1];
    place.role_given = true;
  }
  if (parts.size() > 2) {
    HERON_RETURN_IF_ERROR(CheckName("the env", parts[2]));
    place.env = parts[2];
    place.env_given = true;
  }
  return place;
}

heron::Result<heron::state::TopologyKey> MakeKey(const Place& place, const std::string& name) {
  HERON_RETURN_IF_ERROR(CheckName("the topology's name", name));
  HERON_RETURN_IF_ERROR(CheckName("the role", place.role));
  return heron::state::TopologyKey{place.role, place.env, name};
}

heron::Result<heron::Duration> ParseDuration(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const std::string unit(error == std::errc() ? rest : end, end);
  double seconds = -1;
  if (error == std::errc() && number >= 0) {
    if (unit == "ms") seconds = number / 1000;
    if (unit == "s") seconds = number;
    if (unit == "m") seconds = number * 60;
    if (unit == "h") seconds = number * 3600;
  }
  if (error == std::errc() && number >= 0 && unit.empty() && !text.empty()) {
    return heron::InvalidArgument("'" + text + "' has no unit; write " + text + "s for seconds, or " +
                                  text + "ms, " + text + "m, " + text + "h");
  }
  if (seconds < 0 || seconds > 1e8) {
    return heron::InvalidArgument("'" + text +
                                  "' is no duration; write for example 500ms, 30s, 2m or 1h");
  }
  return std::chrono::duration_cast<heron::Duration>(std::chrono::duration<double>(seconds));
}

std::string DurationText(heron::Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  if (ms % 1000 != 0) return std::to_string(ms) + " ms";
  return std::to_string(ms / 1000) + " s";
}

heron::Result<std::pair<std::string, std::string>> ParseAssignment(const std::string& option,
                                                                   const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return heron::InvalidArgument(option + " '" + text + "': write NAME=VALUE");
  }
  return std::make_pair(text.substr(0, equals), text.substr(equals + 1));
}

heron::Result<int> ParseNumber(const std::string& what, const std::string& text, int least,
                               int most) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < least || number > most) {
    return heron::InvalidArgument(what + " '" + text + "' must be a whole number from " +
                                  std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

}  // namespace tools::cli
