// What the engine gives a task's context.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heron/api/field_type.h"
#include "heron/api/internal/emitter.h"
#include "heron/api/topology_info.h"

namespace heron::internal {

struct OutputDeclaration {
  std::string stream;
  std::vector<std::string> names;
  std::vector<DeclaredType> types;
  std::vector<std::string> user_types;  // as many; empty where there is no serializer
};

// Who the task is. Filled by the engine from the running (not the described) definition and the
// plan.
struct TaskFacts {
  std::string topology;
  std::string topology_id;
  std::string component;
  int32_t task = 0;
  int32_t index = 0;  // of the component, from 0
  int32_t parallelism = 1;
  int32_t container = 0;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> config;  // the topology's overlaid with the component's
  std::string container_folder;
  std::string working_folder;
  std::vector<OutputDeclaration> outputs;  // in declared order; the index is Emitter's `stream`
};

// Wakes a spout that waits or idles. Called from any thread, also after the task has ended.
class WakeTarget {
 public:
  virtual ~WakeTarget() = default;
  virtual void Wake() = 0;
};

// A function that is to run on the task thread. It need not be copyable.
class Call {
 public:
  virtual ~Call() = default;
  virtual void Run() = 0;
};

// Where other threads leave calls. Called from any thread, also after the task has ended.
class CallTarget {
 public:
  virtual ~CallTarget() = default;
  // False: it will not run. `wait`: until there is room.
  virtual bool Post(std::unique_ptr<Call> call, bool wait) = 0;
};

// Thread: the task's. Outlives the contexts and outputs made with it.
class TaskRuntime {
 public:
  virtual ~TaskRuntime() = default;
  virtual Emitter& emitter() = 0;
  virtual const TopologyInfo& topology_info() = 0;
  virtual void SetProgress(double fraction) = 0;  // 0 to 1, already clamped
  virtual std::shared_ptr<WakeTarget> wake_target() = 0;
  // Of the tuple that is executed. nullptr where tuples are not tracked, or none is executed.
  virtual std::shared_ptr<Held> HoldTuple() { return nullptr; }
  virtual void FailTuple() {}
  virtual std::shared_ptr<CallTarget> call_target() = 0;
  // An output that the definition does not have: Emitter's `stream` for it, or nullopt if that is a
  // mistake. A component under test has no definition.
  virtual std::optional<uint32_t> UndeclaredOutput(const OutputDeclaration&) {
    return std::nullopt;
  }
};

}  // namespace heron::internal
