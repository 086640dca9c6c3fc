// Which commit this was built from.
#pragma once

namespace tools::cli {

// Empty unless the build was stamped (README.md, "version").
const char* BuildCommit();

}  // namespace tools::cli
