// The command `heron doctor`: what on this machine may keep Heron from working, and what helps.
#pragma once

#include <string>
#include <vector>

#include "heron/base/status.h"
#include "tools/cli/context.h"

namespace tools::cli {

enum class Verdict { kOk, kWarning, kProblem };

struct Check {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string seen;
  std::string remedy;  // empty when ok
};

// Where to look. Tests have folders of their own.
struct DoctorInputs {
  std::string root;           // HERON_ROOT, absolute
  std::string config_folder;  // may be empty
  std::string self;           // the heron command
  std::string engine_folder;  // HERON_ENGINE_FOLDER
  std::string cgroup = "/sys/fs/cgroup";
};

// Every check, in order. Changes nothing; a file that it writes to see whether it can is removed.
std::vector<Check> Examine(const DoctorInputs& inputs);

// Prints them. False when there is a problem: the exit code is then 1.
bool DoctorCommand(Cli& cli, const DoctorInputs& inputs);

}  // namespace tools::cli
