#include "tools/cli/desire.h"

#include <optional>
#include <string>

#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/records.h"
#include "tools/cli/target.h"

namespace tools::cli {
namespace {

using heron::Duration;
using heron::FailedPrecondition;
using heron::Result;
using heron::Status;
using heron::StatusCode;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::state::TopologyKey;

constexpr int kTries = 20;

bool HasEnded(ExecutionState::State state) {
  return state == ExecutionState::FINISHED || state == ExecutionState::FAILED;
}

// Its state now; STATE_UNSPECIFIED before the topology master has written one of this id.
Result<ExecutionState> ReadState(Cli& cli, const TopologyKey& key, const std::string& id) {
  auto execution = ReadExecution(*cli.store, key);
  if (!execution.ok()) return execution.status();
  if (!*execution || (*execution)->value.topology_id() != id) return ExecutionState();
  return (*execution)->value;
}

Status AlreadyEnded(const TopologyKey& key, const ExecutionState& state) {
  return FailedPrecondition(key.name +
                            (state.state() == ExecutionState::FINISHED
                                 ? " has finished"
                                 : " has failed: " + state.reason()) +
                            "; submit it again to run it again");
}

// Stores the wish; the id it is stored for.
Result<std::string> StoreWish(Cli& cli, const TopologyKey& key, DesiredState::Desire wish) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    auto desired = ReadDesired(*cli.store, key);
    if (!desired.ok()) return desired.status();
    if (!*desired) return NoSuchTopology(*cli.store, cli.cluster, key);
    DesiredState record = (*desired)->value;
    if (record.desire() == DesiredState::SUBMITTING) {
      return FailedPrecondition(key.name + " is still being submitted (" + record.by() + ")");
    }
    if (record.desire() == DesiredState::KILLING) {
      return FailedPrecondition(key.name + " is being killed");
    }
    Result<ExecutionState> state = ReadState(cli, key, record.topology_id());
    if (!state.ok()) return state.status();
    if (HasEnded(state->state())) return AlreadyEnded(key, *state);
    if (record.desire() == wish) return record.topology_id();
    record.set_desire(wish);
    record.set_by(cli.by);
    record.set_since_unix_ms(cli.clock->UnixMillis());
    auto set = cli.store->Set(heron::state::DesiredPath(key), record.SerializeAsString(),
                              (*desired)->version);
    if (set.ok()) return record.topology_id();
    if (set.status().code() != StatusCode::kVersionMismatch &&
        set.status().code() != StatusCode::kNotFound) {
      return set.status();
    }
  }
  return heron::Unavailable("the wish for " + key.name + " changes all the time; try again");
}

Status AwaitState(Cli& cli, const TopologyKey& key, const std::string& id,
                  DesiredState::Desire wish, Duration timeout, Progress& progress) {
  const auto wanted =
      wish == DesiredState::ACTIVE ? ExecutionState::RUNNING : ExecutionState::INACTIVE;
  const auto start = cli.clock->Now();
  for (;;) {
    Result<ExecutionState> state = ReadState(cli, key, id);
    std::string missing;
    if (!state.ok()) {
      missing = "the state store (" + state.status().message() + ")";
    } else if (state->state() == wanted) {
      progress.Finish();
      return Status::Ok();
    } else if (HasEnded(state->state())) {
      return AlreadyEnded(key, *state);
    } else if (!state->waiting_for().empty()) {
      missing = state->waiting_for();
    } else {
      missing = "the topology master";
    }
    auto desired = ReadDesired(*cli.store, key);
    if (desired.ok()) {
      if (!*desired || (*desired)->value.topology_id() != id) {
        return FailedPrecondition(key.name + " was killed meanwhile");
      }
      if ((*desired)->value.desire() != wish) {
        return FailedPrecondition("another command changed what is wanted of " + key.name + ": " +
                                  (*desired)->value.by());
      }
    }
    const std::string stored = "; the wish is stored and will be followed. Waiting for " + missing;
    if (cli.interrupted()) return FailedPrecondition("interrupted" + stored);
    if (cli.clock->Now() - start >= timeout) {
      return heron::DeadlineExceeded(key.name + " is not " + ExecutionState::State_Name(wanted) +
                                     " after " + DurationText(timeout) + stored);
    }
    cli.sleep(kPollInterval);
  }
}

Status Follow(Cli& cli, const TopologyKey& key, DesiredState::Desire wish, Duration timeout) {
  const bool activate = wish == DesiredState::ACTIVE;
  {
    Progress progress(*cli.err, cli.terminal);
    Result<std::string> id = StoreWish(cli, key, wish);
    if (!id.ok()) return id.status();
    progress.Step(activate ? "activating" : "deactivating", key.name);
    HERON_RETURN_IF_ERROR(AwaitState(cli, key, *id, wish, timeout, progress));
  }
  *cli.out << (cli.json ? DoneJson(key, activate ? "RUNNING" : "INACTIVE")
                        : key.name + (activate ? " is active" : " is inactive"))
           << std::endl;
  return Status::Ok();
}

}  // namespace

Status ActivateCommand(Cli& cli, const TopologyKey& key, Duration timeout) {
  return Follow(cli, key, DesiredState::ACTIVE, timeout);
}

Status DeactivateCommand(Cli& cli, const TopologyKey& key, Duration timeout) {
  return Follow(cli, key, DesiredState::INACTIVE, timeout);
}

}  // namespace tools::cli
