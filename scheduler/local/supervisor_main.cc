// heron-supervisor: keeps the executors of one topology of a local cluster running. Goes into the
// background once they are started, or fails. See heron/docs/life_of_a_topology.md.
#include <glog/logging.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "heron/base/exit_codes.h"
#include "heron/base/process.h"
#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"
#include "scheduler/local/daemon.h"
#include "scheduler/local/supervisor_file.h"
#include "scheduler/local/supervisor_options.h"
#include "scheduler/local/supervisor_server.h"

namespace {

heron::Result<int> Supervise(const scheduler::local::SupervisorOptions& options,
                             scheduler::local::DaemonStart& start) {
  HERON_RETURN_IF_ERROR(heron::SetChildSubreaper());
  auto store = heron::state::OpenStateStore(options.state_url);
  if (!store.ok()) return store.status();
  heron::net::EventLoop loop;
  scheduler::local::SupervisorServer server(loop, options, std::move(store).value());
  HERON_RETURN_IF_ERROR(server.Start());
  auto self = heron::IdentityOf(getpid());
  if (!self.ok()) return self.status();
  // Without this file the executors still work, and kill finds them; only the submitter is told
  // that it failed.
  HERON_RETURN_IF_ERROR(scheduler::local::WriteSupervisorFile(
      options.topology_folder + "/supervisor.pid", {*self, options.topology_id}));
  start.Ready();
  loop.Run();
  return server.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
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
