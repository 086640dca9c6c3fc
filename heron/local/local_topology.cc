#include "heron/local/local_topology.h"

#include <glog/logging.h>
#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "heron/api/internal/builder_access.h"
#include "heron/base/random.h"
#include "heron/base/thread_name.h"
#include "heron/executor/children.h"
#include "heron/executor/executor_server.h"
#include "heron/executor/options.h"
#include "heron/local/thread_children.h"
#include "heron/model/described.h"
#include "heron/net/event_loop.h"
#include "heron/settings/process_settings.h"
#include "heron/state/memory_store.h"
#include "heron/state/paths.h"
#include "heron/state/state_store.h"
#include "proto/container.pb.h"
#include "proto/frame.pb.h"
#include "proto/handshake.pb.h"
#include "proto/master.pb.h"
#include "proto/plan.pb.h"
#include "proto/stream.pb.h"
#include "proto/topology.pb.h"

namespace heron::local {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDayMs = 24LL * 3600 * 1000;

Result<settings::ProcessSettings> ProcessSettingsOf(const proto::Topology& topology) {
  const std::map<std::string, std::string> config(topology.config().begin(),
                                                  topology.config().end());
  const auto text = settings::FormatProcessSettings(config);
  if (!text.ok()) return text.status();
  auto made = settings::ParseProcessSettings(*text);
  if (!made.ok()) return made.status();
  // Nobody is dead because it was silent: a debugger stops all of us.
  made->heartbeat_timeout_ms = 365 * kDayMs;
  made->lease_ms = 365 * kDayMs;
  return made;
}

// Protobuf makes the descriptors of a file at their first use, here before there are threads: by
// what it keeps them apart, the thread sanitizer cannot see in a library that was built without it.
void MakeDescriptors() {
  proto::ChildReport::descriptor();
  proto::Identity::descriptor();
  proto::ContainerPlan::descriptor();
  proto::SubmittedTopology::descriptor();
  proto::ExecutionState::descriptor();
  proto::TaskReport::descriptor();
  proto::Topology::descriptor();
  proto::Lane_descriptor();
}

Result<std::string> MakeFolder(const std::string& name) {
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / ("heron-" + name + "-XXXXXX")).string();
  if (error) return ErrnoStatus(error.value(), "the folder for temporary files");
  if (mkdtemp(folder.data()) == nullptr) return ErrnoStatus(errno, "cannot make " + folder);
  return folder;
}

proto::SubmittedTopology Submitted(const LocalTopology::Options& options,
                                   const state::TopologyKey& key, const std::string& id) {
  const scheduler::Definition& definition = options.definition;
  proto::SubmittedTopology submitted;
  submitted.set_topology_id(id);
  submitted.set_name(key.name);
  submitted.set_role(key.role);
  submitted.set_env(key.env);
  submitted.set_cluster("local");
  *submitted.mutable_topology() = definition.topology;
  submitted.set_described_sha256(
      model::DescribedSha256(internal::BuilderAccess::Definition(*options.builder)));
  for (const std::string& argument : options.arguments) submitted.add_arguments(argument);
  submitted.set_submitted_unix_ms(SystemClock().UnixMillis());
  submitted.mutable_key_groups()->insert(definition.key_groups.begin(),
                                         definition.key_groups.end());
  return submitted;
}

}  // namespace

struct LocalTopology::Impl {
  struct Executor {
    net::EventLoop loop;
    executor::ExecutorServer* server = nullptr;  // its thread's own
    std::thread thread;
  };

  ~Impl();
  Status WriteRecords();
  Status StartExecutor(ContainerId container, const settings::ProcessSettings& settings);
  void Stop();

  Options options;
  state::TopologyKey key;
  std::string id;
  std::string folder;
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::vector<std::unique_ptr<Executor>> executors;
  std::atomic<size_t> ended{0};
  std::unique_ptr<state::Watch> watch;
};

