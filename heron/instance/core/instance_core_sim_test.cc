// Two spouts, three bolts that they feed, one sink, in a world that loses sessions, repeats frames and restarts tasks at
// random (seeded): the end always comes, and no task runs Finish twice.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>

#include "heron/instance/core/instance_core.h"

namespace heron::instance {
namespace {

using proto::TaskStatus;

struct Frame {
  enum Kind { kBatch, kEnded, kConfirmed } kind = kBatch;
  model::BatchHeader batch;
  proto::Ended ended;
  proto::EndedConfirmed confirmed;
};

class World;

class Task : public InstanceCore::Effects {
 public:
  Task(World* world, TaskId id, bool spout) : world_(world), id_(id), spout_(spout) {}

  void Restart();
  void Step(std::mt19937& random);
  void Emit(TaskId destination);
  void EndOfOutput();

  void StartTask() override { starting_ = true; }
  void SetActive(bool active) override { active_ = active; }
  void AskDrained(uint64_t ticket) override { drain_ = ticket; }
  void RunFinish() override {
    ++finishes;
    end_ = true;
  }
  void EndOutput() override { end_ = true; }
  void SendEnded(TaskId destination, uint64_t last_number) override;
  void SendConfirmed(TaskId source, Epoch source_epoch) override;
  void ReportChanged() override {}

  World* const world_;
  const TaskId id_;
  const bool spout_;
  Epoch epoch{1, 0};
  bool connected = false;
  std::unique_ptr<InstanceCore> core;
  int finishes = 0;  // over all lives
  uint64_t sent = 0;
  uint64_t executed = 0;

 private:
  bool starting_ = false;
  bool active_ = false;
  bool end_ = false;
  int to_emit_ = 0;
  std::optional<uint64_t> drain_;
  std::map<TaskId, uint64_t> numbers_;
};

class World {
 public:
  explicit World(uint32_t seed) : random_(seed) {
    for (TaskId id : {1, 2}) tasks_.emplace_back(std::make_unique<Task>(this, id, true));
    for (TaskId id : {3, 4, 5, 6}) tasks_.emplace_back(std::make_unique<Task>(this, id, false));
    for (auto& task : tasks_) {
      grants_[task->id_].set_task(task->id_);
      task->core = std::make_unique<InstanceCore>(TaskSetup{task->id_, task->epoch, task->spout_},
                                                  task.get());
    }
  }

  InstanceCore::Routes RoutesOf(TaskId id) const {
    if (id <= 2) return {{}, {3, 4, 5}};
    if (id <= 5) return {{1, 2}, {6}};
    return {{3, 4, 5}, {}};
  }
  Task& Of(TaskId id) { return *tasks_[static_cast<size_t>(id) - 1]; }
  void Send(TaskId destination, Frame frame) { channels_[destination].push_back(std::move(frame)); }

  // Until all have finished; false if they never do.
  bool Run(int troubles, bool restarts) {
    for (int step = 0; step < 20000; ++step) {
      now_ += std::chrono::milliseconds(20);
      for (auto& task : tasks_) StepTask(*task);
      if (troubles > 0 && random_() % 3 == 0) {
        --troubles;
        Trouble(restarts);
      }
      Master();
      if (AllFinished()) return true;
    }
    return false;
  }

  MonotonicTime now() const { return now_; }
  std::vector<std::unique_ptr<Task>>& tasks() { return tasks_; }
  uint64_t dropped_batches = 0;

 private:
  void StepTask(Task& task) {
    if (!task.connected) {
      if (random_() % 4 != 0) return;
      task.connected = true;
      task.core->OnSessionUp(now_);
    }
    proto::TaskGrant grant = grants_[task.id_];
    if (random_() % 5 == 0) task.core->OnPlan(RoutesOf(task.id_), true, grant, now_);
    if (random_() % 5 == 0) task.core->OnTaskStates(States(), now_);
    Deliver(task);
    task.Step(random_);
    task.core->Tick(now_);
  }
  void Deliver(Task& task) {
    if (!task.core->has_plan()) return;
    std::deque<Frame>& channel = channels_[task.id_];
    for (size_t n = random_() % 6; n > 0 && !channel.empty(); --n) {
      Frame frame = channel.front();
      // Sometimes a frame comes twice.
      if (random_() % 10 != 0) channel.pop_front();
      if (frame.kind == Frame::kEnded) task.core->OnEnded(frame.ended, now_);
      if (frame.kind == Frame::kConfirmed) task.core->OnConfirmed(frame.confirmed, now_);
      if (frame.kind == Frame::kBatch && task.core->OnBatch(frame.batch)) ++task.executed;
    }
  }
  void Trouble(bool restarts) {
    Task& task = *tasks_[random_() % tasks_.size()];
    if (restarts && random_() % 2 == 0) {
      LoseSession(task);
      task.Restart();
    } else {
      LoseSession(task);
    }
  }
  // What was on its way to the task is lost.
  void LoseSession(Task& task) {
    if (task.connected) task.core->OnSessionDown();
    task.connected = false;
    for (const Frame& frame : channels_[task.id_]) dropped_batches += frame.kind == Frame::kBatch;
    channels_[task.id_].clear();
  }
  proto::TaskStates States() {
    proto::TaskStates states;
    for (auto& task : tasks_) {
      auto* state = states.add_tasks();
      state->set_task(task->id_);
      state->mutable_epoch()->set_incarnation(task->epoch.incarnation);
      state->mutable_epoch()->set_restart(task->epoch.restart);
    }
    return states;
  }
  // Grants Finish once per task and stores who has finished.
  void Master() {
    for (auto& task : tasks_) {
      if (!task->connected || random_() % 3 != 0) continue;
      proto::TaskGrant& grant = grants_[task->id_];
      const TaskStatus status = task->core->Status();
      if (status.phase() == TaskStatus::FINISH_REQUESTED && !grant.has_finish_grant()) {
        grant.set_has_finish_grant(true);
        *grant.mutable_finish_granted() = status.epoch();
      }
      if (status.phase() == TaskStatus::FINISHED) {
        grant.set_finished(true);
        finished_[task->id_] = task->epoch;
      }
    }
  }
  bool AllFinished() {
    for (auto& task : tasks_) {
      auto it = finished_.find(task->id_);
      if (it == finished_.end() || it->second != task->epoch) return false;
    }
    return true;
  }

