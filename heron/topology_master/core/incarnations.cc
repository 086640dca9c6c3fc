#include "heron/topology_master/core/incarnations.h"

#include <algorithm>

namespace heron::topology_master {

void Incarnations::SetPlan(const proto::PhysicalPlan& plan) {
  std::map<ContainerId, Holder> before;
  before.swap(holders_);
  for (const proto::PlannedContainer& container : plan.containers()) {
    if (container.container() != 0) holders_[container.container()];
  }
  for (const proto::ContainerIncarnation& entry : plan.incarnations()) {
    auto it = holders_.find(entry.container());
    if (it == holders_.end()) continue;
    it->second = {entry.incarnation(), entry.executor_nonce()};
    auto old = before.find(entry.container());
    if (old == before.end() || old->second.nonce.empty()) continue;
    if (old->second.nonce != entry.executor_nonce()) {
      Displace({{entry.container(), old->second.nonce, old->second.incarnation}});
    }
  }
}

bool Incarnations::IsDisplaced(const ExecutorClaim& claim) const {
  auto it = displaced_.find(claim.container);
  return it != displaced_.end() &&
         std::find(it->second.begin(), it->second.end(), claim.nonce) != it->second.end();
}

Incarnations::Verdict Incarnations::Judge(const ExecutorClaim& claim) const {
  if (claim.container == 0) {
    return IsDisplaced(claim) ? Verdict::kFenced : Verdict::kHolder;
  }
  auto it = holders_.find(claim.container);
  if (it == holders_.end()) return Verdict::kUnknownContainer;
  const Holder& holder = it->second;
  if (!holder.nonce.empty() && claim.nonce == holder.nonce) return Verdict::kHolder;
  if (IsDisplaced(claim)) return Verdict::kFenced;
  // One that claims a higher incarnation than the stored one has outlived a store that was set
  // back; it gets a new one.
  if (claim.incarnation == 0 || claim.incarnation > holder.incarnation) return Verdict::kCandidate;
  return Verdict::kFenced;
}

uint64_t Incarnations::IncarnationOf(ContainerId container) const {
  auto it = holders_.find(container);
  return it == holders_.end() ? 0 : it->second.incarnation;
}

std::optional<proto::PhysicalPlan> Incarnations::Issue(
    const proto::PhysicalPlan& stored, const std::vector<ExecutorClaim>& claims) const {
  std::map<ContainerId, Holder> next;
  for (const ExecutorClaim& claim : claims) {
    if (claim.container == 0 || Judge(claim) != Verdict::kCandidate) continue;
    next[claim.container] = {
        std::max(IncarnationOf(claim.container), claim.incarnation) + 1, claim.nonce};
  }
  if (next.empty()) return std::nullopt;
  proto::PhysicalPlan plan = stored;
  plan.set_version(stored.version() + 1);
  for (proto::ContainerIncarnation& entry : *plan.mutable_incarnations()) {
    auto it = next.find(entry.container());
    if (it == next.end()) continue;
    entry.set_incarnation(it->second.incarnation);
    entry.set_executor_nonce(it->second.nonce);
    next.erase(it);
  }
  for (const auto& [container, holder] : next) {
    proto::ContainerIncarnation* entry = plan.add_incarnations();
    entry->set_container(container);
    entry->set_incarnation(holder.incarnation);
    entry->set_executor_nonce(holder.nonce);
  }
  return plan;
}

void Incarnations::Displace(const std::vector<ExecutorClaim>& claims) {
  for (const ExecutorClaim& claim : claims) {
    if (claim.nonce.empty() || IsDisplaced(claim)) continue;
    if (auto it = holders_.find(claim.container);
        it != holders_.end() && it->second.nonce == claim.nonce) {
      continue;
    }
    std::deque<std::string>& nonces = displaced_[claim.container];
    nonces.push_back(claim.nonce);
    if (nonces.size() > kMaxDisplaced) nonces.pop_front();
  }
}

}  // namespace heron::topology_master
