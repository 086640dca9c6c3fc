// For tests: a topology of seven tasks in three containers with sparse ids, its executors and
// stream managers played by hand.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heron/topology_master/core/master_harness.h"

namespace heron::topology_master {

// words[0..1] = tasks 1, 2 (bounded spouts); split[0..2] = 3, 4, 5; count[0..1] = 6, 7.
// Container 2: tasks 1, 4, 7. Container 5: 2, 5. Container 9: 3, 6.
class MasterFixture : public testing::Test {
 protected:
  static constexpr ContainerId kContainers[] = {2, 5, 9};

  MasterFixture() { Submit(true); }

  void Submit(bool bounded) {
    store.Submit({{"words", 2}, {"split", 3}, {"count", 2}}, {2, 5, 9}, bounded);
  }
  void NewMaster(uint64_t epoch) {
    master = std::make_unique<MasterUnderTest>(&store, &clock);
    executor_session.clear();
    manager_session.clear();
    master->Gain(epoch);
  }
  static ContainerId ContainerOf(TaskId task) { return kContainers[(task - 1) % 3]; }

  SessionId ConnectExecutor(ContainerId container, const std::string& nonce,
                            uint64_t incarnation = 0) {
    const SessionId id = ++last_session;
    executor_session[container] = id;
    executors[container] = MakeExecutorReport(container, nonce, incarnation);
    master->core().OnExecutorUp(master->Now(), id, container);
    ReportExecutor(container);
    master->Run();
    return id;
  }
  void ReportExecutor(ContainerId container) {
    master->core().OnExecutorReport(master->Now(), executor_session[container],
                                    executors[container]);
  }
  void DisconnectExecutor(ContainerId container) {
    master->core().OnExecutorDown(master->Now(), executor_session[container]);
    executor_session.erase(container);
  }
  SessionId ConnectManager(ContainerId container, Epoch epoch = {1, 0}, uint32_t port = 0) {
    const SessionId id = ++last_session;
    manager_session[container] = id;
    managers[container] = MakeStreamManagerReport(
        container, epoch, port != 0 ? port : 4000u + static_cast<uint32_t>(container));
    master->core().OnStreamManagerUp(master->Now(), id, container);
    ReportManager(container);
    return id;
  }
  void ReportManager(ContainerId container) {
    master->core().OnStreamManagerReport(master->Now(), manager_session[container],
                                         managers[container]);
  }
  proto::TaskStatus* Status(TaskId task) {
    auto& report = managers[ContainerOf(task)];
    for (auto& status : *report.mutable_tasks()) {
      if (status.task() == task) return &status;
    }
    auto* status = report.add_tasks();
    status->set_task(task);
    SetEpoch({1, 0}, status->mutable_epoch());
    return status;
  }
  // One task says something; the master settles.
  void Say(TaskId task, proto::TaskStatus::Phase phase, Epoch epoch = {1, 0}) {
    auto* status = Status(task);
    status->set_phase(phase);
    SetEpoch(epoch, status->mutable_epoch());
    ReportManager(ContainerOf(task));
    master->Run();
  }
  void SayAll(proto::TaskStatus::Phase phase) {
    for (TaskId task = 1; task <= 7; ++task) Status(task)->set_phase(phase);
    for (ContainerId container : kContainers) ReportManager(container);
    master->Run();
  }
  void ConnectAllExecutors() {
    for (ContainerId container : kContainers) {
      ConnectExecutor(container, "nonce-" + std::to_string(container));
      executors[container].set_incarnation(
          master->plan(executor_session[container]).incarnation());
    }
  }
  // Everybody connects to the present master again, as they are.
  void ReconnectAll() {
    for (auto& [container, report] : executors) {
      const SessionId id = ++last_session;
      executor_session[container] = id;
      master->core().OnExecutorUp(master->Now(), id, container);
      ReportExecutor(container);
    }
    for (auto& [container, report] : managers) {
      const SessionId id = ++last_session;
      manager_session[container] = id;
      master->core().OnStreamManagerUp(master->Now(), id, container);
      ReportManager(container);
    }
    master->Run();
  }
  // A running topology.
  void StartAll() {
    NewMaster(1);
    ConnectAllExecutors();
    for (ContainerId container : kContainers) ConnectManager(container);
    SayAll(proto::TaskStatus::REGISTERED);
    SayAll(proto::TaskStatus::RUNNING);
    ASSERT_EQ(store.state().state(), proto::ExecutionState::RUNNING);
  }
  void AddFailure(TaskId task, Epoch epoch, const std::string& reason, int exit_code = 10,
                  bool had_progress = false) {
    auto& report = executors[ContainerOf(task)];
    auto* failure = report.add_failures();
    failure->set_process("instance");
    failure->set_container(ContainerOf(task));
    failure->set_task(task);
    SetEpoch(epoch, failure->mutable_epoch());
    failure->set_exit_code(exit_code);
    failure->set_reason(reason);
    failure->set_had_progress(had_progress);
    failure->set_number(++last_failure);
    failure->set_failures_in_a_row(had_progress ? 0 : 1);
    failure->set_at_unix_ms(clock.UnixMillis());
  }
  const proto::ContainerPlan& PlanOf(ContainerId c) { return master->plan(executor_session[c]); }
  const proto::MasterUpdate& UpdateOf(ContainerId c) {
    return master->update(manager_session[c]);
  }
  std::string Incomplete() const {
    std::string text;
    const proto::ExecutionState state = store.state();
    for (const std::string& line : state.incomplete()) text += line + "\n";
    return text;
  }

  ManualClock clock;
  StoreModel store;
  std::unique_ptr<MasterUnderTest> master;
  std::map<ContainerId, SessionId> executor_session, manager_session;
  std::map<ContainerId, proto::ExecutorReport> executors;
  std::map<ContainerId, proto::StreamManagerReport> managers;
  SessionId last_session = 0;
  uint64_t last_failure = 0;
};

}  // namespace heron::topology_master
