#include "scheduler/local/launch_file.h"

#include <fstream>
#include <iterator>

#include "scheduler/local/supervisor_file.h"

namespace scheduler::local {

using heron::Result;
using heron::Status;

namespace {

constexpr char kHead[] = "heron launch 1";

}  // namespace

std::string LaunchFilePath(const std::string& topology_folder) {
  return topology_folder + "/launch";
}

std::string SupervisorLockPath(const std::string& topology_folder) {
  return topology_folder + "/supervisor.lock";
}

// Texts that end with a zero byte each: the head, the number of arguments, the arguments, then
// NAME=VALUE. Arguments and environments are any bytes but zero.
Status WriteLaunchFile(const std::string& topology_folder, const LaunchFile& file) {
  std::string text = kHead;
  text += '\0' + std::to_string(file.argv.size()) + '\0';
  for (const std::string& argument : file.argv) text += argument + '\0';
  for (const auto& [name, value] : file.environment) text += name + "=" + value + '\0';
  return WriteFileAtomically(LaunchFilePath(topology_folder), text, 0600);
}

Result<LaunchFile> ReadLaunchFile(const std::string& topology_folder) {
  const std::string path = LaunchFilePath(topology_folder);
  std::ifstream in(path, std::ios::binary);
  if (!in) return heron::NotFound(path + ": cannot be opened");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> parts;
  for (size_t begin = 0, end; (end = text.find('\0', begin)) != std::string::npos;) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const Status damaged = heron::DataLoss(path + ": not a supervisor's launch file");
  if (parts.size() < 3 || parts[0] != kHead || text.back() != '\0') return damaged;
  const bool number = !parts[1].empty() && parts[1].size() < 6 &&
                      parts[1].find_first_not_of("0123456789") == std::string::npos;
  if (!number) return damaged;
  const size_t arguments = std::stoul(parts[1]);
  if (arguments == 0 || parts.size() < 2 + arguments) return damaged;
  LaunchFile file;
  file.argv.assign(parts.begin() + 2, parts.begin() + 2 + static_cast<int64_t>(arguments));
  for (size_t i = 2 + arguments; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string::npos) return damaged;
    file.environment[parts[i].substr(0, equals)] = parts[i].substr(equals + 1);
  }
  return file;
}

}  // namespace scheduler::local
