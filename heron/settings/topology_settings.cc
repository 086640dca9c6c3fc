#include "heron/settings/topology_settings.h"

#include <utility>

#include "heron/settings/keys.h"

namespace heron::settings {
namespace {

// Collects problems instead of stopping at the first.
class Reader {
 public:
  explicit Reader(const std::map<std::string, std::string>& config) {
    for (const auto& [name, value] : config) Take(name, value);
  }

  template <typename Number>
  void Read(std::string_view name, Number* out) {
    auto it = values_.find(name);
    if (it == values_.end()) return;
    Result<int64_t> number = ParseNumber(*FindKey(name), it->second);
    if (number.ok()) {
      *out = static_cast<Number>(*number);
    } else {
      problems_.push_back(number.status().message());
    }
  }

  void ReadMode(ReliabilityMode* out) {
    constexpr std::string_view kName = "topology.reliability.mode";
    auto it = values_.find(kName);
    if (it == values_.end()) return;
    Result<std::string> mode = Normalize(*FindKey(kName), it->second);
    if (!mode.ok()) {
      problems_.push_back(mode.status().message());
    } else if (*mode == "EFFECTIVELY_ONCE") {
      problems_.push_back(std::string(kName) + " is " + *mode +
                          "; this version does not have it: set ATLEAST_ONCE or ATMOST_ONCE");
    } else {
      *out = *mode == "ATLEAST_ONCE" ? ReliabilityMode::kAtLeastOnce
                                     : ReliabilityMode::kAtMostOnce;
    }
  }

  std::vector<std::string>& problems() { return problems_; }
  std::vector<std::string>& notices() { return notices_; }

 private:
  void Take(const std::string& name, const std::string& value) {
    if (!IsReserved(name) || name == "cluster") return;
    if (const OldKey* old = FindOldKey(name)) {
      TakeOld(*old, value);
      return;
    }
    const Key* key = FindKey(name);
    if (key == nullptr) {
      problems_.push_back(UnknownKeyMessage(name));
    } else if (key->scope != KeyScope::kTopology) {
      problems_.push_back(name +
                          " belongs to the cluster's configuration; a topology cannot set it");
    } else {
      values_[name] = value;
    }
  }

  void TakeOld(const OldKey& old, const std::string& value) {
    // The old number as the new key's: only a plain whole number was ever allowed.
    Key plain{old.name, KeyType::kInt, KeyScope::kTopology, "", 0, 0, "", ""};
    const Key& key = *FindKey(old.now);
    plain.min = (key.min + old.factor - 1) / old.factor;
    plain.max = key.max / old.factor;
    Result<int64_t> number = ParseNumber(plain, value);
    if (!number.ok()) {
      problems_.push_back(number.status().message());
      return;
    }
    std::string now = std::to_string(*number * old.factor);
    // Names are visited in order, so look whether the new one is there or comes.
    notices_.push_back(std::string(old.name) + " is read as " + std::string(old.now) + "=" + now +
                       "; use that name");
    old_values_.emplace(std::string(old.now), now);
  }

 public:
  // A new name beats the old one for the same thing.
  void MergeOld() {
    for (auto& [name, value] : old_values_) values_.emplace(name, value);
  }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string> old_values_;
  std::vector<std::string> problems_;
  std::vector<std::string> notices_;
};

Status AllOf(const std::vector<std::string>& problems) {
  if (problems.size() == 1) return InvalidArgument(problems[0]);
  std::string message = std::to_string(problems.size()) + " problems in the configuration:";
  for (const std::string& problem : problems) message += "\n  " + problem;
  return InvalidArgument(std::move(message));
}

TopologySettings Read(const std::map<std::string, std::string>& config,
                      std::vector<std::string>* problems) {
  TopologySettings s;
  Reader reader(config);
  reader.MergeOld();
  reader.Read("topology.containers", &s.containers);
  reader.Read("topology.tuple.max.bytes", &s.tuple_max_bytes);
  reader.Read("topology.task.max.restarts", &s.task_max_restarts);
  reader.Read("topology.batch.max.bytes", &s.batch_max_bytes);
  reader.Read("topology.batch.max.age.us", &s.batch_max_age_us);
  reader.Read("topology.queue.high.bytes", &s.queue_high_bytes);
  reader.Read("topology.destination.grace.ms", &s.destination_grace_ms);
  reader.ReadMode(&s.reliability_mode);
  reader.Read("topology.message.timeout.ms", &s.message_timeout_ms);
  reader.Read("topology.max.spout.pending", &s.max_spout_pending);
  reader.Read("topology.heartbeat.interval.ms", &s.heartbeat_interval_ms);
  reader.Read("topology.heartbeat.timeout.ms", &s.heartbeat_timeout_ms);
  reader.Read("topology.master.lease.ms", &s.lease_ms);
  if (s.heartbeat_timeout_ms <= 2 * s.heartbeat_interval_ms) {
    reader.problems().push_back(
        "topology.heartbeat.timeout.ms (" + std::to_string(s.heartbeat_timeout_ms) +
        ") must be more than twice topology.heartbeat.interval.ms (" +
        std::to_string(s.heartbeat_interval_ms) + "): one late heartbeat would count as a death");
  }
  *problems = std::move(reader.problems());
  s.notices = std::move(reader.notices());
  return s;
}

}  // namespace

Result<TopologySettings> ParseTopologySettings(const std::map<std::string, std::string>& config) {
  std::vector<std::string> problems;
  TopologySettings settings = Read(config, &problems);
  if (!problems.empty()) return AllOf(problems);
  return settings;
}

std::vector<std::string> ConfigProblems(const std::map<std::string, std::string>& config) {
  std::vector<std::string> problems;
  Read(config, &problems);
  return problems;
}

std::vector<std::string> ComponentConfigProblems(const std::map<std::string, std::string>& config) {
  std::vector<std::string> problems;
  for (const auto& [key, value] : config) {
    if (!IsReserved(key) || key == "cluster") continue;
    if (FindKey(key) == nullptr && FindOldKey(key) == nullptr) {
      problems.push_back(UnknownKeyMessage(key));
    } else {
      problems.push_back(key +
                         " holds for the whole topology; set it on the TopologyBuilder or with "
                         "--config");
    }
  }
  return problems;
}

}  // namespace heron::settings
