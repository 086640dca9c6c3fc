// The names that were killed on this machine, so that killing one again is success and only a name
// never seen is an error.
//
// A file of lines "ROLE/ENV/NAME", the latest last, kept below a bound by forgetting the oldest.
// Nothing depends on it but that answer: errors of the disk are ignored. Threads: one; any number
// of processes.
#pragma once

#include <string>

#include "heron/state/paths.h"

namespace tools::cli {

class KilledNames {
 public:
  explicit KilledNames(std::string path) : path_(std::move(path)) {}

  bool Contains(const heron::state::TopologyKey& key) const;
  void Add(const heron::state::TopologyKey& key);

 private:
  const std::string path_;
};

}  // namespace tools::cli
