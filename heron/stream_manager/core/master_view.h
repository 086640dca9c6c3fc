// What this stream manager has learned from topology masters: topology, plan, addresses, whether spouts may emit, grants.
// Keeps the highest mastership epoch and the highest plan version; lower ones are ignored and counted. Survives the loss of
// the master. Plain object; the owner's thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "heron/base/ids.h"
#include "heron/model/task_layout.h"
#include "heron/stream_manager/core/counters.h"
#include "proto/master.pb.h"
#include "proto/plan.pb.h"

namespace heron::stream_manager {

class MasterView {
 public:
  struct Address {
    Epoch epoch;
    std::string host;
    uint16_t port = 0;
    friend bool operator==(const Address&, const Address&) = default;
  };
  struct Change {
    bool accepted = false;  // false: nothing was taken from it
    bool plan = false;
    bool active = false;
    bool addresses = false;
    bool grants = false;
    std::string error;  // of a plan that cannot be used, for people
  };

  MasterView(std::string topology_id, Counters* counters)
      : topology_id_(std::move(topology_id)), counters_(counters) {}

  Change Apply(const proto::MasterUpdate& update);

  bool has_plan() const { return layout_ != nullptr; }
  uint64_t mastership_epoch() const { return mastership_epoch_; }
  uint64_t plan_version() const { return plan_.version(); }
  bool active() const { return active_; }
  // Only with a plan.
  const model::TaskLayout& layout() const { return *layout_; }
  const proto::SubmittedTopology& topology() const { return topology_; }
  const proto::PhysicalPlan& plan() const { return plan_; }
  // By container. Addresses are never taken back: a new master has none until all have reported.
  const std::map<ContainerId, Address>& addresses() const { return addresses_; }
  const proto::TaskGrant* GrantOf(TaskId task) const;

 private:
  void ApplyPlan(const proto::MasterUpdate& update, Change& change);
  void ApplyAddresses(const proto::MasterUpdate& update, Change& change);
  void ApplyGrants(const proto::MasterUpdate& update, Change& change);

  const std::string topology_id_;
  Counters* const counters_;
  uint64_t mastership_epoch_ = 0;
  bool active_ = false;
  bool has_topology_ = false;
  proto::SubmittedTopology topology_;
  proto::PhysicalPlan plan_;
  std::shared_ptr<const model::TaskLayout> layout_;
  std::map<ContainerId, Address> addresses_;
  std::map<TaskId, proto::TaskGrant> grants_;
};

}  // namespace heron::stream_manager