LocalTopology::LocalTopology(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LocalTopology::~LocalTopology() = default;

LocalTopology::Impl::~Impl() {
  watch.reset();
  Stop();
  for (const auto& executor : executors) executor->thread.join();
  std::error_code ignored;
  if (!folder.empty()) fs::remove_all(folder, ignored);
}

Result<std::unique_ptr<LocalTopology>> LocalTopology::Start(Options options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->key = {"local", "local", impl->options.definition.topology.name()};
  impl->id = impl->key.name + "-" + ToHex(RandomBytes(8));
  impl->shared->secret = RandomBytes(32);
  impl->shared->store = state::MakeMemoryStore();
  impl->shared->builder = impl->options.builder;
  const auto settings = ProcessSettingsOf(impl->options.definition.topology);
  if (!settings.ok()) return settings.status();
  MakeDescriptors();
  auto folder = MakeFolder(impl->key.name);
  if (!folder.ok()) return folder.status();
  impl->folder = *std::move(folder);
  HERON_RETURN_IF_ERROR(impl->WriteRecords());
  // Set up before anything can happen.
  impl->watch =
      impl->shared->store->WatchNode(state::ExecutionStatePath(impl->key), impl->options.changed);
  std::vector<ContainerId> containers = {0};
  for (const auto& container : impl->options.definition.plan.containers()) {
    containers.push_back(container.container());
  }
  for (const ContainerId container : containers) {
    HERON_RETURN_IF_ERROR(impl->StartExecutor(container, *settings));
  }
  return std::unique_ptr<LocalTopology>(new LocalTopology(std::move(impl)));
}

Status LocalTopology::Impl::WriteRecords() {
  proto::DesiredState desired;
  desired.set_topology_id(id);
  desired.set_desire(proto::DesiredState::ACTIVE);
  desired.set_since_unix_ms(SystemClock().UnixMillis());
  const std::pair<std::string, std::string> records[] = {
      {state::TopologyPath(key), Submitted(options, key, id).SerializeAsString()},
      {state::PackingPlanPath(key), options.definition.plan.SerializeAsString()},
      {state::DesiredPath(key), desired.SerializeAsString()}};
  for (const auto& [path, value] : records) {
    const auto written = shared->store->Create(path, value);
    if (!written.ok()) return written.status();
  }
  return Status::Ok();
}

Status LocalTopology::Impl::StartExecutor(ContainerId container,
                                          const settings::ProcessSettings& settings) {
  executor::Options of;
  of.key = key;
  of.topology_id = id;
  of.container = container;
  of.container_folder = folder + "/container-" + std::to_string(container);
  of.settings = settings;
  auto made = std::make_unique<Executor>();
  auto run = [this, of, self = made.get()] {
    SetThreadName("executor:" + std::to_string(of.container));
    {
      executor::ExecutorServer server(
          self->loop, of, shared->secret, shared->store,
          [this](net::EventLoop& loop, executor::Children::Callbacks callbacks) {
            return std::make_unique<ThreadChildren>(loop, shared, std::move(callbacks));
          });
      const Status started = server.Start();
      if (started.ok()) {
        self->server = &server;
        self->loop.Run();
        self->server = nullptr;
      } else {
        LOG(ERROR) << started.ToString();
      }
    }
    ++ended;
    options.changed();
  };
  try {
    made->thread = std::thread(std::move(run));
  } catch (const std::system_error& error) {
    return Unavailable("cannot start a thread: " + std::string(error.what()));
  }
  executors.push_back(std::move(made));
  return Status::Ok();
}

void LocalTopology::Impl::Stop() {
  for (const auto& executor : executors) {
    executor->loop.Post([self = executor.get()] {
      if (self->server != nullptr) self->server->Terminate();
    });
  }
}

void LocalTopology::Stop() { impl_->Stop(); }

bool LocalTopology::ended() const { return impl_->ended == impl_->executors.size(); }

proto::ExecutionState LocalTopology::State() const {
  proto::ExecutionState state;
  const auto read = impl_->shared->store->Get(state::ExecutionStatePath(impl_->key));
  if (!read.ok() || !state.ParseFromString(read->value)) return {};
  return state;
}

std::vector<std::string> LocalTopology::RunningTasks() const {
  return impl_->shared->tasks.Names();
}

void LocalTopology::RemoveFolder() {
  std::error_code ignored;
  fs::remove_all(impl_->folder, ignored);
}

}  // namespace heron::local
