#include "heron/topology_master/core/topology_record.h"

#include <map>
#include <utility>

#include "heron/settings/topology_settings.h"

namespace heron::topology_master {

Result<Wish> ParseWish(const std::optional<StoredValue>& value, const std::string& topology_id) {
  Wish wish;
  wish.kind = Wish::Kind::kNotWanted;
  if (!value) {
    wish.text = "the topology was killed: it is not in the state store any more";
    return wish;
  }
  proto::DesiredState desired;
  if (!desired.ParseFromString(value->value)) return DataLoss("/desired cannot be parsed");
  if (desired.topology_id() != topology_id) {
    wish.text = "the name belongs to topology " + desired.topology_id() + " now";
    return wish;
  }
  wish.desire = desired.desire();
  switch (desired.desire()) {
    case proto::DesiredState::KILLING:
      wish.text = "the topology is being killed by " + desired.by();
      return wish;
    case proto::DesiredState::ACTIVE:
    case proto::DesiredState::INACTIVE:
      wish.kind = Wish::Kind::kRun;
      return wish;
    default:
      wish.kind = Wish::Kind::kWait;
      return wish;
  }
}

namespace {

Status ParsePlan(const StoredNodes& nodes, const std::string& topology_id,
                 TopologyRecord* record) {
  if (const auto& stored = nodes.Get(Node::kPhysicalPlan)) {
    // Guessing instead could give an incarnation for the second time.
    if (!record->plan.ParseFromString(stored->value)) {
      return DataLoss("/pplans cannot be parsed; kill the topology and submit it again");
    }
    if (record->plan.topology_id() == topology_id) {
      record->plan_stored = true;
      return Status::Ok();
    }
    record->plan.Clear();  // of an earlier topology of this name
  }
  const auto& packing_node = nodes.Get(Node::kPackingPlan);
  if (!packing_node) return NotFound("/packingplans has no such topology");
  proto::PackingPlan packing;
  if (!packing.ParseFromString(packing_node->value)) {
    return DataLoss("/packingplans cannot be parsed");
  }
  record->plan.set_topology_id(topology_id);
  record->plan.set_version(1);
  *record->plan.mutable_containers() = packing.containers();
  return Status::Ok();
}

// The plan must be one that every process can work with.
Status CheckContainers(const proto::PhysicalPlan& plan) {
  std::map<ContainerId, int> seen;
  for (const proto::PlannedContainer& container : plan.containers()) {
    const std::string name = "container " + std::to_string(container.container());
    if (container.container() < 0) return InvalidArgument(name + " has a negative id");
    if (++seen[container.container()] > 1) return InvalidArgument(name + " is planned twice");
    if (container.container() == 0 && !container.tasks().empty()) {
      return InvalidArgument("container 0 is the topology master's and cannot hold tasks");
    }
  }
  return Status::Ok();
}

}  // namespace

Result<TopologyRecord> TopologyRecord::Parse(const StoredNodes& nodes,
                                             const std::string& topology_id) {
  TopologyRecord record;
  const auto& topology_node = nodes.Get(Node::kTopology);
  if (!topology_node) return NotFound("/topologies has no such topology");
  if (!record.submitted.ParseFromString(topology_node->value)) {
    return DataLoss("/topologies cannot be parsed");
  }
  if (record.submitted.topology_id() != topology_id) {
    return FailedPrecondition("/topologies holds topology " + record.submitted.topology_id());
  }
  HERON_RETURN_IF_ERROR(ParsePlan(nodes, topology_id, &record));

  if (const auto& state_node = nodes.Get(Node::kExecutionState)) {
    proto::ExecutionState state;
    if (!state.ParseFromString(state_node->value)) {
      return DataLoss("/executionstate cannot be parsed; kill the topology and submit it again");
    }
    if (state.topology_id() == topology_id) record.state = std::move(state);
  }

  Status fits = CheckContainers(record.plan);
  if (fits.ok()) {
    auto layout =
        model::TaskLayout::Make(record.submitted.topology(), record.plan.containers());
    if (layout.ok()) {
      record.layout = std::move(layout).value();
    } else {
      fits = layout.status();
    }
  }
  auto settings = settings::ParseTopologySettings(record.submitted.topology().config());
  if (settings.ok()) {
    record.task_max_restarts = settings->task_max_restarts;
    record.tracked = settings->acking();
  } else if (fits.ok()) {
    fits = settings.status().WithContext("the topology's configuration");
    record.layout.reset();
  }
  record.plan_error = fits.message();
  return record;
}

}  // namespace heron::topology_master
