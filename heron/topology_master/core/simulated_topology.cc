#include "heron/topology_master/core/simulated_topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace heron::topology_master {

using proto::ContainerPlan;
using proto::ExecutionState;
using proto::TaskStatus;

namespace {

constexpr Duration kStep = std::chrono::milliseconds(20);

}  // namespace

SimulatedTopology::SimulatedTopology(uint64_t seed,
                                     const std::vector<std::pair<std::string, int>>& components,
                                     const std::vector<ContainerId>& containers)
    : random_(seed), ids_(containers) {
  store.Submit(components, containers, /*bounded=*/false);
  TaskId task = 0;
  for (size_t c = 0; c < components.size(); ++c) {
    for (int i = 0; i < components[c].second; ++i) component_of_[++task] = static_cast<int>(c);
  }
  for (ContainerId id : ids_) StartExecutor(id);
  StartMaster();
}

ContainerId SimulatedTopology::RandomContainer() { return ids_[random_() % ids_.size()]; }

void SimulatedTopology::StartMaster() {
  leader_ = Master();
  leader_.process = std::make_unique<MasterUnderTest>(&store, &clock);
  MasterUnderTest* master = Leader();
  master->fate = [this, master](Node) {
    ++writes;
    if (master == Leader() && dies_in_write_ > 0 && --dies_in_write_ == 0) {
      master_must_die_ = true;
      return dying_write_is_stored_ ? Fate::kStoredButAnswerLost : Fate::kNotStored;
    }
    if (!Chance(store_trouble_)) return Fate::kStored;
    return Chance(500) ? Fate::kStoredButAnswerLost : Fate::kNotStored;
  };
  const auto peer = [this, master](SessionId id) -> const Peer* {
    Master& owner = master == Leader() ? leader_ : former_;
    auto it = owner.peers.find(id);
    return it == owner.peers.end() ? nullptr : &it->second;
  };
  master->on_plan = [this, peer](SessionId id, const ContainerPlan& plan) {
    const Peer* p = peer(id);
    if (p == nullptr) return;
    const Container& c = containers_[p->container];
    if (id == c.session || id == c.former_session) OnPlan(p->container, plan);
  };
  master->on_update = [this, peer](SessionId id, const proto::MasterUpdate& update) {
    const Peer* p = peer(id);
    if (p == nullptr) return;
    const Container& c = containers_[p->container];
    if (id == c.manager_session || id == c.former_manager_session) OnUpdate(p->container, update);
  };
  master->core().OnLeaseGained(master->Now(), ++lease_epoch_);
  for (ContainerId id : ids_) {
    Container& c = containers_[id];
    c.former_session = std::exchange(c.session, 0);
    c.former_manager_session = std::exchange(c.manager_session, 0);
    c.connect_wait = Delay(10);
  }
}

void SimulatedTopology::StartExecutor(ContainerId id) {
  Container fresh;
  fresh.report = MakeExecutorReport(id, "nonce-" + std::to_string(++last_nonce_), 0);
  fresh.connect_wait = Delay(10);
  containers_[id] = std::move(fresh);
}

void SimulatedTopology::Disconnect(ContainerId id) {
  Container& c = containers_[id];
  if (Leader() != nullptr) {
    if (c.session != 0) Leader()->core().OnExecutorDown(Leader()->Now(), c.session);
    if (c.manager_session != 0) {
      Leader()->core().OnStreamManagerDown(Leader()->Now(), c.manager_session);
    }
    leader_.peers.erase(c.session);
    leader_.peers.erase(c.manager_session);
  }
  c.session = c.manager_session = 0;
  c.former_session = c.former_manager_session = 0;
  c.connect_wait = Delay(10);
}

void SimulatedTopology::Connect(ContainerId id) {
  Container& c = containers_[id];
  if (Leader() == nullptr || c.stopped || --c.connect_wait > 0) return;
  if (c.session == 0) {
    c.former_session = 0;
    c.session = ++last_session_;
    leader_.peers[c.session] = {id, false};
    Leader()->core().OnExecutorUp(Leader()->Now(), c.session, id);
  }
  if (c.manager_session == 0 && c.running) {
    c.former_manager_session = 0;
    c.manager_session = ++last_session_;
    c.plan_version = 0;
    leader_.peers[c.manager_session] = {id, true};
    Leader()->core().OnStreamManagerUp(Leader()->Now(), c.manager_session, id);
  }
}

