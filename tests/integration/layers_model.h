// What each grouping promises, checked against what the tasks of `layers` got.
#pragma once

#include <string>
#include <vector>

#include "tests/integration/layers_rows.h"

namespace heron::testing {

// One emitting task and what it emitted, each id once per time it was emitted.
struct Emitted {
  int64_t task = 0;
  int64_t container = 0;
  std::vector<int64_t> ids;
};

// Wrong placements: rows at a task where the grouping cannot send them. Holds whatever was lost.
// `emitters` are all tasks that emit to `readers`; `readers` are all tasks of a component in order
// of index. The first few problems, a line each; empty if there are none.
std::string WrongPlaces(const std::string& grouping, const std::vector<Emitted>& emitters,
                        const std::vector<TaskRows>& readers);

// That nothing is missing and nothing is there twice, and that what should be even is even within 1 %
// (or three tuples per emitter).
std::string WrongCounts(const std::string& grouping, const std::vector<Emitted>& emitters,
                        const std::vector<TaskRows>& readers);

}  // namespace heron::testing
