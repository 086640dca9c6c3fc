// A whole topology in this process: executors, topology master, stream managers and instances as
// threads that talk over loopback, with the state store in memory. Plans, protocols and life cycle
// are those of a cluster; what differs stands in heron/docs/life_of_a_topology.md, "Local mode".
//
// Any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heron/api/topology_builder.h"
#include "heron/base/status.h"
#include "proto/state.pb.h"
#include "scheduler/definition/definition.h"

namespace heron::local {

class LocalTopology {
 public:
  struct Options {
    const TopologyBuilder* builder = nullptr;  // outlives it
    scheduler::Definition definition;
    std::vector<std::string> arguments;
    // The state changed, or everything has ended. From a thread of its own; must not wait for the
    // topology.
    std::function<void()> changed = [] {};
  };

  static Result<std::unique_ptr<LocalTopology>> Start(Options options);
  // Stops and waits, however long user code takes to return.
  ~LocalTopology();

  // Ends everything as `heron kill` does: Close and Cleanup run, Finish does not.
  void Stop();
  // Every thread has ended.
  bool ended() const;
  proto::ExecutionState State() const;
  // "count[1]": tasks that are alive.
  std::vector<std::string> RunningTasks() const;
  // The container folders. For a process that leaves without the destructor.
  void RemoveFolder();

 private:
  struct Impl;
  explicit LocalTopology(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace heron::local
