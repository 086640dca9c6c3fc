// Which executor holds a container. The stored physical plan names the holder by its nonce, with an
// incarnation that is raised for each new holder and never used twice; this class compares
// executors with it and makes the next plan.
//
// Thread: the master's event loop.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heron/base/ids.h"
#include "proto/plan.pb.h"

namespace heron::topology_master {

// An executor as it reports itself.
struct ExecutorClaim {
  ContainerId container = 0;
  std::string nonce;
  uint64_t incarnation = 0;  // 0: it has none yet
};

class Incarnations {
 public:
  static constexpr size_t kMaxNonceBytes = 64;
  // Nonces of executors that were displaced, remembered per container.
  static constexpr size_t kMaxDisplaced = 16;

  enum class Verdict {
    kHolder,     // the stored plan names it
    kCandidate,  // it is to get the next incarnation
    kFenced,     // another one holds the container
    kUnknownContainer,
  };

  // The plan as stored: the base of all judgement. What was learned of displaced nonces stays.
  void SetPlan(const proto::PhysicalPlan& plan);

  // Container 0 has one executor at a time and no incarnations: whoever reports last holds it.
  Verdict Judge(const ExecutorClaim& claim) const;
  bool HasContainer(ContainerId container) const { return holders_.count(container) > 0; }
  uint64_t IncarnationOf(ContainerId container) const;  // 0: none yet

  // The plan in which every candidate holds its container; of several for one container the last in
  // `claims`. Raises the version. nullopt when there is none. Not valid before it was stored.
  std::optional<proto::PhysicalPlan> Issue(const proto::PhysicalPlan& stored,
                                           const std::vector<ExecutorClaim>& claims) const;
  // Call with the claims that were there when an issued plan was stored, after SetPlan: those that
  // did not get their container are fenced from now on.
  void Displace(const std::vector<ExecutorClaim>& claims);

 private:
  struct Holder {
    uint64_t incarnation = 0;
    std::string nonce;
  };
  bool IsDisplaced(const ExecutorClaim& claim) const;

  std::map<ContainerId, Holder> holders_;  // of every container in the plan but 0
  std::map<ContainerId, std::deque<std::string>> displaced_;
};

}  // namespace heron::topology_master
