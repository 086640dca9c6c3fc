#include "heron/state/store_look.h"

#include <optional>
#include <utility>

namespace heron::state {
namespace {

// False when nothing can be said: unreachable or damaged.
template <typename Message>
bool Understand(const Result<state::VersionedValue>& read, std::optional<Message>* out) {
  if (!read.ok()) return read.status().code() == StatusCode::kNotFound;
  out->emplace();
  return (*out)->ParseFromString(read->value);
}

}  // namespace

model::StoreVerdict LookNow(StateStore& store, const TopologyKey& key,
                            const std::string& topology_id) {
  model::StoreView view;
  if (!Understand(store.Get(DesiredPath(key)), &view.desired)) return model::StoreVerdict::kGoOn;
  if (!Understand(store.Get(ExecutionStatePath(key)), &view.execution)) view.execution.reset();
  return model::Judge(view, topology_id);
}

StoreLook::StoreLook(AsyncStore& store, TopologyKey key, std::string topology_id)
    : store_(store), key_(std::move(key)), topology_id_(std::move(topology_id)) {}

StoreLook::~StoreLook() { *alive_ = false; }

void StoreLook::Read(std::function<void(model::StoreVerdict)> done) {
  if (reading_) return;
  reading_ = true;
  store_.Get(state::DesiredPath(key_), [this, alive = alive_, done = std::move(done)](
                                           Result<state::VersionedValue> read) mutable {
    if (!*alive) return;
    model::StoreView view;
    if (!Understand(read, &view.desired)) {
      reading_ = false;
      done(model::StoreVerdict::kGoOn);
      return;
    }
    ReadExecution(std::move(view), std::move(done));
  });
}

void StoreLook::ReadExecution(model::StoreView view, std::function<void(model::StoreVerdict)> done) {
  store_.Get(state::ExecutionStatePath(key_),
             [this, alive = alive_, view = std::move(view),
              done = std::move(done)](Result<state::VersionedValue> read) mutable {
               if (!*alive) return;
               reading_ = false;
               if (!Understand(read, &view.execution)) view.execution.reset();
               done(model::Judge(view, topology_id_));
             });
}

}  // namespace heron::state
