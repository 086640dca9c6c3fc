#include "tools/cli/kill.h"

#include "tools/cli/ended_sweep.h"
#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/removal.h"

namespace tools::cli {

heron::Status KillCommand(Cli& cli, const heron::state::TopologyKey& key) {
  {
    Progress progress(*cli.err, cli.terminal);
    const heron::Status removed = EndAndRemove(cli, key, progress);
    if (removed.ok()) {
      cli.killed_names->Add(key);
    } else if (removed.code() != heron::StatusCode::kNotFound || !cli.killed_names->Contains(key)) {
      return removed;
    }
  }
  SweepEnded(cli);
  *cli.out << (cli.json ? DoneJson(key, "KILLED") : "killed " + key.name) << std::endl;
  return heron::Status::Ok();
}

}  // namespace tools::cli