  std::mt19937 random_;
  MonotonicTime now_{std::chrono::hours(1)};
  std::vector<std::unique_ptr<Task>> tasks_;
  std::map<TaskId, std::deque<Frame>> channels_;
  std::map<TaskId, proto::TaskGrant> grants_;
  std::map<TaskId, Epoch> finished_;
};

void Task::Restart() {
  ++epoch.restart;
  starting_ = active_ = end_ = false;
  drain_.reset();
  numbers_.clear();
  core = std::make_unique<InstanceCore>(TaskSetup{id_, epoch, spout_}, this);
}

void Task::Step(std::mt19937& random) {
  if (starting_) {
    starting_ = false;
    to_emit_ = 20;
    core->OnOpened(world_->now());
  }
  if (spout_ && core->phase() == TaskStatus::RUNNING && active_) {
    if (to_emit_ > 0) {
      --to_emit_;
      Emit(static_cast<TaskId>(3 + random() % 3));
    } else {
      end_ = true;
    }
  }
  if (drain_ && random() % 2 == 0) core->OnDrained(*std::exchange(drain_, std::nullopt), world_->now());
  if (end_ && core->phase() < TaskStatus::FINISHED) EndOfOutput();
}

void Task::EndOfOutput() {
  end_ = false;
  if (!spout_ && id_ != 6) Emit(6);
  core->OnOutputEnded(numbers_, world_->now());
}

void Task::Emit(TaskId destination) {
  Frame frame;
  frame.batch.source_task = id_;
  frame.batch.source_epoch = epoch;
  frame.batch.destination_task = destination;
  frame.batch.tuple_count = 1;
  frame.batch.number = ++numbers_[destination];
  ++sent;
  world_->Send(destination, frame);
}

void Task::SendEnded(TaskId destination, uint64_t last_number) {
  Frame frame;
  frame.kind = Frame::kEnded;
  frame.ended.set_source_task(id_);
  frame.ended.mutable_source_epoch()->set_incarnation(epoch.incarnation);
  frame.ended.mutable_source_epoch()->set_restart(epoch.restart);
  frame.ended.set_destination_task(destination);
  frame.ended.set_last_number(last_number);
  world_->Send(destination, frame);
}

void Task::SendConfirmed(TaskId source, Epoch source_epoch) {
  Frame frame;
  frame.kind = Frame::kConfirmed;
  frame.confirmed.set_source_task(source);
  frame.confirmed.mutable_source_epoch()->set_incarnation(source_epoch.incarnation);
  frame.confirmed.mutable_source_epoch()->set_restart(source_epoch.restart);
  frame.confirmed.set_destination_task(id_);
  frame.confirmed.mutable_destination_epoch()->set_incarnation(epoch.incarnation);
  frame.confirmed.mutable_destination_epoch()->set_restart(epoch.restart);
  world_->Send(source, frame);
}

TEST(InstanceCoreSimTest, WithoutTroubleNothingIsLostAndEveryBoltFinishesOnce) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    ASSERT_TRUE(world.Run(0, false));
    uint64_t sent = 0;
    uint64_t executed = 0;
    for (auto& task : world.tasks()) {
      sent += task->sent;
      executed += task->executed;
      EXPECT_EQ(task->finishes, task->spout_ ? 0 : 1);
      EXPECT_EQ(task->core->Status().lost_batches(), 0u);
    }
    EXPECT_EQ(executed, sent);
  }
}

TEST(InstanceCoreSimTest, EveryBatchThatASessionTookWithItIsCounted) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    ASSERT_TRUE(world.Run(20, false));
    uint64_t sent = 0;
    uint64_t accounted = 0;
    for (auto& task : world.tasks()) {
      sent += task->sent;
      accounted += task->executed + task->core->Status().lost_batches();
      EXPECT_EQ(task->finishes, task->spout_ ? 0 : 1);
    }
    EXPECT_EQ(accounted, sent);
  }
}

TEST(InstanceCoreSimTest, WithRestartsTheEndComesAndFinishRunsAtMostOnce) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    ASSERT_TRUE(world.Run(30, true));
    for (auto& task : world.tasks()) EXPECT_LE(task->finishes, 1) << "task " << task->id_;
  }
}

}  // namespace
}  // namespace heron::instance
