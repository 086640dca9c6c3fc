#include "heron/executor/process_children.h"

#include <utility>

#include "heron/executor/child_commands.h"

namespace heron::executor {

ProcessChildren::ProcessChildren(net::EventLoop& loop, const Options& options, Callbacks callbacks)
    : loop_(loop),
      environment_(OwnEnvironment()),
      processes_(loop, std::move(callbacks)),
      logs_({options.settings.log_max_bytes, static_cast<int>(options.settings.log_max_files)}) {
  logs_.Add(options.container_folder + "/executor.log");
  rotation_timer_ = loop_.RunEvery(LogRotation::kCheckInterval, [this] { logs_.Check(); });
}

ProcessChildren::~ProcessChildren() { loop_.CancelTimer(rotation_timer_); }

Result<int64_t> ProcessChildren::Start(const Child& child, const ChildContext& context) {
  const SpawnOptions spawn = ChildCommand(child, context, environment_);
  logs_.Add(spawn.log_file);
  return processes_.Start(child.key, spawn, ProcessMarker(child.key));
}

}  // namespace heron::executor
