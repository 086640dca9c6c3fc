// A topology that should be at work, seen task by task and container by container.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/cli/explain_facts.h"

namespace tools::cli {

struct LiveTask {
  const TaskRow* row = nullptr;
  heron::proto::TaskFacts facts;
  const scheduler::ProcessInfo* process = nullptr;
  bool spout = false;
  std::string name;        // "split[0]": also a target of `heron logs`
  std::string label;       // "split[0] (task 3)"
  bool explained = false;  // by an earlier cause

  const heron::proto::TaskStatus& status() const { return row->status; }
  heron::proto::TaskStatus::Phase phase() const { return row->status.phase(); }
  const char* open_method() const { return spout ? "Open" : "Prepare"; }
};

class LiveView {
 public:
  explicit LiveView(const ExplainFacts& facts);

  const ExplainFacts& facts() const { return facts_; }
  std::map<int, LiveTask>& tasks() { return tasks_; }
  const std::map<int, heron::proto::ContainerStatus>& containers() const { return containers_; }

  bool master_alive() const { return facts_.master == ExplainFacts::Master::kAlive; }
  bool starting() const { return facts_.row.state == "STARTING"; }
  // Began so short a time ago that absence means nothing yet.
  bool young() const;
  // Milliseconds since a moment of the stored facts.
  int64_t Since(int64_t unix_ms) const { return unix_ms <= 0 ? 0 : facts_.now_unix_ms - unix_ms; }
  // Nothing more is to be said of its tasks.
  void MarkContainer(int container);

 private:
  const ExplainFacts& facts_;
  std::map<int, LiveTask> tasks_;
  std::map<int, heron::proto::ContainerStatus> containers_;  // of the plan
};

// A call of user code that takes longer may be stuck.
inline constexpr int64_t kStuckMs = 5'000;

}  // namespace tools::cli
