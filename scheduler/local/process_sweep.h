// Ending every process of a topology, without the help of any of them.
//
// Threads: any; blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/process_table.h"
#include "heron/base/status.h"
#include "scheduler/scheduler.h"

namespace scheduler::local {

// "supervisor", "executor 2", "topology master", "stream manager 1", "instance split[3] (task 7)";
// anything else is what user code started: "sleep, started by user code". Without the pid.
ProcessInfo DescribeProcess(const std::vector<std::string>& command_line);

// Kills every process whose environment has `entry` ("HERON_TOPOLOGY_ID=..."), with all
// descendants, this process excepted. All are frozen before the first is killed, so that none can
// start another one meanwhile; repeated until a search finds nothing. DeadlineExceeded names those
// that are left.
heron::Status EndAllProcesses(std::string_view entry, heron::Duration timeout);

}  // namespace scheduler::local
