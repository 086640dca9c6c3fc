#include "heron/stream_manager/core/recorded_world.h"

#include <algorithm>

#include "heron/model/tuple_batch.h"
#include "heron/stream_manager/core/epochs.h"

namespace heron::stream_manager {
namespace {

std::vector<BufferSlice> Select(const std::vector<RecordedWorld::Sent>& sent, int to,
                                proto::MessageType type) {
  std::vector<BufferSlice> frames;
  for (const auto& s : sent) {
    if (s.to == to && TypeOf(s.frame) == type) frames.push_back(s.frame);
  }
  return frames;
}

std::vector<uint64_t> Numbers(const std::vector<BufferSlice>& frames) {
  std::vector<uint64_t> numbers;
  for (const BufferSlice& frame : frames) numbers.push_back(NumberOf(frame));
  return numbers;
}

}  // namespace

proto::MasterUpdate MakeUpdate(const TaskPlaces& places, uint64_t plan_version,
                               uint64_t mastership_epoch) {
  proto::MasterUpdate update;
  update.set_mastership_epoch(mastership_epoch);
  update.set_plan_version(plan_version);
  update.mutable_topology()->set_topology_id(kTestTopologyId);
  proto::Topology* topology = update.mutable_topology()->mutable_topology();
  topology->set_name("test");
  std::map<std::string, int> parallelism;
  std::map<ContainerId, proto::PlannedContainer> containers;
  std::string previous;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto& [name, container] = places[i];
    if (parallelism.count(name) == 0) {
      proto::Component* component = topology->add_components();
      component->set_name(name);
      component->set_kind(previous.empty() ? proto::SPOUT : proto::BOLT);
      component->add_outputs()->set_name("default");
      if (!previous.empty()) {
        proto::InputStream* input = component->add_inputs();
        input->set_component(previous);
        input->set_stream("default");
        input->set_grouping(proto::SHUFFLE);
      }
      previous = name;
    }
    proto::PlannedTask* task = containers[container].add_tasks();
    task->set_task(static_cast<TaskId>(i) + 1);
    task->set_component(name);
    task->set_component_index(parallelism[name]++);
  }
  for (proto::Component& component : *topology->mutable_components()) {
    component.set_parallelism(static_cast<uint32_t>(parallelism[component.name()]));
  }
  update.mutable_plan()->set_topology_id(kTestTopologyId);
  update.mutable_plan()->set_version(plan_version);
  for (auto& [id, container] : containers) {
    container.set_container(id);
    *update.mutable_plan()->add_containers() = container;
  }
  return update;
}

BufferSlice BatchFrame(TaskId source, TaskId destination, uint64_t number, size_t payload_bytes,
                       uint32_t tuples, Epoch epoch) {
  model::BatchHeader header;
  header.source_task = source;
  header.source_epoch = epoch;
  header.destination_task = destination;
  header.tuple_count = tuples;
  header.number = number;
  header.routing_version = 1;
  char head[model::kMaxBatchHeaderBytes];
  const size_t head_bytes = model::EncodeBatchHeader(header, payload_bytes, head);
  std::string frame(net::kFrameHeaderBytes, '\0');
  net::EncodeFrameHeader({static_cast<uint32_t>(head_bytes + payload_bytes), proto::TUPLE_BATCH},
                         frame.data());
  frame.append(head, head_bytes);
  frame.append(payload_bytes, 'x');
  return BufferSlice::Take(std::move(frame));
}

BufferSlice EndedFrame(TaskId source, TaskId destination, uint64_t last_number) {
  proto::Ended ended;
  ended.set_source_task(source);
  FillEpoch({1, 0}, ended.mutable_source_epoch());
  ended.set_destination_task(destination);
  ended.set_last_number(last_number);
  return net::EncodeFrame(proto::ENDED, ended);
}

BufferSlice ConfirmedFrame(TaskId source, TaskId destination) {
  proto::EndedConfirmed confirmed;
  confirmed.set_source_task(source);
  FillEpoch({1, 0}, confirmed.mutable_source_epoch());
  confirmed.set_destination_task(destination);
  FillEpoch({1, 0}, confirmed.mutable_destination_epoch());
  return net::EncodeFrame(proto::ENDED_CONFIRMED, confirmed);
}

