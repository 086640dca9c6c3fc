// Tells when something that this task's tuples may have been in was lost, and is there again: another
// task's life or connection, a stream manager's. See protocols "known loss" in heron/docs/acking.md.
// Plain object.
#pragma once

#include <map>

#include "heron/base/ids.h"
#include "proto/stream.pb.h"

namespace heron::instance {

class LossWatch {
 public:
  // True: a loss, and all is there again.
  bool OnTaskStates(const proto::TaskStates& states) {
    bool loss = false;
    for (const proto::TaskStates::Task& task : states.tasks()) {
      const Epoch epoch{task.epoch().incarnation(), task.epoch().restart()};
      auto [it, first] = tasks_.try_emplace(task.task(), Known{.epoch = epoch, .lost = false});
      Known& known = it->second;
      if (first) continue;
      if (!task.up() || epoch > known.epoch) known.lost = true;
      if (epoch > known.epoch) known.epoch = epoch;
      if (task.up() && known.lost) {
        known.lost = false;
        loss = true;
      }
    }
    return loss;
  }
  // True for all sessions with the stream manager but the first.
  bool OnSessionUp() {
    const bool again = had_session_;
    had_session_ = true;
    return again;
  }

 private:
  struct Known {
    Epoch epoch;
    bool lost = false;
  };
  std::map<TaskId, Known> tasks_;
  bool had_session_ = false;
};

}  // namespace heron::instance
