#include "tools/cli/explanation.h"

#include <map>
#include <utility>

#include "tools/cli/explain_flow.h"
#include "tools/cli/explain_life.h"
#include "tools/cli/explain_processes.h"
#include "tools/cli/explain_text.h"
#include "tools/cli/live_view.h"

namespace tools::cli {

namespace {

// The same of several tasks of a component is one cause: that of the first.
void Merge(std::vector<Cause>* causes) {
  std::map<std::pair<std::string, std::string>, size_t> first;  // by code and component
  std::vector<Cause> merged;
  for (Cause& cause : *causes) {
    if (cause.task != 0) {
      const auto [it, fresh] = first.try_emplace({cause.code, cause.component}, merged.size());
      if (!fresh) {
        merged[it->second].more_tasks.push_back(cause.task);
        continue;
      }
    }
    merged.push_back(std::move(cause));
  }
  for (Cause& cause : merged) {
    if (cause.more_tasks.empty()) continue;
    cause.text += "; the same of " + CountText(cause.more_tasks.size(), "more task") + " of " +
                  cause.component;
  }
  *causes = std::move(merged);
}

}  // namespace

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
    Merge(&causes);
  }
  // A later try to submit the name again.
  if (facts.failed_submit &&
      facts.failed_submit->at_unix_ms > facts.submitted.submitted_unix_ms()) {
    causes.push_back(FailedSubmitCause(facts));
  }
  return causes;
}

}  // namespace tools::cli
