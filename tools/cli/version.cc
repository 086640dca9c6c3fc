#include "tools/cli/version.h"

#include <string>

#include "heron/base/version.h"
#include "tools/cli/commit.h"
#include "tools/cli/json_output.h"

namespace tools::cli {

heron::Status VersionCommand(Cli& cli) {
  const std::string commit = BuildCommit();
  if (cli.json) {
    *cli.out << VersionJson(heron::kEngineVersion, commit) << std::endl;
  } else {
    *cli.out << "heron " << heron::kEngineVersion << (commit.empty() ? "" : " (" + commit + ")")
             << std::endl;
  }
  return heron::Status::Ok();
}

}  // namespace tools::cli
