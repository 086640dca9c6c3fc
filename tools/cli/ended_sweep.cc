#include "tools/cli/ended_sweep.h"

#include <sstream>

#include "tools/cli/progress.h"
#include "tools/cli/records.h"
#include "tools/cli/removal.h"

namespace tools::cli {
namespace {

using heron::Status;
using heron::proto::DesiredState;
using heron::proto::ExecutionState;
using heron::state::TopologyKey;

// True when it was removed. Ok and VersionMismatch aside, the status says why not.
heron::Result<bool> RemoveIfOld(Cli& cli, const TopologyKey& key, Progress& progress) {
  // In this order: as long as /desired has this version, the state is of this topology, and an
  // ended one does not change any more.
  auto desired = ReadDesired(*cli.store, key);
  if (!desired.ok()) return desired.status();
  if (!*desired) return false;
  const DesiredState& wish = (*desired)->value;
  if (wish.desire() != DesiredState::ACTIVE && wish.desire() != DesiredState::INACTIVE) {
    return false;
  }
  auto execution = ReadExecution(*cli.store, key);
  if (!execution.ok()) return execution.status();
  if (!*execution || (*execution)->value.topology_id() != wish.topology_id()) return false;
  const ExecutionState& state = (*execution)->value;
  const bool ended =
      state.state() == ExecutionState::FINISHED || state.state() == ExecutionState::FAILED;
  // A record without a time is not known to be old.
  if (!ended || state.since_unix_ms() <= 0 ||
      cli.clock->UnixMillis() - state.since_unix_ms() <= kKeepEndedMs) {
    return false;
  }
  auto processes = cli.scheduler->Processes(wish.topology_id());
  if (!processes.ok()) return processes.status();
  if (!processes->empty()) return false;
  HERON_RETURN_IF_ERROR(EndAndRemoveIf(cli, key, **desired, progress, Sweep::kNo));
  cli.killed_names->Add(key);
  *cli.err << "removed " << key.ToString() << ": " << ExecutionState::State_Name(state.state())
           << " for more than 7 days" << std::endl;
  return true;
}

}  // namespace

void SweepEnded(Cli& cli) {
  auto keys = ListTopologies(*cli.store);
  if (!keys.ok()) return;     // whoever lists them says so
  std::ostringstream unseen;  // nobody asked for this removal: its steps are not shown
  Progress progress(unseen, /*terminal=*/false);
  bool any = false;
  for (const TopologyKey& key : *keys) {
    if (cli.interrupted()) break;
    const auto removed = RemoveIfOld(cli, key, progress);
    if (removed.ok()) {
      any |= *removed;
    } else if (removed.status().code() != heron::StatusCode::kVersionMismatch &&
               removed.status().code() != heron::StatusCode::kNotFound) {
      *cli.err << "note: " << key.ToString()
               << " has ended long ago, but could not be removed: " << removed.status().message()
               << std::endl;
    }
  }
  if (any) SweepPackages(cli, progress);
}

}  // namespace tools::cli
