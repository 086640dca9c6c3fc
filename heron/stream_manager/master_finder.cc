#include "heron/stream_manager/master_finder.h"

#include <glog/logging.h>

#include <utility>

#include "proto/state.pb.h"

namespace heron::stream_manager {
namespace {

// A watch is a hint that may get lost with a store's session.
constexpr Duration kReadInterval = std::chrono::seconds(2);

}  // namespace

MasterFinder::MasterFinder(net::EventLoop& loop, state::AsyncStore& store,
                           const state::TopologyKey& topology, std::string topology_id,
                           OnFound on_found)
    : loop_(loop),
      store_(store),
      path_(state::MasterPath(topology)),
      topology_id_(std::move(topology_id)),
      on_found_(std::move(on_found)) {
  watch_ = store_.WatchNode(path_, [this] { Read(); });
  timer_ = loop_.RunEvery(kReadInterval, [this] { Read(); });
  Read();
}

MasterFinder::~MasterFinder() {
  *alive_ = false;
  loop_.CancelTimer(timer_);
}

void MasterFinder::Read() {
  if (reading_) {
    read_again_ = true;
    return;
  }
  reading_ = true;
  read_again_ = false;
  store_.ReadLease(path_, [this, alive = alive_](Result<state::LeaseView> lease) {
    if (!*alive) return;
    reading_ = false;
    OnLease(lease);
    if (*alive && read_again_) Read();
  });
}

void MasterFinder::OnLease(const Result<state::LeaseView>& lease) {
  if (!lease.ok()) {
    if (lease.status().code() != StatusCode::kNotFound && !reported_error_) {
      LOG(WARNING) << "reading " << path_ << ": " << lease.status().ToString()
                   << "; going on with what is known";
      reported_error_ = true;
    }
    return;
  }
  reported_error_ = false;
  proto::MasterLocation location;
  if (lease->released || !location.ParseFromString(lease->payload)) return;
  if (location.topology_id() != topology_id_) return;
  if (location.host().empty() || location.port() == 0 || location.port() > 65535) return;
  on_found_({location.host(), static_cast<uint16_t>(location.port()), {lease->epoch, 0}});
}

}  // namespace heron::stream_manager
