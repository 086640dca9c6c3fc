// What a component learns about itself and what it makes its outputs with. Lives as long as the
// component; keep a reference if you need it later. Thread: the task's, except for RunInTask, Waker
// and TaskRunner.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heron/api/args.h"
#include "heron/api/config.h"
#include "heron/api/held_tuple.h"
#include "heron/api/internal/task_runtime.h"
#include "heron/api/output.h"
#include "heron/api/slice.h"
#include "heron/api/task_runner.h"
#include "heron/api/topology_info.h"

namespace heron {

class Tuple;

// Names a stream other than "default": ctx.Output<int64_t>(heron::Stream("errors"), "code").
struct Stream {
  explicit Stream(std::string_view n) : name(n) {}
  std::string name;
};

// Wakes the spout it was made for out of Waiting or Idle. Copies are cheap, any thread may call,
// also after the spout ended.
class Waker {
 public:
  explicit Waker(std::shared_ptr<internal::WakeTarget> target) : target_(std::move(target)) {}
  void Wake() const { target_->Wake(); }
  void operator()() const { Wake(); }

 private:
  std::shared_ptr<internal::WakeTarget> target_;
};

class TaskContext {
 public:
  TaskContext(internal::TaskFacts facts, internal::TaskRuntime& runtime);
  TaskContext(const TaskContext&) = delete;
  TaskContext& operator=(const TaskContext&) = delete;

  const std::string& topology() const { return facts_.topology; }
  const std::string& topology_id() const { return facts_.topology_id; }
  const std::string& component() const { return facts_.component; }
  int32_t task() const { return facts_.task; }                // from 1, unique in the topology
  int32_t index() const { return facts_.index; }              // from 0, within the component
  int32_t parallelism() const { return facts_.parallelism; }  // of the component
  int32_t container() const { return facts_.container; }
  // The tasks of any component of the topology, for EmitTo: [i] is the task with index i. Throws
  // std::out_of_range if there is no such component. Slow: ask once, in Open or Prepare.
  std::vector<int32_t> TasksOf(const std::string& component) const;
  // All components with their streams, inputs, tasks and containers.
  const heron::TopologyInfo& TopologyInfo() const { return runtime_.topology_info(); }
  // Of this container, shared by its tasks; may be written to, gone with the container.
  const std::string& container_folder() const { return facts_.container_folder; }
  // In which relative paths begin: that of the submit, or the container's if it is gone.
  const std::string& working_folder() const { return facts_.working_folder; }
  const heron::Args& arguments() const { return args_; }
  // All that was set, in the topology, in files and at submit, overlaid with the component's own
  // values; values() has it as a map. Keys of the engine that nobody set are not there.
  const heron::Config& Config() const { return config_; }

  // The output "default". Types and names must be those declared, in that order; otherwise
  // TypeError shows both.
  template <typename... Types, typename... Names>
  requires(sizeof...(Types) == sizeof...(Names) &&
           sizeof...(Types) > 0) heron::Output<Types...> Output(const Names&... names) {
    return OutputOf<Types...>("default", {std::string_view(names)...});
  }
  template <typename... Types, typename... Names>
  requires(sizeof...(Types) == sizeof...(Names) &&
           sizeof...(Types) > 0) heron::Output<Types...> Output(const Stream& stream,
                                                                const Names&... names) {
    return OutputOf<Types...>(stream.name, {std::string_view(names)...});
  }
  // For fields known at run time only.
  FieldsOutput OutputFields(std::string_view stream = "default");

  // For threads of your own: runs `function` soon on the task thread; false if the task has ended.
  // task_runner.h has the rules. Thread: any, while the component lives; what may outlive it keeps
  // a TaskRunner.
  template <std::invocable Function>
  bool RunInTask(Function function) {
    return task_runner_.Run(std::move(function));
  }
  heron::TaskRunner TaskRunner() const { return task_runner_; }

 protected:
  internal::TaskRuntime& runtime() { return runtime_; }

 private:
  template <typename... Types>
  heron::Output<Types...> OutputOf(std::string_view stream,
                                   std::array<std::string_view, sizeof...(Types)> names) {
    static constexpr internal::DeclaredType kTypes[] = {internal::FieldType<Types>::kDeclared...};
    const std::string user_types[] = {internal::UserTypeNameOf<Types>().value_or("")...};
    return heron::Output<Types...>(&runtime_.emitter(),
                                   FindOutput(stream, names, kTypes, user_types));
  }
  // The stream's index, if it was declared with these fields; throws TypeError.
  uint32_t FindOutput(std::string_view stream, std::span<const std::string_view> names,
                      std::span<const internal::DeclaredType> types,
                      std::span<const std::string> user_types) const;
  uint32_t StreamIndex(std::string_view stream) const;
  bool Declares(std::string_view stream) const;

  const internal::TaskFacts facts_;
  const heron::Args args_;
  const heron::Config config_;
  internal::TaskRuntime& runtime_;
  const heron::TaskRunner task_runner_;
};

class SpoutContext : public TaskContext {
 public:
  using TaskContext::TaskContext;

  // This task's part of the spout's input.
  heron::Slice Slice() const { return {index(), parallelism()}; }
  // How much of a bounded input was read, 0 to 1; shown to people. Cheap enough for every few
  // tuples.
  void Progress(double fraction);
  heron::Waker Waker() { return heron::Waker(runtime().wake_target()); }
};

class BoltContext : public TaskContext {
 public:
  using TaskContext::TaskContext;

  // Of the tuple that is executed. Normally it is acknowledged when Execute returns.
  // Hold: it is settled later, with HeldTuple::Ack or Fail. Do not hold tuples for Finish: it comes
  // only when everything is acknowledged.
  HeldTuple Hold(const Tuple& in) {
    (void)in;
    return HeldTuple(runtime().HoldTuple());
  }
  // Fail: its spout is told, once Execute has returned.
  void Fail(const Tuple& in) {
    (void)in;
    runtime().FailTuple();
  }
};

}  // namespace heron
