#include "heron/settings/keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "heron/base/nearest.h"

namespace heron::settings {
namespace {

constexpr int64_t kKiB = 1 << 10;
constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kMaxMs = 24LL * 3600 * 1000;

constexpr std::array kKeys = {
    Key{"cluster", KeyType::kString, KeyScope::kCluster, "local", 0, 0, "",
        "The cluster that commands mean when none is named; in the user file."},
    Key{"heron.log.max.bytes", KeyType::kBytes, KeyScope::kCluster, "67108864", 4 * kKiB,
        1024 * 1024 * kMiB, "",
        "A log file that is larger is moved into an older one, and begins anew."},
    Key{"heron.log.max.files", KeyType::kInt, KeyScope::kCluster, "5", 1, 100, "",
        "Log files that are kept of each process: the one that is written and older ones."},
    Key{"heron.root", KeyType::kString, KeyScope::kCluster, "${HOME}/.heron", 0, 0, "",
        "The folder that holds everything of a local cluster."},
    Key{"heron.state.url", KeyType::kString, KeyScope::kCluster, "file:${HERON_ROOT}/local/state",
        0, 0, "", "Where the state store is: file:/absolute/folder."},
    Key{"heron.submit.describe.timeout.ms", KeyType::kDurationMs, KeyScope::kCluster, "30000", 100,
        kMaxMs, "", "How long the user's program may take to describe its topology."},
    Key{"heron.submit.timeout.ms", KeyType::kDurationMs, KeyScope::kCluster, "60000", 1000, kMaxMs,
        "", "How long a submit waits until the topology runs."},
    Key{"topology.batch.max.age.us", KeyType::kDurationUs, KeyScope::kTopology, "1000", 0,
        10'000'000, "",
        "A batch leaves an instance at the latest this long after its first tuple."},
    Key{"topology.batch.max.bytes", KeyType::kBytes, KeyScope::kTopology, "65536", 1, 16 * kMiB, "",
        "A batch leaves an instance once it has this many bytes."},
    Key{"topology.containers", KeyType::kInt, KeyScope::kTopology, "1", 1, 10'000, "",
        "Containers the tasks are spread over."},
    Key{"topology.destination.grace.ms", KeyType::kDurationMs, KeyScope::kTopology, "10000", 0,
        kMaxMs, "", "How long tuples are held for a task that is down before they are dropped."},
    Key{"topology.heartbeat.interval.ms", KeyType::kDurationMs, KeyScope::kTopology, "500", 10,
        600'000, "", "How often the processes of a topology tell each other their state."},
    Key{"topology.heartbeat.timeout.ms", KeyType::kDurationMs, KeyScope::kTopology, "3000", 30,
        kMaxMs, "", "A peer that was silent for this long is taken for dead."},
    Key{"topology.master.lease.ms", KeyType::kDurationMs, KeyScope::kTopology, "1000", 100, 600'000,
        "", "A topology master that did not renew its lease for this long may be replaced."},
    Key{"topology.max.spout.pending", KeyType::kIntOrAuto, KeyScope::kTopology, "auto", 1,
        1'000'000, "",
        "Tuples with a message id of one spout task that may be under way; auto keeps the "
        "throughput with as few as it can."},
    Key{"topology.message.timeout.ms", KeyType::kDurationMs, KeyScope::kTopology, "30000", 1000,
        kMaxMs, "", "A tuple that was not acknowledged for this long is failed to its spout."},
    Key{"topology.queue.high.bytes", KeyType::kBytes, KeyScope::kTopology, "4194304", 64 * kKiB,
        1024 * kMiB, "", "A task with more queued bytes than this stops those that feed it."},
    Key{"topology.reliability.mode", KeyType::kEnum, KeyScope::kTopology, "ATMOST_ONCE", 0, 0,
        "ATMOST_ONCE|ATLEAST_ONCE|EFFECTIVELY_ONCE",
        "With ATLEAST_ONCE tuples with a message id are tracked until they are executed; this version "
        "refuses EFFECTIVELY_ONCE."},
    Key{"topology.task.max.restarts", KeyType::kInt, KeyScope::kTopology, "3", 0, 1'000'000, "",
        "Deaths in a row without progress after which a bounded topology fails."},
    Key{"topology.tuple.max.bytes", KeyType::kBytes, KeyScope::kTopology, "8388608", kKiB,
        64 * kMiB, "", "The largest tuple that may be emitted."},
};

constexpr std::array kOldKeys = {
    OldKey{"topology.message.timeout.secs", "topology.message.timeout.ms", 1000},
    OldKey{"topology.stmgrs", "topology.containers", 1},
};

struct UnitName {
  std::string_view name;
  int64_t factor;
};
// Factors relative to the type's own unit.
constexpr std::array kByteUnits = {
    UnitName{"b", 1},          UnitName{"bytes", 1},          UnitName{"kib", kKiB},
    UnitName{"mib", kMiB},     UnitName{"gib", 1024 * kMiB},  UnitName{"kb", 1000},
    UnitName{"mb", 1'000'000}, UnitName{"gb", 1'000'000'000},
};
constexpr std::array kMsUnits = {UnitName{"ms", 1}, UnitName{"s", 1000}, UnitName{"min", 60'000},
                                 UnitName{"h", 3'600'000}};
constexpr std::array kUsUnits = {UnitName{"us", 1}, UnitName{"ms", 1000}, UnitName{"s", 1'000'000}};

std::span<const UnitName> UnitsOf(KeyType type) {
  switch (type) {
    case KeyType::kBytes:
      return kByteUnits;
    case KeyType::kDurationMs:
      return kMsUnits;
    case KeyType::kDurationUs:
      return kUsUnits;
    default:
      return {};
  }
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// For messages: a value is cut, and what is not printable is not printed.
std::string Quoted(std::string_view value) {
  constexpr size_t kShown = 80;
  std::string out = "\"";
  for (char c : value.substr(0, kShown)) {
    out += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
  }
  return out + (value.size() > kShown ? "...\"" : "\"");
}

std::string Expected(const Key& key) {
  std::string unit(UnitOf(key.type));
  switch (key.type) {
    case KeyType::kBool:
      return "true or false";
    case KeyType::kEnum: {
      std::string choices(key.choices);
      for (size_t at; (at = choices.find('|')) != std::string::npos;) choices.replace(at, 1, ", ");
      return "one of " + choices;
    }
    case KeyType::kString:
      return "a text";
    default:
      return std::string(key.type == KeyType::kIntOrAuto ? "auto or " : "") + "a whole number" + (unit.empty() ? "" : " of " + unit) + " from " +
             std::to_string(key.min) + " to " + std::to_string(key.max);
  }
}

Status BadValue(const Key& key, std::string_view value) {
  return InvalidArgument(std::string(key.name) + " is " + Quoted(value) + "; it must be " +
                         Expected(key));
}

}  // namespace

std::span<const Key> Keys() { return kKeys; }
std::span<const OldKey> OldKeys() { return kOldKeys; }

const Key* FindKey(std::string_view name) {
  auto it = std::lower_bound(kKeys.begin(), kKeys.end(), name,
                             [](const Key& key, std::string_view n) { return key.name < n; });
  return it != kKeys.end() && it->name == name ? &*it : nullptr;
}

const OldKey* FindOldKey(std::string_view name) {
  for (const OldKey& key : kOldKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

bool IsReserved(std::string_view name) {
  return name.starts_with("topology.") || name.starts_with("heron.") || name == "cluster";
}

std::string_view NearestKey(std::string_view name) {
  constexpr size_t kLongest = 128;  // longer names are no slips of the finger
  if (name.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, name.size() / 4) + 1;
  for (const Key& key : kKeys) {
    size_t distance = EditDistance(name, key.name);
    if (distance < best_distance) {
      best_distance = distance;
      best = key.name;
    }
  }
  return best;
}

std::string UnknownKeyMessage(std::string_view name) {
  std::string message = "unknown key " + Quoted(name);
  // What Storm and Heron have as a key.
  if (name.starts_with("topology.tick.")) {
    return message + "; a bolt gets ticks with .Tick(1s) where it is added to the topology";
  }
  std::string_view nearest = NearestKey(name);
  if (!nearest.empty()) return message + "; did you mean \"" + std::string(nearest) + "\"?";
  return message + "; keys of your own must not start with \"topology.\" or \"heron.\"";
}

std::string_view UnitOf(KeyType type) {
  switch (type) {
    case KeyType::kDurationMs:
      return "ms";
    case KeyType::kDurationUs:
      return "us";
    case KeyType::kBytes:
      return "bytes";
    default:
      return "";
  }
}

std::string_view TypeName(KeyType type) {
  switch (type) {
    case KeyType::kInt:
      return "int";
    case KeyType::kIntOrAuto:
      return "int or auto";
    case KeyType::kDurationMs:
    case KeyType::kDurationUs:
      return "duration";
    case KeyType::kBytes:
      return "bytes";
    case KeyType::kBool:
      return "bool";
    case KeyType::kString:
      return "string";
    case KeyType::kEnum:
      return "enum";
  }
  return "";
}

Result<int64_t> ParseNumber(const Key& key, std::string_view value) {
  std::string text = Lower(Trim(value));
  if (key.type == KeyType::kBool) {
    if (text == "true") return int64_t{1};
    if (text == "false") return int64_t{0};
    return BadValue(key, value);
  }
  if (key.type == KeyType::kString || key.type == KeyType::kEnum) return BadValue(key, value);
  if (key.type == KeyType::kIntOrAuto && text == "auto") return int64_t{0};
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return BadValue(key, value);
  std::string_view unit = Trim(std::string_view(end, text.data() + text.size() - end));
  if (!unit.empty()) {
    std::span<const UnitName> units = UnitsOf(key.type);
    auto it = std::find_if(units.begin(), units.end(),
                           [&](const UnitName& known) { return known.name == unit; });
    if (it == units.end() || __builtin_mul_overflow(number, it->factor, &number)) {
      return BadValue(key, value);
    }
  }
  if (number < key.min || number > key.max) return BadValue(key, value);
  return number;
}

Result<std::string> Normalize(const Key& key, std::string_view value) {
  switch (key.type) {
    case KeyType::kString:
      if (value.find('\0') != std::string_view::npos) return BadValue(key, value);
      return std::string(value);
    case KeyType::kEnum: {
      std::string wanted = Lower(Trim(value));
      std::string_view rest = key.choices;
      while (!rest.empty()) {
        std::string_view choice = rest.substr(0, rest.find('|'));
        if (Lower(choice) == wanted) return std::string(choice);
        rest.remove_prefix(std::min(rest.size(), choice.size() + 1));
      }
      return BadValue(key, value);
    }
    default: {
      Result<int64_t> number = ParseNumber(key, value);
      if (!number.ok()) return number.status();
      if (key.type == KeyType::kBool) return std::string(*number != 0 ? "true" : "false");
      if (key.type == KeyType::kIntOrAuto && *number == 0) return std::string("auto");
      return std::to_string(*number);
    }
  }
}

Result<KeyValue> ParseKeyValue(std::string_view text) {
  size_t at = text.find('=');
  if (at == std::string_view::npos || Trim(text.substr(0, at)).empty()) {
    return InvalidArgument(Quoted(text) + " is not of the form key=value");
  }
  return KeyValue{std::string(Trim(text.substr(0, at))), std::string(text.substr(at + 1))};
}

}  // namespace heron::settings
