#include "heron/model/task_layout.h"

#include <algorithm>
#include <set>

#include "heron/model/names.h"

namespace heron::model {

namespace {

void AddOnce(std::vector<int>& list, int item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace

Result<std::shared_ptr<const TaskLayout>> TaskLayout::Make(
    const proto::Topology& topology,
    const google::protobuf::RepeatedPtrField<proto::PlannedContainer>& containers) {
  std::shared_ptr<TaskLayout> layout(new TaskLayout());
  layout->topology_ = topology;
  size_t components = static_cast<size_t>(topology.components_size());
  std::map<std::string, int> by_name;
  for (int i = 0; i < topology.components_size(); ++i) {
    const std::string& name = topology.components(i).name();
    if (!by_name.emplace(name, i).second) {
      return InvalidArgument("the topology has component " + Quoted(name) + " twice");
    }
  }
  layout->downstream_.resize(components);
  layout->upstream_.resize(components);
  for (int i = 0; i < topology.components_size(); ++i) {
    for (const proto::InputStream& input : topology.components(i).inputs()) {
      auto from = by_name.find(input.component());
      if (from == by_name.end()) {
        return InvalidArgument("component " + Quoted(topology.components(i).name()) +
                               " reads component " + Quoted(input.component()) +
                               ", which does not exist");
      }
      AddOnce(layout->upstream_[static_cast<size_t>(i)], from->second);
      AddOnce(layout->downstream_[static_cast<size_t>(from->second)], i);
    }
  }

  std::set<ContainerId> container_ids;
  for (const proto::PlannedContainer& container : containers) {
    if (container.container() < 1 || !container_ids.insert(container.container()).second) {
      return InvalidArgument("the plan has container " + std::to_string(container.container()) +
                             (container.container() < 1 ? "; they count from 1" : " twice"));
    }
    for (const proto::PlannedTask& task : container.tasks()) {
      auto component = by_name.find(task.component());
      if (component == by_name.end()) {
        return InvalidArgument("the plan has task " + std::to_string(task.task()) +
                               " of component " + Quoted(task.component()) +
                               ", which the topology does not have");
      }
      if (task.task() < 1) {
        return InvalidArgument("the plan has task " + std::to_string(task.task()) +
                               "; tasks count from 1");
      }
      layout->tasks_.push_back({task.task(), container.container(), component->second,
                                task.component_index()});
    }
  }
  std::sort(layout->tasks_.begin(), layout->tasks_.end(),
            [](const TaskInfo& a, const TaskInfo& b) { return a.task < b.task; });

  std::vector<std::vector<int32_t>> indices(components);
  layout->by_component_.resize(components);
  for (size_t i = 0; i < layout->tasks_.size(); ++i) {
    const TaskInfo& info = layout->tasks_[i];
    if (!layout->by_task_.emplace(info.task, i).second) {
      return InvalidArgument("the plan has task " + std::to_string(info.task) + " twice");
    }
    layout->by_component_[static_cast<size_t>(info.component)].push_back(info.task);
    indices[static_cast<size_t>(info.component)].push_back(info.component_index);
  }
  for (int i = 0; i < topology.components_size(); ++i) {
    std::vector<int32_t>& found = indices[static_cast<size_t>(i)];
    const proto::Component& component = topology.components(i);
    if (found.size() != component.parallelism()) {
      return InvalidArgument("the plan has " + std::to_string(found.size()) + " tasks of component " +
                             Quoted(component.name()) + ", whose parallelism is " +
                             std::to_string(component.parallelism()));
    }
    std::sort(found.begin(), found.end());
    for (size_t k = 0; k < found.size(); ++k) {
      if (found[k] != static_cast<int32_t>(k)) {
        return InvalidArgument("the plan's tasks of component " + Quoted(component.name()) +
                               " do not have the indices 0 to " +
                               std::to_string(found.size() - 1));
      }
    }
  }
  return std::shared_ptr<const TaskLayout>(std::move(layout));
}

const TaskInfo* TaskLayout::Find(TaskId task) const {
  auto it = by_task_.find(task);
  return it == by_task_.end() ? nullptr : &tasks_[it->second];
}

std::vector<TaskId> TaskLayout::TasksIn(ContainerId container) const {
  std::vector<TaskId> in;
  for (const TaskInfo& info : tasks_) {
    if (info.container == container) in.push_back(info.task);
  }
  return in;
}

std::vector<ContainerId> TaskLayout::Containers() const {
  std::set<ContainerId> containers;
  for (const TaskInfo& info : tasks_) containers.insert(info.container);
  return {containers.begin(), containers.end()};
}

int TaskLayout::ComponentIndex(const std::string& name) const {
  for (int i = 0; i < topology_.components_size(); ++i) {
    if (topology_.components(i).name() == name) return i;
  }
  return -1;
}

}  // namespace heron::model
