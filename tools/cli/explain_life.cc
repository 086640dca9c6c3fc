#include "tools/cli/explain_life.h"

#include <sstream>

#include "heron/base/exit_codes.h"
#include "tools/cli/explain_text.h"

namespace tools::cli {
namespace {

using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::proto::ProcessFailure;

constexpr size_t kMaxEvidence = 12;

void AddLines(const std::string& text, Cause* cause) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (cause->evidence.size() == kMaxEvidence) return;
    if (line.find_first_not_of(" \t") != std::string::npos) cause->evidence.push_back(line);
  }
}

Cause StoreUnreachable(const ExplainFacts& facts) {
  Cause cause{"state_unreachable",
              "the state of the cluster cannot be read: " + facts.store.message()};
  cause.evidence.push_back(
      "whether it runs is not known; topologies go on while their state cannot be read");
  const bool damaged = facts.store.code() == heron::StatusCode::kDataLoss;
  cause.remedies.push_back(
      damaged ? Remedy{"remove what is damaged and submit again", CommandFor(facts, "kill")}
              : Remedy{"see that the folder exists and may be read by this user; it is named by "
                       "heron.state.url or HERON_ROOT",
                       "heron config show"});
  return cause;
}

std::vector<Cause> NotThere(const ExplainFacts& facts) {
  if (facts.failed_submit) return {FailedSubmitCause(facts)};
  Cause cause{"no_such_topology", facts.unknown.message()};
  if (facts.was_killed) {
    cause.text = "there is no topology " + facts.key.name + " any more: it was killed";
  }
  cause.remedies.push_back({"see what there is", "heron topologies"});
  return {cause};
}

Cause Submitting(const ExplainFacts& facts) {
  const int64_t age = facts.now_unix_ms - facts.desired->since_unix_ms();
  if (facts.author_alive) {
    Cause cause{"submitting",
                "its submit (" + facts.desired->by() + ") is under way for " + AgeText(age)};
    cause.remedies.push_back({"wait until it runs", CommandFor(facts, "wait", "--for running")});
    return cause;
  }
  Cause cause{"submit_broken_off",
              "its submit (" + facts.desired->by() + ") broke off " + AgeText(age) + " ago"};
  cause.remedies.push_back({"remove what it left, then submit again", CommandFor(facts, "kill")});
  return cause;
}

Cause Killing(const ExplainFacts& facts) {
  const int64_t age = facts.now_unix_ms - facts.desired->since_unix_ms();
  Cause cause{facts.author_alive ? "killing" : "kill_broken_off",
              "it is being killed by " + facts.desired->by() + " for " + AgeText(age)};
  if (!facts.author_alive) {
    cause.text = "its kill (" + facts.desired->by() + ") broke off " + AgeText(age) + " ago";
  }
  if (facts.processes) {
    cause.evidence.push_back(CountText(facts.processes->size(), "process") + " of it " +
                             (facts.processes->size() == 1 ? "is" : "are") + " alive");
  }
  cause.remedies.push_back({facts.author_alive ? "wait, or kill it once more" : "complete it",
                            CommandFor(facts, "kill")});
  return cause;
}

const ProcessFailure* FatalFailure(const ExplainFacts& facts) {
  const ProcessFailure* last = nullptr;
  for (const ProcessFailure& failure : facts.execution.failures()) {
    if (failure.task() == 0) continue;
    if (last == nullptr || !last->unrecoverable()) last = &failure;
  }
  return last;
}

