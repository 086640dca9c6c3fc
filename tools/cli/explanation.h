// Why a topology is not (fully) running, or does not finish: facts to causes, without I/O.
//
// The codes are stable and listed in README.md; the texts are for people and may change.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/explain_facts.h"

namespace tools::cli {

struct Remedy {
  std::string what;
  std::string command;  // may be empty
};

struct Cause {
  std::string code;             // "crash_loop"
  std::string text;             // one line: who and how
  int container = -1;           // -1: of no one container
  std::string component;        // may be empty
  int task = 0;                 // 0: of no one task
  std::vector<int> more_tasks;  // others of the component of which the same is true
  std::vector<std::string> evidence;
  std::vector<Remedy> remedies;
};

// At least one cause, the one to mend first in front. A topology that is well has the cause
// "healthy".
std::vector<Cause> Explain(const ExplainFacts& facts);

}  // namespace tools::cli
