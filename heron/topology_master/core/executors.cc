#include "heron/topology_master/core/executors.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "heron/topology_master/core/execution_state_builder.h"

namespace heron::topology_master {

void Executors::Up(SessionId id, ContainerId container) { sessions_[id].container = container; }

void Executors::Down(SessionId id) { sessions_.erase(id); }

ExecutorSession* Executors::Report(SessionId id, proto::ExecutorReport report) {
  auto it = sessions_.find(id);
  if (it == sessions_.end()) return nullptr;
  if (report.container() != it->second.container || report.nonce().empty() ||
      report.nonce().size() > Incarnations::kMaxNonceBytes) {
    LOG_EVERY_N(WARNING, 100) << "the executor of container " << it->second.container
                              << " sent a report that is not its own; it is ignored";
    return nullptr;
  }
  it->second.report = std::move(report);
  it->second.answer_due = true;
  return &it->second;
}

const ExecutorSession* Executors::Holder(ContainerId container,
                                         const Incarnations& incarnations) const {
  for (auto it = sessions_.rbegin(); it != sessions_.rend(); ++it) {
    if (it->second.container != container || !it->second.report) continue;
    if (incarnations.Judge(it->second.Claim()) == Incarnations::Verdict::kHolder) {
      return &it->second;
    }
  }
  return nullptr;
}

std::vector<ExecutorClaim> Executors::Claims() const {
  std::vector<ExecutorClaim> claims;
  for (const auto& [id, session] : sessions_) {
    if (session.report) claims.push_back(session.Claim());
  }
  return claims;
}

uint64_t Executors::StoredFailure(const ExecutorClaim& claim) const {
  auto it = stored_.find(claim.container);
  return it == stored_.end() || it->second.nonce != claim.nonce ? 0 : it->second.number;
}

Executors::NewFailures Executors::FailuresToStore(const Incarnations& incarnations,
                                                  const proto::ExecutionState* stored) const {
  NewFailures out;
  for (const auto& [id, session] : sessions_) {
    if (!session.report || session.report->failures().empty()) continue;
    const ExecutorClaim claim = session.Claim();
    if (incarnations.Judge(claim) != Incarnations::Verdict::kHolder) continue;
    const uint64_t had = StoredFailure(claim);
    uint64_t highest = had;
    const size_t first = out.failures.size();
    for (const proto::ProcessFailure& failure : session.report->failures()) {
      if (failure.number() <= had) continue;
      highest = std::max(highest, failure.number());
      const bool known =
          stored != nullptr &&
          std::any_of(stored->failures().begin(), stored->failures().end(),
                      [&failure](const auto& other) { return SameFailure(failure, other); });
      if (!known) out.failures.push_back(failure);
    }
    std::sort(out.failures.begin() + static_cast<std::ptrdiff_t>(first), out.failures.end(),
              [](const auto& a, const auto& b) { return a.number() < b.number(); });
    if (highest > had) out.marks.push_back({claim.container, claim.nonce, highest});
  }
  return out;
}

void Executors::MarkStored(const std::vector<FailureMark>& marks) {
  for (const FailureMark& mark : marks) stored_[mark.container] = mark;
}

}  // namespace heron::topology_master
