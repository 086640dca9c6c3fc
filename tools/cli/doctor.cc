#include "tools/cli/doctor.h"

#include "tools/cli/doctor_checks.h"
#include "tools/cli/json_output.h"

namespace tools::cli {

std::vector<Check> Examine(const DoctorInputs& inputs) {
  std::vector<Check> checks = CheckRoot(inputs.root);
  for (Check& check : CheckEngine(inputs)) checks.push_back(std::move(check));
  for (Check& check : CheckConfigurationAndStore(inputs)) checks.push_back(std::move(check));
  checks.push_back(CheckLoopback());
  checks.push_back(CheckLimits());
  checks.push_back(CheckMemory());
  checks.push_back(CheckCgroups(inputs.cgroup));
  checks.push_back(CheckProc());
  checks.push_back(CheckClock(inputs.self));
  checks.push_back(CheckBootId());
  return checks;
}

bool DoctorCommand(Cli& cli, const DoctorInputs& inputs) {
  const std::vector<Check> checks = Examine(inputs);
  int problems = 0;
  int warnings = 0;
  for (const Check& check : checks) {
    problems += check.verdict == Verdict::kProblem ? 1 : 0;
    warnings += check.verdict == Verdict::kWarning ? 1 : 0;
  }
  if (cli.json) {
    *cli.out << DoctorJson(checks) << std::endl;
    return problems == 0;
  }
  for (const Check& check : checks) {
    const char* const verdict = check.verdict == Verdict::kOk        ? "ok      "
                                : check.verdict == Verdict::kWarning ? "warning "
                                                                     : "PROBLEM ";
    *cli.out << verdict << check.name << ": " << check.seen << "\n";
    if (!check.remedy.empty()) *cli.out << "        -> " << check.remedy << "\n";
  }
  *cli.out << (problems == 0   ? "no problem"
               : problems == 1 ? "1 problem"
                               : std::to_string(problems) + " problems")
           << (warnings == 0   ? ""
               : warnings == 1 ? ", 1 warning"
                               : ", " + std::to_string(warnings) + " warnings")
           << std::endl;
  return problems == 0;
}

}  // namespace tools::cli
