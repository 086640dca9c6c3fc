#include "heron/stream_manager/core/toy_network.h"

#include <algorithm>
#include <utility>

#include "heron/model/tuple_batch.h"

namespace heron::stream_manager {
namespace {

constexpr size_t kKernelBytes = 4'000;
constexpr size_t kLowBytes = 1'000;
constexpr size_t kInstanceInBytes = 4'000;
constexpr size_t kInstanceOutBytes = 4'000;
constexpr size_t kPayloadBytes = 400;
constexpr Duration kStep = std::chrono::microseconds(20);

}  // namespace

// The lanes of one stream manager, as its core sees them.
class ToyNetwork::World : public Effects {
 public:
  World(ToyNetwork* network, ContainerId self) : network_(network), self_(self) {}

  void SendToInstance(TaskId task, proto::Lane lane, BufferSlice frame) override {
    if (network_->tasks_[task].connected) {
      network_->Send(network_->At(kToInstance, task, 0, lane), std::move(frame));
    }
  }
  void SendToPeer(ContainerId container, proto::Lane lane, BufferSlice frame) override {
    if (network_->joined_.contains(std::minmax(self_, container))) {
      network_->Send(network_->At(kPeer, self_, container, lane), std::move(frame));
    }
  }
  void SendToMaster(BufferSlice) override {}
  size_t InstanceQueuedBytes(TaskId task, proto::Lane lane) override {
    return network_->At(kToInstance, task, 0, lane).queued_bytes;
  }
  size_t PeerQueuedBytes(ContainerId container, proto::Lane lane) override {
    return network_->At(kPeer, self_, container, lane).queued_bytes;
  }
  size_t MasterQueuedBytes() override { return 0; }
  void PauseInstance(TaskId task) override {
    network_->At(kFromInstance, task, 0, proto::DATA).paused = true;
  }
  void ResumeInstance(TaskId task) override {
    network_->At(kFromInstance, task, 0, proto::DATA).paused = false;
  }
  void PausePeer(ContainerId container) override {
    network_->At(kPeer, container, self_, proto::DATA).paused = true;
  }
  void ResumePeer(ContainerId container) override {
    network_->At(kPeer, container, self_, proto::DATA).paused = false;
  }
  void CloseInstance(TaskId task, const std::string& why) override {
    network_->errors_.push_back("closed instance " + std::to_string(task) + ": " + why);
  }
  void ClosePeer(ContainerId container, const std::string& why) override {
    network_->errors_.push_back("closed peer " + std::to_string(container) + ": " + why);
  }
  void SetPeerTarget(ContainerId, const std::string&, uint16_t, Epoch) override {}
  void ClearPeerTarget(ContainerId) override {}
  void Log(const std::string&) override {}

