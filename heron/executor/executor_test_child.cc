// Stands in for the stream manager, the topology master and the user's program in
// executor_server_test. An instance does what the argument behind "--" says.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>

#include "heron/link/session.h"
#include "heron/net/event_loop.h"
#include "proto/container.pb.h"

namespace {

using heron::link::Session;
namespace proto = heron::proto;

std::map<std::string, std::string> Arguments(int argc, char** argv) {
  std::map<std::string, std::string> values;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--") {
      if (i + 1 < argc) values["behaviour"] = argv[i + 1];
      break;
    }
    const size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (name.rfind("heron-", 0) == 0) name.erase(0, 6);
    for (char& c : name) c = c == '-' ? '_' : c;
    values[name] = equals == std::string::npos ? "" : argument.substr(equals + 1);
  }
  return values;
}

class FakeChild : public heron::link::SessionHandler {
 public:
  FakeChild(heron::net::EventLoop& loop, proto::Role role, std::string behaviour)
      : loop_(loop), role_(role), behaviour_(std::move(behaviour)) {}

  void OnSessionUp(Session& session) override {
    proto::ChildReport report;
    report.set_pid(getpid());
    if (role_ == proto::STREAM_MANAGER) report.set_port(12345);
    if (behaviour_ == "last-words") report.set_error("cannot open the input");
    session.Send(proto::CONTROL, proto::CHILD_REPORT, report);
    if (behaviour_ == "chatter") {
      loop_.RunEvery(std::chrono::milliseconds(1), [] {
        std::printf("%s\n", std::string(99, 'x').c_str());
        std::fflush(stdout);
      });
    }
    if (behaviour_ == "last-words") {
      loop_.RunAfter(std::chrono::milliseconds(20), [] { _exit(10); });
    }
  }
  void OnFrame(Session&, proto::Lane, heron::net::Frame frame) override {
    proto::ChildUpdate update;
    if (frame.type != proto::CHILD_UPDATE || !heron::net::ParseBody(frame.body(), update).ok()) {
      return;
    }
    if (update.stream_manager_port() == said_port_) return;
    said_port_ = update.stream_manager_port();
    std::printf("stream manager at %u\n", said_port_);
    std::fflush(stdout);
  }
  void OnSessionDown(Session&, const heron::Status&) override {}

 private:
  heron::net::EventLoop& loop_;
  const proto::Role role_;
  const std::string behaviour_;
  uint32_t said_port_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  auto arguments = Arguments(argc, argv);
  const std::string file = argv[0];
  proto::Role role = proto::INSTANCE;
  if (file.ends_with("heron-stream-manager")) role = proto::STREAM_MANAGER;
  if (file.ends_with("heron-topology-master")) role = proto::TOPOLOGY_MASTER;
  if (arguments["behaviour"] == "ignore-term") signal(SIGTERM, SIG_IGN);

  heron::Epoch epoch;
  std::sscanf(arguments["epoch"].c_str(), "%lu.%lu", &epoch.incarnation, &epoch.restart);
  const int container = std::stoi(arguments["container"]);
  const int task = role == proto::INSTANCE ? std::stoi(arguments["task"]) : 0;
  auto secret = heron::link::ReadSecretFile(arguments["secret_file"]);
  const auto executor = heron::net::ParseHostPort(arguments["executor"]);
  if (!secret.ok() || !executor.ok()) return 2;

  heron::net::EventLoop loop;
  FakeChild child(loop, role, arguments["behaviour"]);
  heron::link::SessionDialer::Options options;
  options.self = heron::link::MakeIdentity(role, container, task, epoch);
  options.callee = heron::link::MakeIdentity(proto::EXECUTOR, container, 0, {});
  options.credentials = {arguments["topology"], arguments["topology_id"], *secret};
  options.lanes = {proto::CONTROL};
  auto dialer = heron::link::SessionDialer::Make(loop, options, &child);
  dialer->SetTarget(executor->first, executor->second, options.callee);
  loop.Run();
  return 0;
}
