#include "heron/executor/child_commands.h"

#include <ctime>
#include <filesystem>

#include "heron/net/connection.h"

namespace heron::executor {
namespace {

// Component names are checked at submit; here they only must not lead out of the folder.
std::string FileNamePart(const std::string& name) {
  std::string part = name;
  for (char& c : part) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return part;
}

std::string LogName(const Child& child) {
  switch (child.key.role) {
    case proto::TOPOLOGY_MASTER:
      return "tm.log";
    case proto::STREAM_MANAGER:
      return "sm.log";
    default:
      return FileNamePart(child.task.component()) + "-" + std::to_string(child.key.task) + ".log";
  }
}

std::vector<std::string> EngineArguments(const ChildContext& context, const std::string& file) {
  const Options& o = context.options;
  return {o.engine_folder + "/" + file,
          "--topology=" + o.key.name,
          "--topology_id=" + o.topology_id,
          "--role=" + o.key.role,
          "--env=" + o.key.env,
          "--state=" + o.state_url,
          "--container=" + std::to_string(o.container),
          "--secret_file=" + o.secret_file,
          "--executor=" + net::FormatHostPort(o.bind_host, context.port)};
}

std::vector<std::string> InstanceArguments(const Child& child, const ChildContext& context) {
  const Options& o = context.options;
  std::vector<std::string> arguments = {
      o.program,
      "--heron-instance",
      "--heron-topology=" + o.key.name,
      "--heron-topology-id=" + o.topology_id,
      "--heron-container=" + std::to_string(o.container),
      "--heron-component=" + child.task.component(),
      "--heron-task=" + std::to_string(child.key.task),
      "--heron-index=" + std::to_string(child.task.component_index()),
      "--heron-epoch=" + child.epoch.ToString(),
      "--heron-executor=" + net::FormatHostPort(o.bind_host, context.port),
      "--heron-secret-file=" + o.secret_file,
      "--heron-container-folder=" + o.container_folder,
      "--"};
  for (const std::string& argument : context.topology.arguments()) arguments.push_back(argument);
  return arguments;
}

std::string Headline(const Child& child) {
  char time[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc;
  gmtime_r(&now, &utc);
  std::strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%SZ", &utc);
  std::string text = "--- started by heron " + std::string(time) + " " + ToString(child.key);
  if (child.key.role == proto::INSTANCE) {
    text +=
        " (" + child.task.component() + "[" + std::to_string(child.task.component_index()) + "])";
  }
  return text + " epoch " + child.epoch.ToString() + " pid ";
}

}  // namespace

std::string ProcessMarker(const ChildKey& key) {
  std::string marker = std::string("HERON_PROCESS=") + ProcessName(key.role);
  if (key.role == proto::INSTANCE) marker += "-" + std::to_string(key.task);
  return marker;
}

SpawnOptions ChildCommand(const Child& child, const ChildContext& context,
                          const Environment& environment) {
  const Options& o = context.options;
  SpawnOptions spawn;
  spawn.working_folder = o.container_folder;
  switch (child.key.role) {
    case proto::TOPOLOGY_MASTER:
      spawn.argv = EngineArguments(context, "heron-topology-master");
      break;
    case proto::STREAM_MANAGER:
      spawn.argv = EngineArguments(context, "heron-stream-manager");
      spawn.argv.push_back("--epoch=" + child.epoch.ToString());
      break;
    default: {
      spawn.argv = InstanceArguments(child, context);
      std::error_code error;
      const std::string& folder = context.topology.working_folder();
      if (std::filesystem::is_directory(folder, error)) spawn.working_folder = folder;
    }
  }
  spawn.environment = environment;
  spawn.environment["HERON_TOPOLOGY"] = o.key.name;
  spawn.environment["HERON_TOPOLOGY_ID"] = o.topology_id;
  spawn.environment["HERON_CONTAINER"] = std::to_string(o.container);
  if (child.key.role == proto::INSTANCE) {
    spawn.environment["HERON_COMPONENT"] = child.task.component();
    spawn.environment["HERON_TASK"] = std::to_string(child.key.task);
  }
  const std::string marker = ProcessMarker(child.key);
  spawn.environment["HERON_PROCESS"] = marker.substr(marker.find('=') + 1);
  spawn.log_file = o.container_folder + "/" + LogName(child);
  spawn.log_headline = Headline(child);
  spawn.die_with_parent = true;
  return spawn;
}

}  // namespace heron::executor
