#include "heron/stream_manager/core/master_view.h"

#include <algorithm>
#include <utility>

#include "heron/stream_manager/core/epochs.h"

namespace heron::stream_manager {
namespace {

bool SameGrant(const proto::TaskGrant& a, const proto::TaskGrant& b) {
  return a.has_finish_grant() == b.has_finish_grant() && a.finished() == b.finished() &&
         ToEpoch(a.finish_granted()) == ToEpoch(b.finish_granted());
}

}  // namespace

MasterView::Change MasterView::Apply(const proto::MasterUpdate& update) {
  Change change;
  if (update.mastership_epoch() < mastership_epoch_) {
    ++counters_->stale_master_updates;
    return change;
  }
  if ((update.has_topology() && update.topology().topology_id() != topology_id_) ||
      (update.has_plan() && update.plan().topology_id() != topology_id_)) {
    ++counters_->foreign_master_updates;
    return change;
  }
  mastership_epoch_ = update.mastership_epoch();
  change.accepted = true;
  if (update.has_topology() && !has_topology_) {
    topology_ = update.topology();
    has_topology_ = true;
  }
  ApplyPlan(update, change);
  ApplyAddresses(update, change);
  ApplyGrants(update, change);
  change.active = active_ != update.active();
  active_ = update.active();
  return change;
}

void MasterView::ApplyPlan(const proto::MasterUpdate& update, Change& change) {
  if (!update.has_plan() || !has_topology_) return;
  if (has_plan() && update.plan().version() <= plan_.version()) {
    if (update.plan().version() < plan_.version()) ++counters_->older_plans;
    return;
  }
  auto layout = model::TaskLayout::Make(topology_.topology(), update.plan().containers());
  if (!layout.ok()) {
    ++counters_->bad_master_updates;
    change.error = "plan version " + std::to_string(update.plan().version()) +
                   " is not used: " + layout.status().ToString();
    return;
  }
  layout_ = std::move(layout).value();
  plan_ = update.plan();
  change.plan = true;
}

void MasterView::ApplyAddresses(const proto::MasterUpdate& update, Change& change) {
  for (const proto::StreamManagerAddress& said : update.addresses()) {
    if (said.port() == 0 || said.port() > 65535 || said.host().empty()) continue;
    Address address{ToEpoch(said.epoch()), said.host(), static_cast<uint16_t>(said.port())};
    auto [it, added] = addresses_.try_emplace(said.container(), address);
    if (!added) {
      if (it->second == address || address.epoch < it->second.epoch) continue;
      it->second = address;
    }
    change.addresses = true;
  }
}

void MasterView::ApplyGrants(const proto::MasterUpdate& update, Change& change) {
  std::map<TaskId, proto::TaskGrant> grants;
  for (const proto::TaskGrant& grant : update.grants()) grants[grant.task()] = grant;
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first && SameGrant(a.second, b.second);
  };
  change.grants =
      !std::equal(grants.begin(), grants.end(), grants_.begin(), grants_.end(), same);
  grants_ = std::move(grants);
}

const proto::TaskGrant* MasterView::GrantOf(TaskId task) const {
  auto it = grants_.find(task);
  return it == grants_.end() ? nullptr : &it->second;
}

}  // namespace heron::stream_manager
