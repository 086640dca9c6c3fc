// The last failed submit of each name on this machine: a submit that fails leaves nothing else
// behind, and `heron explain` is asked afterwards.
//
// One small file per name under a folder; the oldest of more than kMost are forgotten. Nothing
// depends on it but what is told: errors of the disk are ignored. Threads: one; any number of
// processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heron/state/paths.h"

namespace tools::cli {

struct FailedSubmit {
  std::string cause;    // a code of README.md: describe_failed, packing_impossible, ...
  std::string text;     // what submit said
  std::string program;  // as given
  int64_t at_unix_ms = 0;
};

class FailedSubmits {
 public:
  static constexpr size_t kMost = 100;
  static constexpr size_t kMaxTextBytes = 8 << 10;

  explicit FailedSubmits(std::string folder) : folder_(std::move(folder)) {}

  void Put(const heron::state::TopologyKey& key, const FailedSubmit& failed) const;
  std::optional<FailedSubmit> Find(const heron::state::TopologyKey& key) const;
  void Remove(const heron::state::TopologyKey& key) const;

 private:
  std::string FileOf(const heron::state::TopologyKey& key) const;
  void ForgetOldest() const;

  const std::string folder_;
};

}  // namespace tools::cli
