// What every command works with. A test gives a memory store, a fake scheduler, string streams and
// a clock of its own.
//
// Commands return a Status: ok is exit code 0, anything else is 1 with the message on standard
// error. Mistakes in the command line itself are found by main() before a command runs (exit code
// 2).
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/state/paths.h"
#include "heron/state/state_store.h"
#include "scheduler/scheduler.h"
#include "scheduler/uploader/local_folder.h"
#include "tools/cli/failed_submits.h"
#include "tools/cli/killed_names.h"

namespace tools::cli {

// Nothing is owned; everything outlives the command.
struct Cli {
  heron::state::StateStore* store = nullptr;
  scheduler::Scheduler* scheduler = nullptr;
  scheduler::LocalFolder* packages = nullptr;
  KilledNames* killed_names = nullptr;
  FailedSubmits* failed_submits = nullptr;
  const heron::Clock* clock = nullptr;
  std::ostream* out = nullptr;  // results: what a program reads
  std::ostream* err = nullptr;  // progress, warnings, failures: what a person reads
  bool terminal = false;        // `err` is one: progress in place, colours
  bool json = false;            // --output json
  bool error_printed = false;   // as JSON, by the command itself
  std::string cluster = "local";
  std::string default_cluster = "local";  // of commands that name none
  std::string default_role;
  std::string default_env = "default";
  std::string by;  // user@host:pid, as stored with every wish

  // Returns early when interrupted.
  std::function<void(heron::Duration)> sleep;
  // Ctrl-C (or SIGTERM, SIGHUP) came.
  std::function<bool()> interrupted;
};

// "heron kill NAME", with CLUSTER/ROLE/ENV where the command needs it: what a message tells to do.
inline std::string CommandText(const Cli& cli, const std::string& command,
                               const heron::state::TopologyKey& key) {
  const bool by_default = cli.cluster == cli.default_cluster && key.role == cli.default_role &&
                          key.env == cli.default_env;
  return "heron " + command + " " +
         (by_default ? "" : cli.cluster + "/" + key.role + "/" + key.env + " ") + key.name;
}

// How often state is read while waiting.
inline constexpr heron::Duration kPollInterval = std::chrono::milliseconds(50);

}  // namespace tools::cli