BufferSlice StatesFrame(ContainerId container, Epoch epoch, uint64_t number,
                        const std::vector<std::pair<TaskId, bool>>& tasks_and_stopped) {
  proto::TaskStates states;
  states.set_container(container);
  FillEpoch(epoch, states.mutable_epoch());
  states.set_number(number);
  for (const auto& [task, stopped] : tasks_and_stopped) {
    proto::TaskStates::Task* state = states.add_tasks();
    state->set_task(task);
    FillEpoch({1, 0}, state->mutable_epoch());
    state->set_up(true);
    state->set_stopped(stopped);
  }
  return net::EncodeFrame(proto::TASK_STATES, states);
}

BufferSlice ReportFrame(TaskId task, Epoch epoch, proto::TaskStatus::Phase phase,
                        uint64_t executed) {
  proto::TaskReport report;
  report.mutable_status()->set_task(task);
  FillEpoch(epoch, report.mutable_status()->mutable_epoch());
  report.mutable_status()->set_phase(phase);
  report.mutable_status()->set_executed(executed);
  return net::EncodeFrame(proto::TASK_REPORT, report);
}

uint16_t TypeOf(const BufferSlice& frame) {
  return net::DecodeFrameHeader(frame.view(), 1u << 30)->type;
}

uint64_t NumberOf(const BufferSlice& frame) {
  return model::DecodeBatch(frame.view().substr(net::kFrameHeaderBytes))->header.number;
}

void RecordedWorld::SendToInstance(TaskId task, proto::Lane lane, BufferSlice frame) {
  if (lane == proto::DATA && stuck_instances.contains(task)) {
    instance_queued[{task, lane}] += frame.size();
  }
  to_instances.push_back({task, lane, std::move(frame)});
}

void RecordedWorld::SendToPeer(ContainerId container, proto::Lane lane, BufferSlice frame) {
  if (lane == proto::DATA && stuck_peers.contains(container)) {
    peer_queued[{container, lane}] += frame.size();
  }
  to_peers.push_back({container, lane, std::move(frame)});
}

void RecordedWorld::SetPeerTarget(ContainerId container, const std::string& host, uint16_t port,
                                  Epoch epoch) {
  targets[container] = host + ":" + std::to_string(port) + " " + epoch.ToString();
}

std::vector<BufferSlice> RecordedWorld::FramesTo(TaskId task, proto::MessageType type) const {
  return Select(to_instances, task, type);
}

std::vector<BufferSlice> RecordedWorld::FramesToPeer(ContainerId container,
                                                     proto::MessageType type) const {
  return Select(to_peers, container, type);
}

std::vector<uint64_t> RecordedWorld::NumbersTo(TaskId task) const {
  return Numbers(FramesTo(task, proto::TUPLE_BATCH));
}

std::vector<uint64_t> RecordedWorld::NumbersToPeer(ContainerId container) const {
  return Numbers(FramesToPeer(container, proto::TUPLE_BATCH));
}

proto::TaskStates RecordedWorld::LastStatesToPeer(ContainerId container) const {
  const auto frames = FramesToPeer(container, proto::TASK_STATES);
  return frames.empty() ? proto::TaskStates() : Parse<proto::TaskStates>(frames.back());
}

proto::TaskStates RecordedWorld::LastStatesTo(TaskId task) const {
  const auto frames = FramesTo(task, proto::TASK_STATES);
  return frames.empty() ? proto::TaskStates() : Parse<proto::TaskStates>(frames.back());
}

proto::StreamManagerReport RecordedWorld::LastReport() const {
  return to_master.empty() ? proto::StreamManagerReport()
                           : Parse<proto::StreamManagerReport>(to_master.back());
}

void RecordedWorld::Unstick(TaskId task) {
  stuck_instances.erase(task);
  instance_queued.erase({task, proto::DATA});
}

void RecordedWorld::UnstickPeer(ContainerId container) {
  stuck_peers.erase(container);
  peer_queued.erase({container, proto::DATA});
}

}  // namespace heron::stream_manager
