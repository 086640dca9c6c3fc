// heron-supervisor: keeps the executors of one topology of a local cluster running. Goes into the
// background once they are started, or fails. `heron-supervisor --resume=TOPOLOGY_FOLDER` becomes
// the supervisor that was launched there. See heron/docs/life_of_a_topology.md.
#include <glog/logging.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "heron/base/exit_codes.h"
#include "heron/base/file_lock.h"
#include "heron/base/process.h"
#include "heron/base/process_table.h"
#include "heron/base/status.h"
#include "heron/model/store_verdict.h"
#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"
#include "heron/state/store_look.h"
#include "scheduler/local/daemon.h"
#include "scheduler/local/launch_file.h"
#include "scheduler/local/supervisor_file.h"
#include "scheduler/local/supervisor_options.h"
#include "scheduler/local/supervisor_server.h"

namespace {

// Another one that asks or is about to end holds the lock for a moment only.
constexpr int kLockTries = 50;

heron::Result<heron::FileLock> TakeLock(const std::string& path) {
  for (int attempt = 1;; ++attempt) {
    heron::Result<heron::FileLock> lock = heron::FileLock::Take(path);
    if (lock.ok() || lock.status().code() != heron::StatusCode::kUnavailable ||
        attempt == kLockTries) {
      return lock;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

heron::Result<int> Supervise(const scheduler::local::SupervisorOptions& options,
                             scheduler::local::DaemonStart& start) {
  HERON_RETURN_IF_ERROR(heron::SetChildSubreaper());
  const auto lock = TakeLock(scheduler::local::SupervisorLockPath(options.topology_folder));
  if (lock.status().code() == heron::StatusCode::kUnavailable) {
    LOG(INFO) << "not needed: another supervisor is there";
    return heron::kExitNotWanted;
  }
  if (!lock.ok()) return lock.status();
  // A lock file removed by hand must not make two of one.
  const auto before =
      scheduler::local::ReadSupervisorFile(options.topology_folder + "/supervisor.pid");
  if (before.ok() && before->topology_id == options.topology_id &&
      heron::IsAlive(before->supervisor)) {
    LOG(INFO) << "not needed: process " << before->supervisor.pid << " is the supervisor";
    return heron::kExitNotWanted;
  }
  auto store = heron::state::OpenStateStore(options.state_url, heron::state::MakeStore::kNo);
  if (!store.ok()) return store.status();
  // Killed while this process started.
  if (heron::state::LookNow(**store, options.key, options.topology_id) !=
      heron::model::StoreVerdict::kGoOn) {
    LOG(INFO) << "not wanted: the topology was killed, replaced or has ended";
    return heron::kExitNotWanted;
  }
  heron::net::EventLoop loop;
  scheduler::local::SupervisorServer server(loop, options, std::move(store).value());
  HERON_RETURN_IF_ERROR(server.Start());
  auto self = heron::IdentityOf(getpid());
  if (!self.ok()) return self.status();
  // Without it a reboot is not told from another end, and kill ends executors with less ceremony.
  const heron::Status written = scheduler::local::WriteSupervisorFile(
      options.topology_folder + "/supervisor.pid", {*self, options.topology_id});
  LOG_IF(ERROR, !written.ok()) << written.ToString();
  start.Ready();
  loop.Run();
  return server.exit_code();
}

// Returns only when it fails.
heron::Status Resume(const std::string& folder) {
  const auto launch = scheduler::local::ReadLaunchFile(folder);
  if (!launch.ok()) return launch.status();
  std::vector<std::string> entries;
  for (const auto& [name, value] : launch->environment) entries.push_back(name + "=" + value);
  std::vector<char*> arguments, environment;
  for (const std::string& argument : launch->argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  for (std::string& entry : entries) environment.push_back(entry.data());
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  execve(arguments[0], arguments.data(), environment.data());
  return heron::ErrnoStatus(errno, std::string("cannot start ") + arguments[0]);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view kResume = "--resume=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(kResume)) {
    const heron::Status status = Resume(argv[1] + kResume.size());
    std::cerr << "heron-supervisor: " << status.ToString() << "\n";
    return heron::kExitError;
  }
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  const auto options = scheduler::local::ParseSupervisorOptions(&argc, &argv);
  if (!options.ok()) {
    std::cerr << "heron-supervisor: " << options.status().message() << "; see --help\n";
    return heron::kExitUsage;
  }
  auto start = scheduler::local::BecomeDaemon(options->topology_folder + "/supervisor.log");
  if (!start.ok()) {
    std::cerr << "heron-supervisor: " << start.status().ToString() << "\n";
    return heron::kExitError;
  }
  signal(SIGPIPE, SIG_IGN);
  const heron::Result<int> exit_code = Supervise(*options, *start);
  if (exit_code.ok()) return *exit_code;
  LOG(ERROR) << "cannot supervise " << options->topology_id << ": "
             << exit_code.status().ToString();
  return heron::kExitError;
}
