// The core's settings, from the topology's configuration once it is known.
#pragma once

#include <chrono>
#include <cstddef>

#include "heron/base/clock.h"

namespace heron::stream_manager {

struct CoreSettings {
  size_t queue_high_bytes = 8u << 20;    // topology.queue.high.bytes; the low mark is a quarter of it
  size_t frame_max_bytes = 9u << 20;     // topology.tuple.max.bytes + 1 MiB; larger frames are dropped
  size_t lane_bytes = 256u << 10;        // at most this and one frame wait in a data lane
  size_t confirm_lane_bytes = 1u << 20;  // beyond it EndedConfirmed are dropped (they are repeated)
  size_t ack_lane_bytes = 16u << 20;     // beyond it AckBatches are dropped (their tuples time out)
  size_t control_lane_bytes = 16u << 20; // beyond it state is not re-sent
  // What may be under way from one peer after a task was marked stopped: its lane, socket buffers, some milliseconds.
  size_t peer_in_flight_bytes = 4u << 20;
  Duration destination_grace = std::chrono::seconds(10);  // topology.destination.grace.ms
  Duration heartbeat_interval = std::chrono::milliseconds(500);
  Duration report_spacing = std::chrono::milliseconds(50);
  Duration instance_states_spacing = std::chrono::milliseconds(10);

  size_t queue_low_bytes() const { return queue_high_bytes / 4; }
};

}  // namespace heron::stream_manager
