// The lease of stores without ephemeral nodes: a counter in a node, renewed by its holder.
// Decisions are lease_core.h's.
#pragma once

#include <memory>
#include <string>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "heron/state/state_store.h"

namespace heron::state {

// Threads: one that decides and calls the callbacks (so that a loss is told on time), one that
// talks to the store (which may hang). The callbacks must not destroy the lease. The destructor
// waits for the call to the store that runs, then releases. `store` and `clock` must outlive it.
std::unique_ptr<Lease> MakeCountedLease(StateStore& store, const std::string& path,
                                        LeaseOptions options, LeaseEvents events,
                                        const Clock& clock);

// For StateStore::ReadLease.
Result<LeaseView> ReadCountedLease(StateStore& store, const std::string& path);

}  // namespace heron::state