void SimulatedTopology::Report(ContainerId id) {
  Container& c = containers_[id];
  if (Leader() == nullptr) return;
  if (c.session != 0) {
    c.report.clear_children();
    for (const auto& [task, state] : c.tasks) {
      auto* child = c.report.add_children();
      child->set_process("instance");
      child->set_task(task);
      SetEpoch(state.epoch, child->mutable_epoch());
    }
    Leader()->core().OnExecutorReport(Leader()->Now(), c.session, c.report);
  }
  if (c.manager_session == 0) return;
  auto report = MakeStreamManagerReport(id, c.manager_epoch,
                                        5000 + static_cast<uint32_t>(random_() % 2));
  report.set_plan_version(c.plan_version);
  for (const auto& [task, state] : c.tasks) {
    if (state.phase == TaskStatus::PHASE_UNSPECIFIED) continue;
    AddTask(&report, task, state.epoch, state.phase)->set_finish_lost(state.finish_lost);
  }
  Leader()->core().OnStreamManagerReport(Leader()->Now(), c.manager_session, report);
}

void SimulatedTopology::OnPlan(ContainerId id, const ContainerPlan& plan) {
  Container& c = containers_[id];
  if (plan.mastership_epoch() < c.mastership) return;
  c.mastership = plan.mastership_epoch();
  EXPECT_NE(plan.command(), ContainerPlan::FENCED) << "there is one executor per container";
  EXPECT_NE(plan.command(), ContainerPlan::NOT_WANTED);
  auto* failures = c.report.mutable_failures();
  while (!failures->empty() && failures->Get(0).number() <= plan.acknowledged_failure()) {
    failures->DeleteSubrange(0, 1);
  }
  if (plan.command() == ContainerPlan::STOP) {
    EXPECT_EQ(store.state().state(), ExecutionState::FINISHED);
    c.stopped = true;
  }
  if (plan.command() != ContainerPlan::RUN) return;
  for (const auto& grant : plan.grants()) c.grants[grant.task()] = grant;
  if (c.report.incarnation() == plan.incarnation()) return;
  EXPECT_EQ(c.report.incarnation(), 0u) << "an executor keeps its incarnation";
  c.report.set_incarnation(plan.incarnation());
  c.running = true;
  c.manager_epoch = {plan.incarnation(), 0};
  for (const auto& task : plan.tasks()) StartTask(id, task.task(), {plan.incarnation(), 0});
}

void SimulatedTopology::OnUpdate(ContainerId id, const proto::MasterUpdate& update) {
  Container& c = containers_[id];
  if (update.mastership_epoch() < c.mastership) return;
  c.mastership = update.mastership_epoch();
  if (update.has_plan()) {
    c.plan_version = update.plan().version();
  } else {
    EXPECT_EQ(c.plan_version, update.plan_version());
  }
  for (const auto& grant : update.grants()) c.grants[grant.task()] = grant;
  if (c.active && !update.active()) {
    EXPECT_EQ(store.state().state(), ExecutionState::FINISHED) << "active was taken back";
  }
  c.active = update.active();
}

void SimulatedTopology::StartTask(ContainerId id, TaskId task, Epoch epoch) {
  EXPECT_TRUE(lives_.insert({task, {epoch.incarnation, epoch.restart}}).second)
      << "life " << epoch << " of task " << task << " twice";
  containers_[id].tasks[task] = {epoch, TaskStatus::PHASE_UNSPECIFIED, Delay(10), false};
}

bool SimulatedTopology::UpstreamEnded(TaskId task) const {
  const int component = component_of_.at(task);
  for (const auto& [id, c] : containers_) {
    for (const auto& [other, state] : c.tasks) {
      if (component_of_.at(other) == component - 1 && state.phase != TaskStatus::FINISHED) {
        return false;
      }
    }
  }
  return std::all_of(component_of_.begin(), component_of_.end(), [&](const auto& entry) {
    return entry.second != component - 1 || ever_finished_.count(entry.first) > 0;
  });
}

void SimulatedTopology::MoveTask(ContainerId id, TaskId task_id, Task& task) {
  if (task.wait-- > 0) return;
  Container& c = containers_[id];
  const auto grant = c.grants.find(task_id);
  const bool spout = component_of_.at(task_id) == 0;
  const auto go_on = [&](TaskStatus::Phase phase) {
    task.phase = phase;
    task.wait = Delay(20);
    if (phase == TaskStatus::FINISHED) ever_finished_.insert(task_id);
  };
  switch (task.phase) {
    case TaskStatus::PHASE_UNSPECIFIED:
      go_on(TaskStatus::REGISTERED);
      break;
    case TaskStatus::REGISTERED:
      go_on(grant != c.grants.end() && grant->second.finished() ? TaskStatus::FINISHED
                                                               : TaskStatus::RUNNING);
      break;
    case TaskStatus::RUNNING:
      if (spout && c.active) go_on(TaskStatus::FINISHED);
      if (!spout && UpstreamEnded(task_id)) go_on(TaskStatus::FINISH_REQUESTED);
      break;
    case TaskStatus::FINISH_REQUESTED:
      if (grant == c.grants.end() || !grant->second.has_finish_grant()) break;
      if (EpochOf(grant->second.finish_granted()) == task.epoch) {
        EXPECT_EQ(++finish_runs[task_id], 1) << "Finish of task " << task_id << " ran again";
        go_on(TaskStatus::FINISHING);
      } else {
        task.finish_lost = !grant->second.finished();
        go_on(TaskStatus::FINISHED);
      }
      break;
    case TaskStatus::FINISHING:
      go_on(TaskStatus::FINISHED);
      break;
    default:
      break;
  }
}

