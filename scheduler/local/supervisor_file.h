// supervisor.pid: who supervises a topology, as JSON {"pid", "start_ticks", "boot_id",
// "topology_id"}. Written whole (a temporary file and a rename); it exists once the supervisor has
// started all its executors.
#pragma once

#include <string>

#include "heron/base/process_table.h"
#include "heron/base/status.h"

namespace scheduler::local {

struct SupervisorFile {
  heron::ProcessIdentity supervisor;
  std::string topology_id;
};

heron::Status WriteSupervisorFile(const std::string& path, const SupervisorFile& file);
// NotFound when there is none, DataLoss when it is damaged.
heron::Result<SupervisorFile> ReadSupervisorFile(const std::string& path);

// Writes a file with exactly this mode so that readers see the old content or the new one, never a
// part.
heron::Status WriteFileAtomically(const std::string& path, const std::string& content,
                                  unsigned mode);

}  // namespace scheduler::local
