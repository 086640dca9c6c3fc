// Several stream manager cores and instances over lanes of bounded size, in one thread and in an order drawn from a seed. For
// tests: nothing stands still, nothing is reordered, memory is bounded.
//
// Lanes are pipes of a send queue and a "kernel buffer"; a reader that does not read fills the buffer, then the queue. An
// instance stops reading when its input is full and works only while its own send queue has room, as real ones do.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "heron/stream_manager/core/recorded_world.h"
#include "heron/stream_manager/core/stream_manager_core.h"

namespace heron::stream_manager {

class ToyNetwork {
 public:
  struct TaskSpec {
    std::string component;
    ContainerId container = 0;
    std::vector<TaskId> to;  // each frame (each step of a spout) makes one for each of these
    int speed = 100;         // percent of the turns it uses
  };

  // Task i+1 is specs[i]; those of the first component are spouts. All up and connected at the end.
  ToyNetwork(std::vector<TaskSpec> specs, CoreSettings settings, uint32_t seed);
  ~ToyNetwork();

  void Step();
  void Run(int steps) {
    for (int i = 0; i < steps; ++i) Step();
  }
  // Runs with silent spouts until no data is anywhere; false if that takes more than `steps`.
  bool Drain(int steps);

  void SetSpeed(TaskId task, int speed) { tasks_[task].spec.speed = speed; }
  void SetEmitting(bool emitting) { emitting_ = emitting; }

  void InstanceDown(TaskId task);  // with its input
  void InstanceUp(TaskId task);    // in a new epoch
  void StreamManagerDown(ContainerId container);
  void StreamManagerUp(ContainerId container);
  void CutPeers(ContainerId a, ContainerId b);  // both live, their session does not
  void JoinPeers(ContainerId a, ContainerId b);
  // One of these at random.
  void Disturb();
  void EverythingUp();

  // From now on a gap in any channel is an error.
  void ExpectNoLoss();

  // What went wrong: a number that was there already, or a gap after ExpectNoLoss().
  const std::vector<std::string>& errors() const { return errors_; }
  uint64_t received(TaskId task) { return tasks_[task].received; }
  uint64_t emitted(TaskId task) { return tasks_[task].emitted; }
  bool AnyFeederPaused() const;
  size_t MaxQueuedBytes(TaskId task) { return tasks_[task].max_queued; }
  uint64_t OverflowFrames() const;
  std::string Describe();

 private:
  struct Pipe {
    std::deque<BufferSlice> queued, kernel;
    size_t queued_bytes = 0, kernel_bytes = 0;
    bool above = false;
    bool paused = false;
    std::function<void(BufferSlice)> deliver;
    std::function<void()> writable;
  };
  enum Kind { kToInstance, kFromInstance, kPeer };
  using PipeKey = std::tuple<Kind, int, int, proto::Lane>;
  using Channel = std::tuple<TaskId, Epoch, TaskId>;
  struct Task {
    TaskSpec spec;
    bool spout = false;
    bool process_up = true;
    bool connected = false;
    Epoch epoch{1, 0};
    std::deque<BufferSlice> in;
    size_t in_bytes = 0;
    std::map<TaskId, uint64_t> next_number;
    uint64_t received = 0;
    uint64_t emitted = 0;
    size_t max_queued = 0;
  };
  class World;
  struct StreamManager {
    Epoch epoch{1, 0};
    std::unique_ptr<World> world;
    std::unique_ptr<StreamManagerCore> core;  // null while dead
  };

  void Observe();  // timers that are due, and how full queues are
  void MakePipes();
  void Send(Pipe& pipe, BufferSlice frame);
  void Move(Pipe& pipe);
  void Deliver(Pipe& pipe);
  static void Clear(Pipe& pipe);
  void ClearInstancePipes(TaskId task);
  void Connect(TaskId task);
  void Act(TaskId id, Task& task);
  void Emit(TaskId id, Task& task);
  void Receive(TaskId id, BufferSlice frame);
  bool Quiet();
  bool DataEmpty(const Pipe& pipe) const { return pipe.queued.empty() && pipe.kernel.empty(); }
  Pipe& At(Kind kind, int a, int b, proto::Lane lane) { return pipes_.at({kind, a, b, lane}); }

  CoreSettings settings_;
  std::mt19937 random_;
  MonotonicTime now_{std::chrono::hours(1)};
  proto::MasterUpdate update_;
  std::map<PipeKey, Pipe> pipes_;
  std::vector<std::pair<const PipeKey, Pipe>*> pipe_list_;
  std::map<TaskId, Task> tasks_;
  std::map<ContainerId, StreamManager> managers_;
  std::set<std::pair<ContainerId, ContainerId>> joined_;  // lower first
  uint64_t steps_ = 0;
  bool emitting_ = true;
  bool expect_no_loss_ = false;
  std::map<Channel, uint64_t> last_received_;
  std::vector<std::string> errors_;
};

}  // namespace heron::stream_manager
