// heron-topology-master: plans, watches and ends one topology. See
// heron/docs/life_of_a_topology.md.
#include <glog/logging.h>
#include <signal.h>

#include <iostream>
#include <memory>

#include "heron/base/exit_codes.h"
#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"
#include "heron/topology_master/parse_options.h"
#include "heron/topology_master/server.h"

namespace {

int Fail(const heron::Status& status) {
  LOG(ERROR) << status.ToString();
  return heron::kExitError;
}

}  // namespace

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  auto options = heron::topology_master::ParseOptions(&argc, &argv);
  if (!options.ok()) {
    std::cerr << "heron-topology-master: " << options.status().message() << "; see --help\n";
    return heron::kExitUsage;
  }
  signal(SIGPIPE, SIG_IGN);
  auto secret = heron::link::ReadSecretFile(options->secret_file);
  if (!secret.ok()) return Fail(secret.status());
  auto store = heron::state::OpenStateStore(options->state_url, heron::state::MakeStore::kNo);
  if (!store.ok()) return Fail(store.status());

  heron::net::EventLoop loop;
  int exit_code = heron::kExitOk;
  heron::topology_master::Server server(loop, *options, std::move(secret).value(),
                                        std::move(store).value(), [&](int code) {
                                          exit_code = code;
                                          loop.Stop();
                                        });
  loop.HandleSignal(SIGTERM, [&] { loop.Stop(); });
  const heron::Status started = server.Start();
  if (!started.ok()) return Fail(started);
  loop.Run();
  return exit_code;
}
