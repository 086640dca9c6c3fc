// Exit codes of the engine's own processes. The executor's and the supervisor's restart policy reads them.
#pragma once

namespace heron {

inline constexpr int kExitOk = 0;              // done; do not restart
inline constexpr int kExitError = 1;           // could not go on; restart with back-off
inline constexpr int kExitUsage = 2;           // bad command line
inline constexpr int kExitUserError = 10;      // user code threw; restart with back-off
inline constexpr int kExitUnrecoverable = 11;  // user code threw heron::Unrecoverable; the topology fails
inline constexpr int kExitDefinitionDiffers = 12;  // main() built another topology in the container; the topology fails
inline constexpr int kExitFenced = 20;         // a newer incarnation holds this place; the whole container exits for good
inline constexpr int kExitNotWanted = 21;      // killed, or another topology id holds the name; do not restart
inline constexpr int kExitParentDied = 22;     // the executor went away while this child started
inline constexpr int kExitStopped = 23;        // SIGTERM by somebody else than the parent; restart, no failure

}  // namespace heron
