// The `heron` command.

#include <glog/logging.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "heron/base/version.h"
#include "scheduler/local/local_scheduler.h"
#include "tools/cli/cluster.h"
#include "tools/cli/command_line.h"
#include "tools/cli/completion.h"
#include "tools/cli/config_show.h"
#include "tools/cli/desire.h"
#include "tools/cli/doctor.h"
#include "tools/cli/engine_files.h"
#include "tools/cli/explain.h"
#include "tools/cli/failed_submits.h"
#include "tools/cli/json_output.h"
#include "tools/cli/kill.h"
#include "tools/cli/killed_names.h"
#include "tools/cli/logs.h"
#include "tools/cli/new.h"
#include "tools/cli/records.h"
#include "tools/cli/restart.h"
#include "tools/cli/run.h"
#include "tools/cli/submit.h"
#include "tools/cli/topologies.h"
#include "tools/cli/version.h"

namespace tools::cli {
namespace {

using heron::Result;
using heron::Status;
using heron::settings::ClusterConfig;
using heron::state::TopologyKey;

constexpr int kExitDone = 0;
constexpr int kExitRefused = 1;
constexpr int kExitUsage = 2;

volatile sig_atomic_t interrupts = 0;

void OnInterrupt(int) { interrupts = interrupts + 1; }
void OnBrokenPipe(int) {}

void HandleSignals() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  // A submit is not broken off because nobody reads its progress. A handler, unlike SIG_IGN, is not
  // inherited by exec.
  action.sa_handler = OnBrokenPipe;
  sigaction(SIGPIPE, &action, nullptr);
}

std::string Environment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

std::string UserName() {
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : "uid" + std::to_string(geteuid());
}

// Makes HERON_ROOT absolute: it is handed to processes that run in other folders.
Result<std::string> HeronRoot() {
  std::string root = Environment("HERON_ROOT");
  if (root.empty()) {
    std::string home = Environment("HOME");
    const passwd* entry = getpwuid(geteuid());
    if (home.empty() && entry != nullptr) home = entry->pw_dir;
    if (home.empty()) return heron::NotFound("no home folder; set HERON_ROOT");
    root = home + "/.heron";
  }
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(root, error).lexically_normal();
  if (error) return heron::ErrnoStatus(error.value(), "cannot use HERON_ROOT=" + root);
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  setenv("HERON_ROOT", absolute.c_str(), 1);
  return absolute.string();
}

std::string ConfigFolder() {
  const std::string said = Environment("HERON_CONFIG_FOLDER");
  if (!said.empty()) return said;
  const Result<std::string> self = SelfPath();
  return self.ok() ? InstalledConfigFolder(*self) : "";
}

Result<ClusterConfig> LoadConfig(const std::string& root, const std::string& cluster,
                                 const std::vector<std::string>& command_line) {
  heron::settings::ClusterConfigInputs inputs;
  inputs.cluster = cluster;
  inputs.config_folder = ConfigFolder();
  inputs.user_file = root + "/config.yaml";
  inputs.command_line = command_line;
  return ClusterConfig::Load(inputs);
}

Status Submit(Cli& cli, const CommandLine& line, const TopologyKey& key,
              const ClusterConfig& config) {
  Result<std::string> self = SelfPath();
  if (!self.ok()) return self.status();
  SubmitOptions options;
  if (!line.dry_run) {
    Result<std::vector<std::string>> engine = FindEngine(*self, Environment("HERON_ENGINE_FOLDER"));
    if (!engine.ok()) return engine.status();
    options.engine = *engine;
  }
  options.key = key;
  options.program = line.program;
  options.arguments = line.arguments;
  options.overrides = line.overrides;
  options.deploy_deactivated = line.deploy_deactivated;
  options.dry_run = line.dry_run;
  options.describe.timeout = std::chrono::milliseconds(config.describe_timeout_ms());
  options.describe.interrupted = cli.interrupted;
  options.state_url = config.state_url();
  options.user = UserName();
  std::error_code error;
  options.working_folder = std::filesystem::current_path(error).string();
  if (error) {
    return heron::FailedPrecondition("the current folder does not exist any more (" +
                                     error.message() +
                                     "); cd to an existing folder and submit again");
  }
  options.engine_version = heron::kEngineVersion;
  if (line.wait) {
    options.wait = WaitOptions{*line.wait, line.timeout};
    if (*line.wait == WaitOptions::For::kRunning && !line.timeout) {
      options.wait->timeout = std::chrono::milliseconds(config.submit_timeout_ms());
    }
  }
  for (const std::string& notice : config.notices()) *cli.err << "note: " << notice << std::endl;
  return SubmitCommand(cli, options, config);
}

Status RunInCluster(Cli& cli, const CommandLine& line, const Place& place,
                    const ClusterConfig& config) {
  cli.cluster = config.cluster();
  const TopologyKey key{place.role, place.env, line.name};
  // Only a submit makes a store. Until then there is nothing in it, and nothing is to be made of a
  // mistake; processes are found all the same.
  const bool submits = line.command == "submit" && !line.dry_run;
  const bool empty = !submits && !heron::state::StateStoreExists(config.state_url());
  auto store = heron::state::OpenStateStore(empty ? "memory:" : config.state_url());
  if (!store.ok()) {
    return line.command == "explain" ? ExplainUnreachable(cli, key, store.status())
                                     : store.status();
  }
  const std::string folder = config.heron_root() + "/" + config.cluster();
  scheduler::local::LocalScheduler local({.cluster_folder = folder});
  scheduler::LocalFolder packages(folder + "/packages");
  KilledNames killed_names(folder + "/killed");
  FailedSubmits failed_submits(folder + "/failed-submits");
  cli.killed_names = &killed_names;
  cli.failed_submits = &failed_submits;
  cli.store = store->get();
  cli.scheduler = &local;
  cli.packages = &packages;

  if (line.command == "completion") return TopologyNamesCommand(cli, place);
  if (line.command == "cluster") {
    if (line.action == "status") return ClusterStatusCommand(cli, config);
    return line.action == "start" ? ClusterStartCommand(cli, config) : ClusterStopCommand(cli);
  }
  if (line.command == "topologies") return TopologiesCommand(cli, place, line.name);
  if (line.command == "explain") return ExplainCommand(cli, key);
  if (line.command == "submit") return Submit(cli, line, key, config);
  if (line.command == "kill") return KillCommand(cli, key);
  if (line.command == "wait") return WaitCommand(cli, key, {*line.wait, line.timeout});
  if (line.command == "restart") {
    return RestartCommand(
        cli, key,
        {line.container, line.component, line.task, line.timeout.value_or(kRestartTimeout)},
        config);
  }
  if (line.command == "logs") {
    return LogsCommand(cli, key,
                       {line.log_target, line.tail, line.follow, line.previous, line.since,
                        line.level});
  }
  const heron::Duration timeout = line.timeout.value_or(kDesireTimeout);
  return line.command == "activate" ? ActivateCommand(cli, key, timeout)
                                    : DeactivateCommand(cli, key, timeout);
}

int Fail(const Cli& cli, const Status& status, int code, const std::string& command) {
  std::cerr << "heron: " << status.message() << std::endl;
  if (code == kExitUsage) {
    std::cerr << "see: heron " << (command.empty() ? "" : command + " ") << "--help" << std::endl;
  }
  if (cli.json && !cli.error_printed) std::cout << ErrorJson(status) << std::endl;
  return code;
}

int Doctor(Cli& cli, const std::string& root) {
  DoctorInputs inputs;
  inputs.root = root;
  inputs.config_folder = ConfigFolder();
  const Result<std::string> self = SelfPath();
  if (self.ok()) inputs.self = *self;
  inputs.engine_folder = Environment("HERON_ENGINE_FOLDER");
  return DoctorCommand(cli, inputs) ? kExitDone : kExitRefused;
}

int Complete(Cli& cli, const std::string& shell) {
  *cli.out << (shell == "zsh" ? ZshCompletion(CommandSpecs()) : BashCompletion(CommandSpecs()))
           << std::flush;
  return kExitDone;
}

int Run(const std::vector<std::string>& words) {
  const heron::SystemClock clock;
  Cli cli;
  cli.clock = &clock;
  cli.out = &std::cout;
  cli.err = &std::cerr;
  cli.terminal = isatty(STDERR_FILENO) == 1 && Environment("TERM") != "dumb";
  cli.by = ThisProcess(UserName());
  cli.sleep = [](heron::Duration time) {  // a signal ends it
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    poll(nullptr, 0, static_cast<int>(ms));
  };
  cli.interrupted = [] { return interrupts > 0; };

  Result<CommandLine> parsed = ParseCommandLine(words);
  if (!parsed.ok()) {
    const bool known = !words.empty() && ParseCommandLine({words[0], "--help"}).ok();
    return Fail(cli, parsed.status(), kExitUsage, known ? words[0] : "");
  }
  CommandLine& line = *parsed;
  cli.json = line.json;
  if (!line.help.empty()) {
    std::cout << line.help << std::flush;
    return kExitDone;
  }
  if (line.command == "run") {
    const Status usage = AssignPositionals("local", &line);
    if (!usage.ok()) return Fail(cli, usage, kExitUsage, line.command);
    const RunOptions options{line.program, line.overrides, line.config, line.arguments};
    return Fail(cli, RunCommand(options), kExitRefused, line.command);
  }
  if (line.command == "version") return VersionCommand(cli).ok() ? kExitDone : kExitRefused;
  if (line.command == "completion" && !line.shell.empty()) return Complete(cli, line.shell);
  if (line.command == "new") {
    const Status made = NewCommand(cli, line.positionals.front(), line.name);
    return made.ok() ? kExitDone : Fail(cli, made, kExitRefused, line.command);
  }

  Result<std::string> root = HeronRoot();
  if (!root.ok()) return Fail(cli, root.status(), kExitRefused, line.command);
  if (line.command == "doctor") return Doctor(cli, *root);
  Result<ClusterConfig> defaults = LoadConfig(*root, "", {});
  if (!defaults.ok()) return Fail(cli, defaults.status(), kExitRefused, line.command);
  Status usage = AssignPositionals(defaults->cluster(), &line);
  Result<Place> place = ParsePlace(line.place, {defaults->cluster(), UserName(), "default"});
  cli.default_cluster = defaults->cluster();
  cli.default_role = UserName();
  if (usage.ok() && !place.ok()) usage = place.status();
  const bool named = line.command != "topologies" && line.command != "config" &&
                     line.command != "completion" && line.command != "cluster";
  if (usage.ok() && named) usage = MakeKey(*place, line.name).status();
  if (!usage.ok()) return Fail(cli, usage, kExitUsage, line.command);

  Result<ClusterConfig> config = LoadConfig(*root, place->cluster, line.config);
  if (!config.ok()) return Fail(cli, config.status(), kExitRefused, line.command);
  const Status status = line.command == "config"
                            ? ConfigShowCommand(cli, *config, line.config_key)
                            : RunInCluster(cli, line, *place, *config);
  return status.ok() ? kExitDone : Fail(cli, status, kExitRefused, line.command);
}

}  // namespace
}  // namespace tools::cli

int main(int argc, char** argv) {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_ERROR;
  google::InitGoogleLogging(argv[0]);
  tools::cli::HandleSignals();
  return tools::cli::Run(std::vector<std::string>(argv + 1, argv + argc));
}
