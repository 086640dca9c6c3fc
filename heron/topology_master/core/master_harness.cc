#include "heron/topology_master/core/master_harness.h"

#include <gtest/gtest.h>

#include <utility>

namespace heron::topology_master {

using proto::ExecutionState;

StoreModel::StoreModel() = default;

Result<StoredValue> StoreModel::Read(Node node) const {
  auto it = nodes_.find(node);
  if (it == nodes_.end()) return NotFound("no such node");
  return it->second;
}

Result<int64_t> StoreModel::Write(Node node, const std::string& value,
                                  std::optional<int64_t> expected) {
  auto it = nodes_.find(node);
  if (!expected && it != nodes_.end()) return AlreadyExists("the node exists");
  if (expected && it == nodes_.end()) return NotFound("no such node");
  if (expected && it->second.version != *expected) return VersionMismatch("another version");
  if (node == Node::kPhysicalPlan) CheckPlan(value);
  if (node == Node::kExecutionState) CheckState(value);
  ++writes_[static_cast<size_t>(node)];
  nodes_[node] = {value, ++last_version_};
  return last_version_;
}

void StoreModel::CheckPlan(const std::string& value) {
  proto::PhysicalPlan next;
  ASSERT_TRUE(next.ParseFromString(value));
  const proto::PhysicalPlan before = plan();
  if (before.topology_id() == next.topology_id()) {
    EXPECT_GT(next.version(), before.version());
  }
  std::map<ContainerId, uint64_t> incarnations;
  for (const auto& entry : before.incarnations()) {
    incarnations[entry.container()] = entry.incarnation();
  }
  for (const auto& entry : next.incarnations()) {
    EXPECT_GE(entry.incarnation(), incarnations[entry.container()]);
    auto [it, is_new] = holders_.emplace(std::pair(entry.container(), entry.incarnation()),
                                         entry.executor_nonce());
    EXPECT_EQ(it->second, entry.executor_nonce())
        << "incarnation " << entry.incarnation() << " of container " << entry.container()
        << " was given twice";
  }
}

void StoreModel::CheckState(const std::string& value) {
  ExecutionState next;
  ASSERT_TRUE(next.ParseFromString(value));
  const ExecutionState before = state();
  if (before.state() == ExecutionState::FINISHED || before.state() == ExecutionState::FAILED) {
    EXPECT_EQ(next.state(), before.state());
  }
  EXPECT_GE(next.mastership_epoch(), before.mastership_epoch());
  EXPECT_LE(next.failures_size(), 64);
  EXPECT_LE(next.incomplete_size(), 21);
  std::set<TaskId> finished;
  for (const auto& grant : next.grants()) {
    if (grant.finished()) finished.insert(grant.task());
    if (!grant.has_finish_grant()) continue;
    const std::pair epoch(grant.finish_granted().incarnation(), grant.finish_granted().restart());
    auto [it, is_new] = granted_.emplace(grant.task(), epoch);
    EXPECT_EQ(it->second, epoch) << "task " << grant.task() << " got two finish grants";
  }
  for (TaskId task : finished_) EXPECT_EQ(finished.count(task), 1u) << "task " << task;
  finished_ = finished;
  if (next.state() == ExecutionState::FINISHED) {
    size_t tasks = 0;
    for (const auto& c : topology_.topology().components()) tasks += c.parallelism();
    EXPECT_EQ(finished.size(), tasks);
  }
}

void StoreModel::Put(Node node, const google::protobuf::MessageLite& message) {
  nodes_[node] = {message.SerializeAsString(), ++last_version_};
}

void StoreModel::Desire(proto::DesiredState::Desire desire, const std::string& id) {
  proto::DesiredState desired;
  desired.set_topology_id(id);
  desired.set_desire(desire);
  Put(Node::kDesired, desired);
}

void StoreModel::Submit(const std::vector<std::pair<std::string, int>>& components,
                        const std::vector<ContainerId>& containers, bool bounded) {
  topology_.Clear();
  topology_.set_topology_id(kTopologyId);
  topology_.set_name("words");
  proto::PackingPlan packing;
  packing.set_version(1);
  for (ContainerId id : containers) packing.add_containers()->set_container(id);
  int32_t task = 0;
  std::string upstream;
  for (const auto& [name, parallelism] : components) {
    proto::Component* component = topology_.mutable_topology()->add_components();
    component->set_name(name);
    component->set_parallelism(static_cast<uint32_t>(parallelism));
    component->set_kind(upstream.empty() ? proto::SPOUT : proto::BOLT);
    component->set_bounded(upstream.empty() && bounded);
    component->add_outputs()->set_name("default");
    if (!upstream.empty()) {
      component->add_inputs()->set_component(upstream);
      component->mutable_inputs(0)->set_stream("default");
      component->mutable_inputs(0)->set_grouping(proto::SHUFFLE);
    }
    upstream = name;
    for (int32_t i = 0; i < parallelism; ++i) {
      auto* planned = packing.mutable_containers(task % packing.containers_size())->add_tasks();
      planned->set_task(++task);
      planned->set_component(name);
      planned->set_component_index(i);
    }
  }
  Put(Node::kTopology, topology_);
  Put(Node::kPackingPlan, packing);
  Desire(proto::DesiredState::ACTIVE);
}

proto::PhysicalPlan StoreModel::plan() const {
  proto::PhysicalPlan plan;
  if (auto it = nodes_.find(Node::kPhysicalPlan); it != nodes_.end()) {
    EXPECT_TRUE(plan.ParseFromString(it->second.value));
  }
  return plan;
}

ExecutionState StoreModel::state() const {
  ExecutionState state;
  if (auto it = nodes_.find(Node::kExecutionState); it != nodes_.end()) {
    EXPECT_TRUE(state.ParseFromString(it->second.value));
  }
  return state;
}

uint64_t StoreModel::incarnation(ContainerId container) const {
  const proto::PhysicalPlan stored = plan();
  for (const auto& entry : stored.incarnations()) {
    if (entry.container() == container) return entry.incarnation();
  }
  return 0;
}

const proto::TaskGrant* StoreModel::grant(TaskId task) const {
  parsed_state_ = state();
  for (const auto& grant : parsed_state_.grants()) {
    if (grant.task() == task) return &grant;
  }
  return nullptr;
}

MasterUnderTest::MasterUnderTest(StoreModel* store, ManualClock* clock)
    : store_(store), clock_(clock), core_({.topology_id = kTopologyId}, this) {}

void MasterUnderTest::ReadNode(Node node, uint64_t request) {
  operations_.push_back({node, request});
}

void MasterUnderTest::WriteNode(Node node, uint64_t request, std::string value,
                                std::optional<int64_t> expected) {
  for (const Operation& other : operations_) {
    EXPECT_FALSE(other.is_write && other.node == node && other.expected == expected)
        << "two writes of a node are under way";
  }
  ++writes_started;
  operations_.push_back({node, request, true, std::move(value), expected});
}

void MasterUnderTest::SendContainerPlan(SessionId session, const proto::ContainerPlan& plan) {
  EXPECT_GT(plan.mastership_epoch(), 0u);
  if (check_sent_is_stored && !plan.grants().empty()) {
    for (const auto& grant : plan.grants()) {
      const proto::TaskGrant* stored = store_->grant(grant.task());
      ASSERT_NE(stored, nullptr) << "a grant was sent that is not stored";
      EXPECT_EQ(stored->finish_granted().SerializeAsString(),
                grant.finish_granted().SerializeAsString());
      EXPECT_TRUE(stored->finished() || !grant.finished());
    }
  }
  if (check_sent_is_stored && plan.command() == proto::ContainerPlan::RUN) {
    EXPECT_GE(store_->plan().version(), plan.version());
  }
  plans[session] = plan;
  if (on_plan) on_plan(session, plan);
}

void MasterUnderTest::SendMasterUpdate(SessionId session, const proto::MasterUpdate& update) {
  EXPECT_GT(update.mastership_epoch(), 0u);
  if (check_sent_is_stored) {
    EXPECT_GE(store_->plan().version(), update.plan_version());
  }
  if (update.has_plan()) {
    EXPECT_EQ(update.plan().version(), update.plan_version());
    ++updates_with_plan[session];
  }
  proto::MasterUpdate& last = updates[session];
  proto::MasterUpdate merged = update;
  if (!merged.has_plan() && last.has_plan()) *merged.mutable_plan() = last.plan();
  if (!merged.has_topology() && last.has_topology()) *merged.mutable_topology() = last.topology();
  last = std::move(merged);
  if (on_update) on_update(session, update);
}

void MasterUnderTest::Exit(int code, const std::string& why) {
  EXPECT_FALSE(exit_code.has_value());
  exit_code = code;
  exit_text = why;
}

void MasterUnderTest::AnswerOne() {
  Operation op = std::move(operations_.front());
  operations_.pop_front();
  if (!op.is_write) {
    core_.OnRead(Now(), op.request, store_->Read(op.node));
    return;
  }
  const Fate what = fate ? fate(op.node) : Fate::kStored;
  if (what == Fate::kNotStored) {
    core_.OnWritten(Now(), op.request, Unavailable("no answer"));
    return;
  }
  Result<int64_t> result = store_->Write(op.node, op.value, op.expected);
  if (what == Fate::kStoredButAnswerLost) result = Unavailable("no answer");
  core_.OnWritten(Now(), op.request, result);
}

void MasterUnderTest::Run(Duration time) {
  const MonotonicTime end = clock_->Now() + time;
  while (clock_->Now() < end) {
    while (HasOperation()) AnswerOne();
    clock_->Advance(std::chrono::milliseconds(20));
    core_.OnTick(Now());
  }
  while (HasOperation()) AnswerOne();
}

void MasterUnderTest::Gain(uint64_t epoch) {
  core_.OnLeaseGained(Now(), epoch);
  Run();
}

proto::ExecutorReport MakeExecutorReport(ContainerId container, const std::string& nonce,
                                         uint64_t incarnation) {
  proto::ExecutorReport report;
  report.set_container(container);
  report.set_host("127.0.0.1");
  report.set_pid(1000 + container);
  report.set_nonce(nonce);
  report.set_incarnation(incarnation);
  return report;
}

proto::StreamManagerReport MakeStreamManagerReport(ContainerId container, Epoch epoch,
                                                   uint32_t port) {
  proto::StreamManagerReport report;
  report.set_container(container);
  SetEpoch(epoch, report.mutable_epoch());
  report.set_host("127.0.0.1");
  report.set_port(port);
  return report;
}

proto::TaskStatus* AddTask(proto::StreamManagerReport* report, TaskId task, Epoch epoch,
                           proto::TaskStatus::Phase phase) {
  proto::TaskStatus* status = report->add_tasks();
  status->set_task(task);
  SetEpoch(epoch, status->mutable_epoch());
  status->set_phase(phase);
  return status;
}

}  // namespace heron::topology_master
