#include "scheduler/packing/round_robin.h"

#include <algorithm>
#include <string>

namespace scheduler {

namespace {

heron::Result<int64_t> CountTasks(const heron::proto::Topology& topology) {
  if (topology.components().empty()) {
    return heron::InvalidArgument("the topology has 0 components; there is nothing to run");
  }
  int64_t tasks = 0;
  for (const heron::proto::Component& component : topology.components()) {
    if (component.parallelism() == 0) {
      return heron::InvalidArgument("component \"" + component.name() +
                                    "\" has parallelism 0; it must be at least 1");
    }
    tasks += component.parallelism();
  }
  if (tasks > kMaxTasks) {
    return heron::InvalidArgument("the topology has " + std::to_string(tasks) +
                                  " tasks, the limit is " + std::to_string(kMaxTasks) +
                                  "; lower the parallelism of its components");
  }
  return tasks;
}

}  // namespace

heron::Result<heron::proto::PackingPlan> PackRoundRobin(const heron::proto::Topology& topology,
                                                        int containers) {
  if (containers < 1) {
    return heron::InvalidArgument("cannot pack into " + std::to_string(containers) +
                                  " containers; at least 1 is needed");
  }
  heron::Result<int64_t> tasks = CountTasks(topology);
  if (!tasks.ok()) return tasks.status();
  const int used = static_cast<int>(std::min<int64_t>(containers, *tasks));

  heron::proto::PackingPlan plan;
  plan.set_version(1);
  plan.mutable_containers()->Reserve(used);
  for (int i = 0; i < used; ++i) plan.add_containers()->set_container(i + 1);
  int32_t next = 0;
  for (const heron::proto::Component& component : topology.components()) {
    for (uint32_t index = 0; index < component.parallelism(); ++index) {
      heron::proto::PlannedTask* task = plan.mutable_containers(next % used)->add_tasks();
      task->set_task(++next);
      task->set_component(component.name());
      task->set_component_index(static_cast<int32_t>(index));
    }
  }
  return plan;
}

}  // namespace scheduler
