// Obtains a topology's definition: runs the user's program once as `PROGRAM --heron-describe-fd=N
// -- ARGS`.
//
// The program gets /dev/null as standard input, a process group of its own and nothing of ours but
// descriptor N. When it has ended, or its time is over, everything left in its group is killed.
// Every way to fail has its own message, with the last lines that the program printed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heron/base/clock.h"
#include "heron/base/status.h"
#include "proto/topology.pb.h"

namespace tools::cli {

struct DescribeOptions {
  heron::Duration timeout = std::chrono::seconds(30);
  size_t max_bytes = 64 << 20;
  std::function<bool()> interrupted;  // may be empty
};

struct Description {
  std::string bytes;  // exactly what the program wrote
  heron::proto::Topology topology;
  std::string printed;  // last lines of its standard output and error
};

// A regular file that may be executed; InvalidArgument or NotFound saying what it is instead.
heron::Status CheckProgram(const std::string& program);

// FailedPrecondition for a program that misbehaves; DeadlineExceeded when it does not end in time.
heron::Result<Description> Describe(const std::string& program,
                                    const std::vector<std::string>& arguments,
                                    const DescribeOptions& options);

}  // namespace tools::cli
