#include "heron/model/store_verdict.h"

namespace heron::model {

StoreVerdict Judge(const StoreView& view, const std::string& topology_id) {
  if (!view.desired.has_value()) return StoreVerdict::kNotWanted;
  if (view.desired->topology_id() != topology_id) return StoreVerdict::kNotWanted;
  if (view.desired->desire() == proto::DesiredState::KILLING) return StoreVerdict::kNotWanted;
  if (view.execution.has_value() && view.execution->topology_id() == topology_id &&
      (view.execution->state() == proto::ExecutionState::FINISHED ||
       view.execution->state() == proto::ExecutionState::FAILED)) {
    return StoreVerdict::kEnded;
  }
  return StoreVerdict::kGoOn;
}

}  // namespace heron::model
