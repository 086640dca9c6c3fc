// Who is where: an immutable look-up made from the topology and a plan. Shared by instance, stream
// manager and master.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "heron/base/status.h"
#include "proto/plan.pb.h"
#include "proto/topology.pb.h"

namespace heron::model {

struct TaskInfo {
  TaskId task = 0;
  ContainerId container = 0;
  int component = 0;            // index in Topology.components
  int32_t component_index = 0;  // from 0
};

class TaskLayout {
 public:
  // InvalidArgument when plan and topology do not fit together (unknown component, task twice,
  // index gaps).
  static Result<std::shared_ptr<const TaskLayout>> Make(
      const proto::Topology& topology,
      const google::protobuf::RepeatedPtrField<proto::PlannedContainer>& containers);

  const proto::Topology& topology() const { return topology_; }
  const TaskInfo* Find(TaskId task) const;                       // nullptr if unknown
  const std::vector<TaskInfo>& tasks() const { return tasks_; }  // by task id
  const std::vector<TaskId>& TasksOf(int component) const { return by_component_[component]; }
  // In order of their index within the component, by which tasks are addressed.
  std::vector<TaskId> TasksByIndex(int component) const;
  std::vector<TaskId> TasksIn(ContainerId container) const;
  std::vector<ContainerId> Containers() const;        // sorted
  int ComponentIndex(const std::string& name) const;  // -1 if unknown

  // Components that subscribe to any stream of `component`, and those it subscribes to.
  const std::vector<int>& Downstream(int component) const { return downstream_[component]; }
  const std::vector<int>& Upstream(int component) const { return upstream_[component]; }

 private:
  TaskLayout() = default;
  // The steps of Make, in this order.
  Status AddComponents(const proto::Topology& topology);
  Status AddTasks(const google::protobuf::RepeatedPtrField<proto::PlannedContainer>& containers);
  Status CheckIndices() const;

  proto::Topology topology_;
  std::vector<TaskInfo> tasks_;
  std::map<std::string, int> by_name_;
  std::map<TaskId, size_t> by_task_;
  std::vector<std::vector<TaskId>> by_component_;
  std::vector<std::vector<int>> downstream_;
  std::vector<std::vector<int>> upstream_;
};

}  // namespace heron::model
