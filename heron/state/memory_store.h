// A state store in this process's memory, for tests and simulation.
#pragma once

#include <memory>
#include <string>

#include "heron/base/clock.h"
#include "heron/state/state_store.h"

namespace heron::state {

// The values. Several MemoryStores on one tree are several clients of one store. Any thread.
class MemoryTree;
std::shared_ptr<MemoryTree> MakeMemoryTree();
// The tree of that name in this process; made when it is asked for first.
std::shared_ptr<MemoryTree> SharedMemoryTree(const std::string& name);

std::unique_ptr<StateStore> MakeMemoryStore(std::shared_ptr<MemoryTree> tree = MakeMemoryTree());

}  // namespace heron::state
