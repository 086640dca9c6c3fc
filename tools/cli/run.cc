#include "tools/cli/run.h"

#include <unistd.h>

#include <cerrno>

#include "tools/cli/describe.h"

namespace tools::cli {

std::vector<std::string> RunLine(const RunOptions& options) {
  std::vector<std::string> line = {options.program, "--heron-local"};
  const Overrides& overrides = options.overrides;
  if (overrides.containers) {
    line.push_back("--heron-containers=" + std::to_string(*overrides.containers));
  }
  if (overrides.parallelism_all) {
    line.push_back("--heron-parallelism-all=" + std::to_string(*overrides.parallelism_all));
  }
  for (const auto& [component, tasks] : overrides.parallelism) {
    line.push_back("--heron-parallelism=" + component + "=" + std::to_string(tasks));
  }
  for (const std::string& setting : options.config) line.push_back("--heron-config=" + setting);
  line.push_back("--");
  line.insert(line.end(), options.arguments.begin(), options.arguments.end());
  return line;
}

heron::Status RunCommand(const RunOptions& options) {
  HERON_RETURN_IF_ERROR(CheckProgram(options.program));
  std::vector<std::string> line = RunLine(options);
  std::vector<char*> argv;
  for (std::string& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  return heron::ErrnoStatus(errno, "cannot run " + options.program);
}

}  // namespace tools::cli
