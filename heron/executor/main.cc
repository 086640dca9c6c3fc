// heron-executor: runs the processes of one container. See heron/docs/life_of_a_topology.md.
#include <glog/logging.h>
#include <signal.h>

#include <iostream>
#include <memory>
#include <utility>

#include "heron/base/exit_codes.h"
#include "heron/base/process.h"
#include "heron/executor/executor_server.h"
#include "heron/executor/parse_options.h"
#include "heron/executor/process_children.h"
#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "heron/state/state_store.h"

namespace {

int Fail(const heron::Status& status) {
  LOG(ERROR) << status.ToString();
  return heron::kExitError;
}

}  // namespace

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  const auto options = heron::executor::ParseOptions(&argc, &argv);
  if (!options.ok()) {
    std::cerr << "heron-executor: " << options.status().message() << "; see --help\n";
    return heron::kExitUsage;
  }
  signal(SIGPIPE, SIG_IGN);
  // Sent to those that are stopped just when their supervisor dies.
  signal(SIGHUP, SIG_IGN);
  const heron::Status subreaper = heron::SetChildSubreaper();
  if (!subreaper.ok()) return Fail(subreaper);
  auto secret = heron::link::ReadSecretFile(options->secret_file);
  if (!secret.ok()) return Fail(secret.status());
  auto store = heron::state::OpenStateStore(options->state_url, heron::state::MakeStore::kNo);
  if (!store.ok()) return Fail(store.status());

  heron::net::EventLoop loop;
  using heron::executor::Children;
  const auto as_processes = [&options](heron::net::EventLoop& of, Children::Callbacks callbacks) {
    return std::make_unique<heron::executor::ProcessChildren>(of, *options, std::move(callbacks));
  };
  heron::executor::ExecutorServer server(loop, *options, std::move(secret).value(),
                                         std::move(store).value(), as_processes);
  for (const int signo : {SIGTERM, SIGINT}) {
    loop.HandleSignal(signo, [&server] { server.Terminate(); });
  }
  const heron::Status started = server.Start();
  if (!started.ok()) return Fail(started);
  loop.Run();
  return server.exit_code();
}
