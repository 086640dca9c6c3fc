// For tests: a model of the state store and a master core whose effects are recorded and answered
// on demand. Both check what must never happen, whatever the test is about.
//
// Single-threaded.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heron/base/clock.h"
#include "heron/topology_master/core/effects.h"
#include "heron/topology_master/core/master_core.h"
#include "proto/master.pb.h"
#include "proto/plan.pb.h"
#include "proto/state.pb.h"

namespace heron::topology_master {

inline constexpr char kTopologyId[] = "words-1";

// The nodes of one topology. Every write is checked against the rules that hold for ever:
//  - no incarnation of a container is given to two executors, none is lowered;
//  - a finish grant keeps its epoch, `finished` stays;
//  - FINISHED and FAILED stay, and FINISHED has every task finished.
class StoreModel {
 public:
  StoreModel();

  Result<StoredValue> Read(Node node) const;
  Result<int64_t> Write(Node node, const std::string& value, std::optional<int64_t> expected);

  // As the submitter and users write.
  void Put(Node node, const google::protobuf::MessageLite& message);
  void Remove(Node node) { nodes_.erase(node); }
  void Desire(proto::DesiredState::Desire desire, const std::string& id = kTopologyId);
  // A topology of spouts and bolts: (name, tasks), the first is a spout. Tasks are dealt over the
  // containers.
  void Submit(const std::vector<std::pair<std::string, int>>& components,
              const std::vector<ContainerId>& containers, bool bounded = true);

  proto::PhysicalPlan plan() const;
  proto::ExecutionState state() const;
  const proto::SubmittedTopology& topology() const { return topology_; }
  uint64_t incarnation(ContainerId container) const;
  const proto::TaskGrant* grant(TaskId task) const;
  int writes(Node node) const { return writes_[static_cast<size_t>(node)]; }

 private:
  void CheckPlan(const std::string& value);
  void CheckState(const std::string& value);

  std::map<Node, StoredValue> nodes_;
  int64_t last_version_ = 0;
  proto::SubmittedTopology topology_;
  mutable proto::ExecutionState parsed_state_;
  std::array<int, std::size(kAllNodes)> writes_{};
  std::map<std::pair<ContainerId, uint64_t>, std::string> holders_;
  std::map<TaskId, std::pair<uint64_t, uint64_t>> granted_;
  std::set<TaskId> finished_;
};

// What becomes of a write.
enum class Fate {
  kStored,
  kStoredButAnswerLost,  // Unavailable, yet it happened
  kNotStored,            // Unavailable, and it did not happen
};

// One master process.
class MasterUnderTest : public Effects {
 public:
  MasterUnderTest(StoreModel* store, ManualClock* clock);

  MasterCore& core() { return core_; }
  Moment Now() const { return {clock_->Now(), clock_->UnixMillis()}; }

  void ReadNode(Node node, uint64_t request) override;
  void WriteNode(Node node, uint64_t request, std::string value,
                 std::optional<int64_t> expected) override;
  void SendContainerPlan(SessionId session, const proto::ContainerPlan& plan) override;
  void SendMasterUpdate(SessionId session, const proto::MasterUpdate& update) override;
  void Exit(int code, const std::string& why) override;

  bool HasOperation() const { return !operations_.empty(); }
  // Does the oldest operation in the store and answers it.
  void AnswerOne();
  // Answers and ticks for this long.
  void Run(Duration time = std::chrono::milliseconds(600));
  // Gains the lease and settles.
  void Gain(uint64_t epoch);

  std::function<Fate(Node)> fate;  // empty: kStored
  std::function<void(SessionId, const proto::ContainerPlan&)> on_plan;
  std::function<void(SessionId, const proto::MasterUpdate&)> on_update;
  bool check_sent_is_stored = true;

  // The last one said to a session; a default one if there is none.
  const proto::ContainerPlan& plan(SessionId session) { return plans[session]; }
  const proto::MasterUpdate& update(SessionId session) { return updates[session]; }
  std::map<SessionId, proto::ContainerPlan> plans;
  // With topology and plan of the last update that had them.
  std::map<SessionId, proto::MasterUpdate> updates;
  std::map<SessionId, int> updates_with_plan;
  std::optional<int> exit_code;
  std::string exit_text;
  int writes_started = 0;

 private:
  struct Operation {
    Node node;
    uint64_t request;
    bool is_write = false;
    std::string value;
    std::optional<int64_t> expected;
  };

  StoreModel* const store_;
  ManualClock* const clock_;
  std::deque<Operation> operations_;
  MasterCore core_;
};

proto::ExecutorReport MakeExecutorReport(ContainerId container, const std::string& nonce,
                                         uint64_t incarnation);
proto::StreamManagerReport MakeStreamManagerReport(ContainerId container, Epoch epoch,
                                                   uint32_t port);
proto::TaskStatus* AddTask(proto::StreamManagerReport* report, TaskId task, Epoch epoch,
                           proto::TaskStatus::Phase phase);

}  // namespace heron::topology_master