Cause Failed(const ExplainFacts& facts) {
  Cause cause{"failed", "it failed: " + facts.execution.reason()};
  if (const ProcessFailure* failure = FatalFailure(facts)) {
    cause.component = failure->component();
    cause.container = failure->container();
    cause.task = failure->task();
    if (failure->exit_code() == heron::kExitDefinitionDiffers) {
      cause.code = "definition_differs";
    } else if (failure->unrecoverable() || failure->exit_code() == heron::kExitUnrecoverable) {
      cause.code = "unrecoverable";
    } else {
      cause.code = "crash_loop";
    }
    AddLastLines(facts, std::to_string(failure->task()), &cause);
    cause.remedies.push_back(
        {"see the whole log", CommandFor(facts, "logs", std::to_string(failure->task()))});
  }
  cause.remedies.push_back(
      {cause.code == "definition_differs"
           ? "build the topology from the arguments only (no time, environment or files), then "
             "submit again"
           : "mend the cause, then submit again; the name is free for it",
       "heron submit " + facts.place + "PROGRAM " + facts.key.name});
  return cause;
}

Cause Finished(const ExplainFacts& facts) {
  const int64_t age = facts.now_unix_ms - facts.execution.since_unix_ms();
  if (facts.execution.incomplete().empty()) {
    Cause cause{"finished", "it finished " + AgeText(age) + " ago, and everything arrived"};
    cause.remedies.push_back(
        {"run it again", "heron submit " + facts.place + "PROGRAM " + facts.key.name});
    return cause;
  }
  Cause cause{"finished_incomplete",
              "it finished " + AgeText(age) +
                  " ago, but its result is not complete: " + facts.execution.incomplete(0)};
  for (const std::string& line : facts.execution.incomplete()) cause.evidence.push_back(line);
  cause.remedies.push_back({"see what the tasks said", CommandFor(facts, "logs")});
  cause.remedies.push_back(
      {"run it again", "heron submit " + facts.place + "PROGRAM " + facts.key.name});
  return cause;
}

Cause Lost(const ExplainFacts& facts) {
  if (!facts.desired) {
    Cause cause{"left_overs", "only left-overs of it are there, no record of what is wanted"};
    cause.remedies.push_back({"remove them", CommandFor(facts, "kill")});
    return cause;
  }
  Cause cause{"lost", "it is lost: " + facts.row.reason};
  if (facts.execution.updated_unix_ms() > 0) {
    cause.evidence.push_back("its last sign of life is " +
                             AgeText(facts.now_unix_ms - facts.execution.updated_unix_ms()) +
                             " old; it was " + ExecutionState::State_Name(facts.execution.state()));
  }
  cause.remedies.push_back({"start it again", CommandFor(facts, "restart")});
  cause.remedies.push_back({"or remove it", CommandFor(facts, "kill")});
  return cause;
}

}  // namespace

Cause FailedSubmitCause(const ExplainFacts& facts) {
  const FailedSubmit& failed = *facts.failed_submit;
  const std::string when = AgeText(facts.now_unix_ms - failed.at_unix_ms) + " ago";
  Cause cause{failed.cause};
  std::string how = "failed";
  if (failed.cause == "describe_failed") how = "failed: the program did not describe a topology";
  if (failed.cause == "definition_refused") how = "was refused: the topology has mistakes";
  if (failed.cause == "packing_impossible") how = "failed: the topology cannot be packed";
  cause.text = "its last submit, " + when + ", " + how;
  AddLines(failed.text, &cause);
  cause.remedies.push_back(
      {"mend that, then submit again", "heron submit " + facts.place +
                                           (failed.program.empty() ? "PROGRAM" : failed.program) +
                                           " " + facts.key.name});
  return cause;
}

std::optional<std::vector<Cause>> ExplainLife(const ExplainFacts& facts) {
  if (!facts.store.ok()) return std::vector<Cause>{StoreUnreachable(facts)};
  if (!facts.unknown.ok()) return NotThere(facts);
  if (facts.row.state == "SUBMITTING") return std::vector<Cause>{Submitting(facts)};
  if (facts.row.state == "KILLING") return std::vector<Cause>{Killing(facts)};
  if (facts.row.state == "FAILED") return std::vector<Cause>{Failed(facts)};
  if (facts.row.state == "FINISHED") return std::vector<Cause>{Finished(facts)};
  if (facts.row.state == "LOST") return std::vector<Cause>{Lost(facts)};
  return std::nullopt;
}

}  // namespace tools::cli
