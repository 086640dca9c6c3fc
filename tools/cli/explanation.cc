#include "tools/cli/explanation.h"

#include "tools/cli/explain_flow.h"
#include "tools/cli/explain_life.h"
#include "tools/cli/explain_processes.h"
#include "tools/cli/live_view.h"

namespace tools::cli {

std::vector<Cause> Explain(const ExplainFacts& facts) {
  std::vector<Cause> causes;
  if (auto life = ExplainLife(facts)) {
    causes = *std::move(life);
    if (!facts.store.ok() || !facts.unknown.ok()) return causes;
  } else {
    LiveView view(facts);
    AddProcessCauses(view, &causes);
    AddFlowCauses(view, &causes);
    AddSupervisorCause(view, &causes);
    if (causes.empty()) causes.push_back(WellCause(view));
    AddDropCauses(view, &causes);
  }
  // A later try to submit the name again.
  if (facts.failed_submit &&
      facts.failed_submit->at_unix_ms > facts.submitted.submitted_unix_ms()) {
    causes.push_back(FailedSubmitCause(facts));
  }
  return causes;
}

}  // namespace tools::cli
