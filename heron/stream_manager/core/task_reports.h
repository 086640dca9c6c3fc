// The last report of each local instance, for the topology master. Plain object; the owner's thread.
#pragma once

#include <map>

#include "heron/base/ids.h"
#include "heron/stream_manager/core/router.h"
#include "proto/master.pb.h"
#include "proto/state.pb.h"

namespace heron::stream_manager {

class TaskReports {
 public:
  // True if something changed that the master should know soon; mere counters can wait for the next interval.
  bool Apply(TaskId task, const proto::TaskStatus& status);
  // The session is gone. The counters stay as they were.
  void Down(TaskId task);

  // What this stream manager dropped is added to the tasks' own counts; what waits for them and who holds them back to
  // what they say.
  void AddTo(const Router& router, proto::StreamManagerReport* report) const;

 private:
  std::map<TaskId, proto::TaskStatus> statuses_;
};

}  // namespace heron::stream_manager
