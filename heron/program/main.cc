// heron::Main: what a topology's program does with its command line.
#include "heron/api/main.h"

#include <glog/logging.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>

#include "heron/api/args.h"
#include "heron/api/internal/describe.h"
#include "heron/base/exit_codes.h"
#include "heron/instance/gateway.h"
#include "heron/instance/log.h"
#include "heron/link/credentials.h"
#include "heron/local/run_local.h"
#include "heron/net/connection.h"

namespace heron {
namespace {

using instance::Gateway;
using instance::Log;
using instance::LogLevel;

template <typename Number>
bool ParseNumber(const std::string& text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// "INCARNATION.RESTART".
bool ParseEpoch(const std::string& text, Epoch& epoch) {
  const size_t dot = text.find('.');
  return dot != std::string::npos && ParseNumber(text.substr(0, dot), epoch.incarnation) &&
         ParseNumber(text.substr(dot + 1), epoch.restart);
}

Result<Gateway::Options> GatewayOptions(const internal::CommandLine& command_line) {
  auto value = [&](const std::string& name) {
    auto it = command_line.values.find(name);
    return it == command_line.values.end() ? std::string() : it->second;
  };
  Gateway::Options options;
  options.credentials.topology_name = value("topology");
  options.credentials.topology_id = value("topology-id");
  options.component = value("component");
  options.container_folder = value("container-folder");
  if (!ParseNumber(value("container"), options.container)) {
    return InvalidArgument("--heron-container is not a number");
  }
  if (!ParseNumber(value("task"), options.task)) {
    return InvalidArgument("--heron-task is not a number");
  }
  if (!ParseNumber(value("index"), options.index)) {
    return InvalidArgument("--heron-index is not a number");
  }
  if (!ParseEpoch(value("epoch"), options.epoch)) {
    return InvalidArgument("--heron-epoch is not INCARNATION.RESTART");
  }
  auto executor = net::ParseHostPort(value("executor"));
  if (!executor.ok()) return executor.status().WithContext("--heron-executor");
  options.executor_host = executor->first;
  options.executor_port = executor->second;
  auto settings = settings::OwnProcessSettings();
  if (!settings.ok()) return settings.status();
  options.settings = *settings;
  auto secret = link::ReadSecretFile(value("secret-file"));
  if (!secret.ok()) return secret.status().WithContext("--heron-secret-file");
  options.credentials.secret = *std::move(secret);
  return options;
}

int RunInstance(Gateway::Options options) {
  signal(SIGPIPE, SIG_IGN);
  // The engine's libraries log by glog. A program that uses it too has initialised it in main().
  if (!google::IsGoogleLoggingInitialized()) {
    FLAGS_logtostderr = true;
    google::InitGoogleLogging("heron");
  }
  net::EventLoop loop;
  std::optional<Gateway> gateway;
  gateway.emplace(loop, std::move(options));
  // Whoever stops an instance decides what its exit means; one that others stop must not look done.
  loop.HandleSignal(SIGTERM, [&] { gateway->Stop(kExitStopped); });
  const int exit_code = gateway->Run();
  if (gateway->task_stuck()) _exit(exit_code);
  gateway.reset();
  return exit_code;
}

}  // namespace

int Main(int argc, char** argv, TopologyBuilder& topology) {
  const internal::CommandLine command_line = internal::ParseCommandLine(argc, argv);
  const std::string program = argc > 0 ? argv[0] : "program";
  std::optional<int> done =
      internal::RunUnlessTasks(command_line, program, topology, std::cout, std::cerr);
  if (done) return *done;
  if (command_line.local) {
    return local::RunLocal(topology, {command_line.local_options, Args(argc, argv).values()},
                           std::cerr);
  }
  Result<Gateway::Options> options = GatewayOptions(command_line);
  if (!options.ok()) {
    Log(LogLevel::kError, options.status().ToString());
    return kExitUsage;
  }
  options->arguments = Args(argc, argv).values();
  options->builder = &topology;
  return RunInstance(*std::move(options));
}

}  // namespace heron
