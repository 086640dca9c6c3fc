// How a source's reader tells how far it is without being handed the context.
#pragma once

namespace heron::internal {

// Where the readers of the spout whose thread this is put their progress, 0 to 1; nullptr elsewhere
// and once the spout tells it by itself.
inline thread_local double* reader_progress = nullptr;

}  // namespace heron::internal
