#include "tools/cli/live_view.h"

#include <set>

#include "tools/cli/explain_text.h"

namespace tools::cli {

LiveView::LiveView(const ExplainFacts& facts) : facts_(facts) {
  std::set<std::string> spouts;
  for (const auto& component : facts.submitted.topology().components()) {
    if (component.kind() == heron::proto::SPOUT) spouts.insert(component.name());
  }
  for (const TaskRow& row : facts.row.tasks) {
    LiveTask& task = tasks_[row.task];
    task.row = &row;
    task.spout = spouts.contains(row.component);
    task.name = row.component + "[" + std::to_string(row.component_index) + "]";
    task.label = task.name + " (task " + std::to_string(row.task) + ")";
    task.process = FindProcess(facts, "instance " + task.label);
  }
  for (const auto& fact : facts.execution.facts()) {
    if (auto it = tasks_.find(fact.task()); it != tasks_.end()) it->second.facts = fact;
  }
  for (const auto& planned : facts.plan.containers()) {
    containers_[planned.container()].set_container(planned.container());
  }
  for (const auto& status : facts.execution.containers()) {
    if (auto it = containers_.find(status.container()); it != containers_.end()) {
      it->second = status;
    }
  }
}

bool LiveView::young() const { return starting() && Since(facts_.row.since_unix_ms) < kStuckMs; }

void LiveView::MarkContainer(int container) {
  for (auto& [id, task] : tasks_) {
    if (task.row->container == container) task.explained = true;
  }
}

}  // namespace tools::cli
