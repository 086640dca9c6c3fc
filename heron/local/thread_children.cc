#include "heron/local/thread_children.h"

#include <glog/logging.h>
#include <unistd.h>

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "heron/base/exit_codes.h"
#include "heron/base/thread_name.h"
#include "heron/instance/gateway.h"
#include "heron/instance/log.h"
#include "heron/stream_manager/options.h"
#include "heron/stream_manager/server.h"
#include "heron/topology_master/options.h"
#include "heron/topology_master/server.h"

namespace heron::local {
namespace {

using executor::Child;
using executor::ChildContext;
using executor::ChildEnd;
using executor::ChildKey;
using instance::Gateway;

// User code may stand at a breakpoint for as long as it likes.
constexpr Duration kStopTimeout = std::chrono::hours(24 * 365);

topology_master::Options MasterOptions(const ChildContext& context) {
  topology_master::Options options;
  options.key = context.options.key;
  options.topology_id = context.options.topology_id;
  options.container = context.options.container;
  options.executor_host = context.options.bind_host;
  options.executor_port = context.port;
  options.bind_host = context.options.bind_host;
  options.settings = context.options.settings;
  return options;
}

stream_manager::Options StreamManagerOptions(const Child& child, const ChildContext& context) {
  stream_manager::Options options;
  options.topology = context.options.key;
  options.topology_id = context.options.topology_id;
  options.container = context.options.container;
  options.executor_host = context.options.bind_host;
  options.executor_port = context.port;
  options.epoch = child.epoch;
  options.settings = context.options.settings;
  return options;
}

Gateway::Options InstanceOptions(const Child& child, const ChildContext& context,
                                 const Shared& shared) {
  Gateway::Options options;
  options.credentials = {context.options.key.name, context.options.topology_id, shared.secret};
  options.container = context.options.container;
  options.component = child.task.component();
  options.task = child.key.task;
  options.index = child.task.component_index();
  options.epoch = child.epoch;
  options.executor_host = context.options.bind_host;
  options.executor_port = context.port;
  options.container_folder = context.options.container_folder;
  options.settings = context.options.settings;
  options.arguments.assign(context.topology.arguments().begin(),
                           context.topology.arguments().end());
  options.builder = shared.builder;
  options.stop_timeout = kStopTimeout;
  return options;
}

template <typename Server, typename Options>
int RunServer(net::EventLoop& loop, Options options, const Shared& shared) {
  int exit_code = kExitOk;
  Server server(loop, std::move(options), shared.secret, shared.store, [&](int code) {
    exit_code = code;
    loop.Stop();
  });
  const Status started = server.Start();
  if (!started.ok()) {
    LOG(ERROR) << started.ToString();
    return kExitError;
  }
  loop.Run();
  return exit_code;
}

std::string ThreadName(const Child& child, ContainerId container) {
  switch (child.key.role) {
    case proto::TOPOLOGY_MASTER:
      return "tm";
    case proto::STREAM_MANAGER:
      return "sm:" + std::to_string(container);
    default:
      return child.task.component() + "[" + std::to_string(child.task.component_index()) + "]";
  }
}

}  // namespace

struct ThreadChildren::Thread {
  std::string name;
  net::EventLoop loop;
  Gateway* gateway = nullptr;  // the thread's own; of an instance
  int exit_code = 0;           // once it has ended
  std::thread thread;

  int Run(const Child& child, const ChildContext& context, Shared& shared) {
    switch (child.key.role) {
      case proto::TOPOLOGY_MASTER:
        return RunServer<topology_master::Server>(loop, MasterOptions(context), shared);
      case proto::STREAM_MANAGER:
        return RunServer<stream_manager::Server>(loop, StreamManagerOptions(child, context),
                                                 shared);
      default:
        return RunInstance(child, context, shared);
    }
  }

  int RunInstance(const Child& child, const ChildContext& context, Shared& shared) {
    instance::SetLogLabel(name);
    shared.tasks.Add(name);
    int code = kExitOk;
    {
      Gateway task(loop, InstanceOptions(child, context, shared));
      gateway = &task;
      code = task.Run();
      gateway = nullptr;
    }
    shared.tasks.Remove(name);
    return code;
  }

  void Stop() {
    loop.Post([this] {
      if (gateway != nullptr) {
        gateway->Stop(kExitError);
      } else {
        loop.Stop();
      }
    });
  }
};

ThreadChildren::ThreadChildren(net::EventLoop& loop, std::shared_ptr<Shared> shared,
                               Callbacks callbacks)
    : loop_(loop), shared_(std::move(shared)), callbacks_(std::move(callbacks)) {}

ThreadChildren::~ThreadChildren() {
  for (const auto& [key, thread] : threads_) thread->Stop();
  for (const auto& [key, thread] : threads_) thread->thread.join();
}

Result<int64_t> ThreadChildren::Start(const Child& child, const ChildContext& context) {
  CHECK(threads_.count(child.key) == 0) << ToString(child.key) << " is alive";
  auto made = std::make_unique<Thread>();
  made->name = ThreadName(child, context.options.container);
  // Copies: both change while the thread runs.
  auto run = [this, self = made.get(), shared = shared_, child, context] {
    SetThreadName("gw:" + self->name);
    self->exit_code = self->Run(child, context, *shared);
    loop_.Post([this, key = child.key] { OnEnded(key); });
  };
  try {
    made->thread = std::thread(std::move(run));
  } catch (const std::system_error& error) {
    return Unavailable("cannot start a thread for " + made->name + ": " + error.what());
  }
  threads_[child.key] = std::move(made);
  return static_cast<int64_t>(getpid());
}

void ThreadChildren::Signal(const ChildKey& key, int /*signo*/) {
  const auto at = threads_.find(key);
  if (at != threads_.end()) at->second->Stop();
}

void ThreadChildren::OnEnded(const ChildKey& key) {
  const auto at = threads_.find(key);
  at->second->thread.join();
  ChildEnd end;
  end.exit_code = at->second->exit_code;
  end.description = "ended with code " + std::to_string(end.exit_code);
  end.at_unix_ms = loop_.clock().UnixMillis();
  threads_.erase(at);
  ended_[key] = std::move(end);
  TellEnds();
}

void ThreadChildren::OnSessionGone() {
  if (!ended_.empty()) loop_.Post([this] { TellEnds(); });
}

// Its sockets are closed, so each session comes to its end.
void ThreadChildren::TellEnds() {
  for (auto at = ended_.begin(); at != ended_.end();) {
    if (callbacks_.has_session(at->first)) {
      ++at;
      continue;
    }
    const auto told = ended_.extract(at++);
    callbacks_.ended(told.key(), told.mapped());
  }
}

bool ThreadChildren::KillAll(Duration /*timeout*/) {
  for (const auto& [key, thread] : threads_) thread->Stop();
  return threads_.empty();
}

}  // namespace heron::local
