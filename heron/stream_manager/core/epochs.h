// heron::Epoch and its message.
#pragma once

#include "heron/base/ids.h"
#include "proto/handshake.pb.h"

namespace heron::stream_manager {

inline Epoch ToEpoch(const proto::Epoch& e) { return {e.incarnation(), e.restart()}; }

inline void FillEpoch(Epoch epoch, proto::Epoch* out) {
  out->set_incarnation(epoch.incarnation);
  out->set_restart(epoch.restart);
}

}  // namespace heron::stream_manager
