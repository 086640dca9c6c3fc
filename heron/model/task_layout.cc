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
  HERON_RETURN_IF_ERROR(layout->AddComponents(topology));
  HERON_RETURN_IF_ERROR(layout->AddTasks(containers));
  HERON_RETURN_IF_ERROR(layout->CheckIndices());
  return std::shared_ptr<const TaskLayout>(std::move(layout));
}

Status TaskLayout::AddComponents(const proto::Topology& topology) {
  topology_ = topology;
  size_t components = static_cast<size_t>(topology.components_size());
  downstream_.resize(components);
  upstream_.resize(components);
  by_component_.resize(components);
  for (int i = 0; i < topology.components_size(); ++i) {
    const std::string& name = topology.components(i).name();
    if (!by_name_.emplace(name, i).second) {
      return InvalidArgument("the topology has component " + Quoted(name) + " twice");
    }
  }
  for (int i = 0; i < topology.components_size(); ++i) {
    for (const proto::InputStream& input : topology.components(i).inputs()) {
      int from = ComponentIndex(input.component());
      if (from < 0) {
        return InvalidArgument("component " + Quoted(topology.components(i).name()) +
                               " reads component " + Quoted(input.component()) +
                               ", which does not exist");
      }
      AddOnce(upstream_[static_cast<size_t>(i)], from);
      AddOnce(downstream_[static_cast<size_t>(from)], i);
    }
  }
  return Status::Ok();
}

Status TaskLayout::AddTasks(
    const google::protobuf::RepeatedPtrField<proto::PlannedContainer>& containers) {
  std::set<ContainerId> ids;
  for (const proto::PlannedContainer& container : containers) {
    if (container.container() < 1 || !ids.insert(container.container()).second) {
      return InvalidArgument("the plan has container " + std::to_string(container.container()) +
                             (container.container() < 1 ? "; they count from 1" : " twice"));
    }
    for (const proto::PlannedTask& task : container.tasks()) {
      std::string what = "the plan has task " + std::to_string(task.task());
      int component = ComponentIndex(task.component());
      if (component < 0) {
        return InvalidArgument(what + " of component " + Quoted(task.component()) +
                               ", which the topology does not have");
      }
      if (task.task() < 1) return InvalidArgument(what + "; tasks count from 1");
      tasks_.push_back({task.task(), container.container(), component, task.component_index()});
    }
  }
  std::sort(tasks_.begin(), tasks_.end(),
            [](const TaskInfo& a, const TaskInfo& b) { return a.task < b.task; });
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const TaskInfo& info = tasks_[i];
    if (!by_task_.emplace(info.task, i).second) {
      return InvalidArgument("the plan has task " + std::to_string(info.task) + " twice");
    }
    by_component_[static_cast<size_t>(info.component)].push_back(info.task);
  }
  return Status::Ok();
}

Status TaskLayout::CheckIndices() const {
  for (int i = 0; i < topology_.components_size(); ++i) {
    const proto::Component& component = topology_.components(i);
    const std::vector<TaskId>& tasks = TasksOf(i);
    if (tasks.size() != component.parallelism()) {
      return InvalidArgument("the plan has " + std::to_string(tasks.size()) +
                             " tasks of component " + Quoted(component.name()) +
                             ", whose parallelism is " + std::to_string(component.parallelism()));
    }
    std::set<int32_t> indices;
    for (TaskId task : tasks) indices.insert(Find(task)->component_index);
    int32_t count = static_cast<int32_t>(tasks.size());
    bool without_gaps = static_cast<int32_t>(indices.size()) == count &&
                        (count == 0 || (*indices.begin() == 0 && *indices.rbegin() == count - 1));
    if (!without_gaps) {
      return InvalidArgument("the plan's tasks of component " + Quoted(component.name()) +
                             " do not have the indices 0 to " + std::to_string(count - 1));
    }
  }
  return Status::Ok();
}

const TaskInfo* TaskLayout::Find(TaskId task) const {
  auto it = by_task_.find(task);
  return it == by_task_.end() ? nullptr : &tasks_[it->second];
}

std::vector<TaskId> TaskLayout::TasksByIndex(int component) const {
  std::vector<TaskId> tasks = TasksOf(component);
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    return Find(a)->component_index < Find(b)->component_index;
  });
  return tasks;
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
  auto it = by_name_.find(name);
  return it == by_name_.end() ? -1 : it->second;
}

}  // namespace heron::model
