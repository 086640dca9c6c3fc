#include "tools/cli/kill.h"

#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/removal.h"

namespace tools::cli {

heron::Status KillCommand(Cli& cli, const heron::state::TopologyKey& key) {
  {
    Progress progress(*cli.err, cli.terminal);
    HERON_RETURN_IF_ERROR(EndAndRemove(cli, key, progress));
  }
  *cli.out << (cli.json ? DoneJson(key, "KILLED") : "killed " + key.name) << std::endl;
  return heron::Status::Ok();
}

}  // namespace tools::cli