 private:
  ToyNetwork* const network_;
  const ContainerId self_;
};

ToyNetwork::ToyNetwork(std::vector<TaskSpec> specs, CoreSettings settings, uint32_t seed)
    : settings_(settings), random_(seed) {
  TaskPlaces places;
  for (size_t i = 0; i < specs.size(); ++i) {
    places.emplace_back(specs[i].component, specs[i].container);
    Task& task = tasks_[static_cast<TaskId>(i) + 1];
    task.spout = specs[i].component == specs[0].component;
    task.spec = specs[i];
    managers_[specs[i].container];
  }
  update_ = MakeUpdate(places);
  MakePipes();
  EverythingUp();
}

ToyNetwork::~ToyNetwork() = default;

void ToyNetwork::MakePipes() {
  for (auto& [id, task] : tasks_) {
    for (proto::Lane lane : {proto::CONTROL, proto::DATA, proto::ACK}) {
      const TaskId t = id;
      const ContainerId c = task.spec.container;
      Pipe& in = pipes_[{kToInstance, t, 0, lane}];
      in.deliver = [this, t, lane](BufferSlice frame) {
        if (lane == proto::DATA) Receive(t, std::move(frame));
      };
      in.writable = [this, c, t, lane] {
        if (lane == proto::DATA) managers_[c].core->OnInstanceWritable(t, now_);
      };
      Pipe& out = pipes_[{kFromInstance, t, 0, lane}];
      out.deliver = [this, c, t, lane](BufferSlice frame) {
        const uint16_t type = TypeOf(frame);
        managers_[c].core->OnInstanceFrame(t, lane, type, std::move(frame), now_);
      };
      out.writable = [] {};
    }
  }
  for (auto& [from, manager] : managers_) {
    for (auto& [to, other] : managers_) {
      if (from == to) continue;
      for (proto::Lane lane : {proto::CONTROL, proto::DATA}) {
        const ContainerId f = from;
        const ContainerId t = to;
        Pipe& pipe = pipes_[{kPeer, f, t, lane}];
        pipe.deliver = [this, f, t, lane](BufferSlice frame) {
          const uint16_t type = TypeOf(frame);
          managers_[t].core->OnPeerFrame(f, lane, type, std::move(frame), now_);
        };
        pipe.writable = [this, f, t, lane] {
          if (lane == proto::DATA) managers_[f].core->OnPeerWritable(t, now_);
        };
      }
    }
  }
  for (auto& entry : pipes_) pipe_list_.push_back(&entry);
}

void ToyNetwork::Send(Pipe& pipe, BufferSlice frame) {
  pipe.queued_bytes += frame.size();
  pipe.queued.push_back(std::move(frame));
  if (pipe.queued_bytes > kLowBytes) pipe.above = true;
}

void ToyNetwork::Move(Pipe& pipe) {
  if (pipe.queued.empty() || pipe.kernel_bytes >= kKernelBytes) return;
  BufferSlice frame = std::move(pipe.queued.front());
  pipe.queued.pop_front();
  pipe.queued_bytes -= frame.size();
  pipe.kernel_bytes += frame.size();
  pipe.kernel.push_back(std::move(frame));
  if (pipe.above && pipe.queued_bytes <= kLowBytes) {
    pipe.above = false;
    pipe.writable();
  }
}

void ToyNetwork::Deliver(Pipe& pipe) {
  if (pipe.paused || pipe.kernel.empty()) return;
  BufferSlice frame = std::move(pipe.kernel.front());
  pipe.kernel.pop_front();
  pipe.kernel_bytes -= frame.size();
  pipe.deliver(std::move(frame));
}

void ToyNetwork::Clear(Pipe& pipe) {
  pipe.queued.clear();
  pipe.kernel.clear();
  pipe.queued_bytes = pipe.kernel_bytes = 0;
  pipe.above = pipe.paused = false;
}

void ToyNetwork::Step() {
  now_ += kStep;
  if (++steps_ % 16 == 0) Observe();
  const size_t n = random_() % (2 * pipe_list_.size() + tasks_.size());
  if (n < 2 * pipe_list_.size()) {
    Pipe& pipe = pipe_list_[n / 2]->second;
    n % 2 == 0 ? Move(pipe) : Deliver(pipe);
  } else {
    auto it = std::next(tasks_.begin(), static_cast<long>(n - 2 * pipe_list_.size()));
    Act(it->first, it->second);
  }
}

void ToyNetwork::Observe() {
  for (auto& [container, manager] : managers_) {
    if (manager.core && manager.core->NextWake() <= now_) manager.core->OnTimer(now_);
  }
  for (auto& [id, task] : tasks_) {
    const StreamManager& manager = managers_[task.spec.container];
    if (!manager.core) continue;
    task.max_queued = std::max(task.max_queued, manager.core->router().QueuedBytes(id));
  }
}

void ToyNetwork::Act(TaskId id, Task& task) {
  if (!task.process_up || static_cast<int>(random_() % 100) >= task.spec.speed) return;
  Pipe& out = At(kFromInstance, id, 0, proto::DATA);
  if (!task.spec.to.empty() && (!task.connected || out.queued_bytes >= kInstanceOutBytes)) return;
  if (task.spout) {
    if (emitting_) Emit(id, task);
    return;
  }
  if (task.in.empty()) return;
  task.in_bytes -= task.in.front().size();
  task.in.pop_front();
  if (task.in_bytes < kInstanceInBytes) At(kToInstance, id, 0, proto::DATA).paused = false;
  Emit(id, task);
}

void ToyNetwork::Emit(TaskId id, Task& task) {
  ++task.emitted;
  for (TaskId to : task.spec.to) {
    Send(At(kFromInstance, id, 0, proto::DATA),
         BatchFrame(id, to, ++task.next_number[to], kPayloadBytes, 1, task.epoch));
  }
}

void ToyNetwork::Receive(TaskId id, BufferSlice frame) {
  Task& task = tasks_[id];
  const model::BatchHeader header =
      model::DecodeBatch(frame.view().substr(net::kFrameHeaderBytes))->header;
  uint64_t& last = last_received_[{header.source_task, header.source_epoch, id}];
  const std::string channel =
      std::to_string(header.source_task) + "->" + std::to_string(id) + " number " +
      std::to_string(header.number) + " after " + std::to_string(last);
  if (header.destination_task != id) errors_.push_back("wrong task: " + channel);
  if (header.number <= last) errors_.push_back("out of order: " + channel);
  if (expect_no_loss_ && header.number != last + 1) errors_.push_back("gap: " + channel);
  last = header.number;
  ++task.received;
  task.in_bytes += frame.size();
  task.in.push_back(std::move(frame));
  if (task.in_bytes >= kInstanceInBytes) At(kToInstance, id, 0, proto::DATA).paused = true;
}

bool ToyNetwork::Quiet() {
  for (auto& [key, pipe] : pipes_) {
    if (std::get<3>(key) == proto::DATA && !DataEmpty(pipe)) return false;
  }
  for (auto& [id, task] : tasks_) {
    if (!task.in.empty()) return false;
  }
  for (auto& [container, manager] : managers_) {
    if (manager.core && manager.core->router().TotalQueuedBytes() > 0) return false;
  }
  return true;
}

bool ToyNetwork::Drain(int steps) {
  emitting_ = false;
  for (int i = 0; i < steps; ++i) {
    if (i % 100 == 0 && Quiet()) return true;
    Step();
  }
  return Quiet();
}

void ToyNetwork::ClearInstancePipes(TaskId task) {
  for (proto::Lane lane : {proto::CONTROL, proto::DATA, proto::ACK}) {
    Clear(At(kToInstance, task, 0, lane));
    Clear(At(kFromInstance, task, 0, lane));
  }
}

void ToyNetwork::Connect(TaskId id) {
  Task& task = tasks_[id];
  StreamManager& manager = managers_[task.spec.container];
  if (task.connected || !task.process_up || !manager.core) return;
  task.connected = true;
  if (task.in_bytes >= kInstanceInBytes) At(kToInstance, id, 0, proto::DATA).paused = true;
  manager.core->OnInstanceUp(id, task.epoch, now_);
}

void ToyNetwork::InstanceDown(TaskId id) {
  Task& task = tasks_[id];
  if (!task.process_up) return;
  task.process_up = false;
  task.in.clear();
  task.in_bytes = 0;
  ClearInstancePipes(id);
  if (!task.connected) return;
  task.connected = false;
  if (managers_[task.spec.container].core) {
    managers_[task.spec.container].core->OnInstanceDown(id, now_);
  }
}

void ToyNetwork::InstanceUp(TaskId id) {
  Task& task = tasks_[id];
  if (!task.process_up) {
    task.process_up = true;
    ++task.epoch.restart;
    task.next_number.clear();
  }
  Connect(id);
}

void ToyNetwork::StreamManagerDown(ContainerId container) {
  StreamManager& manager = managers_[container];
  if (!manager.core) return;
  manager.core.reset();
  for (auto& [other, unused] : managers_) {
    if (other != container) CutPeers(container, other);
  }
  for (auto& [id, task] : tasks_) {
    if (task.spec.container != container) continue;
    task.connected = false;
    ClearInstancePipes(id);
  }
}

void ToyNetwork::StreamManagerUp(ContainerId container) {
  StreamManager& manager = managers_[container];
  if (manager.core) return;
  ++manager.epoch.restart;
  manager.world = std::make_unique<World>(this, container);
  manager.core = std::make_unique<StreamManagerCore>(
      CoreIdentity{kTestTopologyId, container, manager.epoch, "127.0.0.1", 1}, settings_,
      [this](const proto::SubmittedTopology&) { return settings_; }, manager.world.get(), now_);
  manager.core->OnMasterFrame(proto::MASTER_UPDATE,
                              net::EncodeFrame(proto::MASTER_UPDATE, update_), now_);
}

void ToyNetwork::CutPeers(ContainerId a, ContainerId b) {
  if (joined_.erase(std::minmax(a, b)) == 0) return;
  for (proto::Lane lane : {proto::CONTROL, proto::DATA}) {
    Clear(At(kPeer, a, b, lane));
    Clear(At(kPeer, b, a, lane));
  }
  if (managers_[a].core) managers_[a].core->OnPeerDown(b, now_);
  if (managers_[b].core) managers_[b].core->OnPeerDown(a, now_);
}

void ToyNetwork::JoinPeers(ContainerId a, ContainerId b) {
  if (!managers_[a].core || !managers_[b].core) return;
  if (!joined_.insert(std::minmax(a, b)).second) return;
  managers_[a].core->OnPeerUp(b, managers_[b].epoch, now_);
  managers_[b].core->OnPeerUp(a, managers_[a].epoch, now_);
}

void ToyNetwork::Disturb() {
  const auto pick = [this](auto& map) {
    return std::next(map.begin(), static_cast<long>(random_() % map.size()))->first;
  };
  const TaskId task = pick(tasks_);
  const ContainerId a = pick(managers_);
  const ContainerId b = pick(managers_);
  switch (random_() % 9) {
    case 0: return InstanceDown(task);
    case 1:
    case 2: return InstanceUp(task);
    case 3: return a != b ? CutPeers(a, b) : StreamManagerDown(a);
    case 4:
    case 5: return a != b ? JoinPeers(a, b) : StreamManagerUp(a);
    case 6: return SetSpeed(task, static_cast<int>(random_() % 101));
    default: return StreamManagerUp(a);
  }
}

void ToyNetwork::EverythingUp() {
  for (auto& [container, manager] : managers_) StreamManagerUp(container);
  for (auto& [a, manager] : managers_) {
    for (auto& [b, other] : managers_) {
      if (a < b) JoinPeers(a, b);
    }
  }
  for (auto& [id, task] : tasks_) InstanceUp(id);
}

void ToyNetwork::ExpectNoLoss() {
  expect_no_loss_ = true;
  for (auto& [id, task] : tasks_) {
    for (auto& [to, number] : task.next_number) last_received_[{id, task.epoch, to}] = number;
  }
}

bool ToyNetwork::AnyFeederPaused() const {
  for (const auto& [key, pipe] : pipes_) {
    if (std::get<0>(key) == kFromInstance && pipe.paused) return true;
  }
  for (const auto& [container, manager] : managers_) {
    if (manager.core && manager.core->router().feeders().blocked() > 0) return true;
  }
  return false;
}

uint64_t ToyNetwork::OverflowFrames() const {
  uint64_t frames = 0;
  for (const auto& [container, manager] : managers_) {
    if (manager.core) frames += manager.core->counters().overflow_frames;
  }
  return frames;
}

std::string ToyNetwork::Describe() {
  std::string text;
  for (auto& [id, task] : tasks_) {
    text += "task " + std::to_string(id) + ": emitted " + std::to_string(task.emitted) +
            ", received " + std::to_string(task.received) + ", waiting " +
            std::to_string(task.in.size()) + ", queued at most " +
            std::to_string(task.max_queued) + " bytes" +
            (At(kFromInstance, id, 0, proto::DATA).paused ? ", paused" : "") + "\n";
  }
  return text;
}

}  // namespace heron::stream_manager