void SimulatedTopology::KillTask(ContainerId id, TaskId task) {
  Container& c = containers_[id];
  Task& state = c.tasks[task];
  something_died = true;
  if (c.active && ever_finished_.count(task) == 0) something_was_lost = true;
  auto* failure = c.report.add_failures();
  failure->set_process("instance");
  failure->set_container(id);
  failure->set_task(task);
  SetEpoch(state.epoch, failure->mutable_epoch());
  failure->set_signal(9);
  failure->set_exit_code(-1);
  failure->set_reason("killed by signal 9 (Killed)");
  failure->set_number(++c.last_failure);
  failure->set_at_unix_ms(clock.UnixMillis());
  StartTask(id, task, {state.epoch.incarnation, state.epoch.restart + 1});
}

void SimulatedTopology::Inject(const Faults& faults) {
  const ContainerId id = RandomContainer();
  Container& c = containers_[id];
  if (Chance(faults.kill_task) && c.running && !c.stopped && !c.tasks.empty()) {
    auto it = std::next(c.tasks.begin(), static_cast<long>(random_() % c.tasks.size()));
    KillTask(id, it->first);
  }
  if (Chance(faults.kill_stream_manager) && c.running && !c.stopped) {
    if (c.manager_session != 0 && Leader() != nullptr) {
      Leader()->core().OnStreamManagerDown(Leader()->Now(), c.manager_session);
      leader_.peers.erase(c.manager_session);
    }
    c.manager_session = c.former_manager_session = 0;
    ++c.manager_epoch.restart;
    c.connect_wait = Delay(10);
  }
  if (Chance(faults.kill_executor) && !c.stopped) {
    something_died = true;
    for (const auto& [task, state] : c.tasks) {
      if (c.active && ever_finished_.count(task) == 0) something_was_lost = true;
    }
    Disconnect(id);
    StartExecutor(id);
  }
  if (Chance(faults.drop_session)) Disconnect(id);
  if (Leader() == nullptr) return;
  if (Chance(faults.kill_master)) {
    leader_ = Master();
    master_wait_ = Delay(100);
  } else if (Chance(faults.lose_lease)) {
    Leader()->core().OnLeaseLost(Leader()->Now());
    Leader()->core().OnLeaseGained(Leader()->Now(), ++lease_epoch_);
  } else if (Chance(faults.second_master)) {
    former_ = std::move(leader_);
    former_wait_ = Delay(100);
    StartMaster();
  }
}

void SimulatedTopology::KillMasterInWrite(int n, bool stored) {
  dies_in_write_ = n;
  dying_write_is_stored_ = stored;
}

void SimulatedTopology::Step(const Faults& faults) {
  clock.Advance(kStep);
  store_trouble_ = faults.store_trouble;
  Inject(faults);
  if (Leader() == nullptr && --master_wait_ <= 0) StartMaster();
  for (ContainerId id : ids_) {
    Container& c = containers_[id];
    Connect(id);
    if (c.stopped) continue;
    for (auto& [task, state] : c.tasks) MoveTask(id, task, state);
    if (Chance(200)) Report(id);
  }
  for (Master* master : {&former_, &leader_}) {
    if (!master->process) continue;
    // The store is slow now and then: reads and writes of two masters mix.
    while (master->process->HasOperation() && !Chance(300)) {
      master->process->AnswerOne();
      if (master_must_die_) break;
    }
    if (master_must_die_) break;
    master->process->core().OnTick(master->process->Now());
  }
  if (std::exchange(master_must_die_, false)) {
    leader_ = Master();
    master_wait_ = Delay(100);
  }
  if (former_.process && --former_wait_ <= 0) former_ = Master();
  if (store.state().state() == ExecutionState::FINISHED) {
    EXPECT_EQ(ever_finished_.size(), component_of_.size()) << "FINISHED too early";
  }
}

bool SimulatedTopology::RunToTheEnd(Duration limit) {
  const MonotonicTime end = clock.Now() + limit;
  while (clock.Now() < end) {
    Step(Faults());
    const bool all_stopped = std::all_of(containers_.begin(), containers_.end(),
                                         [](const auto& entry) { return entry.second.stopped; });
    if (all_stopped) return store.state().state() == ExecutionState::FINISHED;
  }
  return false;
}

}  // namespace heron::topology_master
