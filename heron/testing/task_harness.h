// What BoltHarness and SpoutHarness have in common: who the task is, what it may emit and what it
// did emit. A component runs in the test's own thread, without an engine; what it throws comes out
// of the call that ran it.
//
// Thread: one, the test's. The component's own threads may use RunInTask, TaskRunner and Waker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heron/api/context.h"
#include "heron/api/field_type.h"
#include "heron/api/internal/emitter.h"
#include "heron/api/internal/task_runtime.h"
#include "heron/api/message_id.h"
#include "heron/api/topology_builder.h"
#include "heron/testing/row.h"

namespace heron::testing {

// Who the task is, as its context says it.
struct HarnessOptions {
  std::string component = "component";
  int32_t task = 1;
  int32_t index = 0;  // within the component
  int32_t parallelism = 1;
  std::vector<std::string> arguments = {};         // of the program, behind --
  std::map<std::string, std::string> config = {};  // with a builder: over what it has
  std::string container_folder = ".";
  // By component: for TasksOf, TopologyInfo and EmitTo. With a builder: over what it has.
  std::map<std::string, std::vector<int32_t>> tasks = {};
};

struct Emission {
  std::string stream;
  std::optional<int32_t> task;  // of EmitTo
  Row row;
  std::optional<MessageId> id;  // of a spout that wants to hear of it
};

// An emit that went nowhere.
struct Refusal {
  std::string stream;  // empty: of an Output that no context made
  EmitResult why = EmitResult::kOk;
};

class TaskHarness : private heron::internal::TaskRuntime, private heron::internal::Emitter {
 public:
  // What was emitted with Emit, in order.
  std::vector<Row> Emitted(std::string_view stream = "default") const;
  // What was emitted with EmitTo to this task.
  std::vector<Row> EmittedTo(int32_t task, std::string_view stream = "default") const;
  const std::vector<Emission>& emissions() const { return emissions_; }  // everything, in order
  const std::vector<Refusal>& refusals() const { return refusals_; }
  void Clear();  // forgets emissions and refusals

  double progress() const { return progress_; }  // negative: nothing was said
  // Runs the functions that RunInTask and TaskRunner have left here. Every call into the component
  // does so before and behind it, as a task does.
  void RunCalls();

  // Makes an output's types and names count: without a declaration a component may ask for what it
  // likes. With a builder everything is declared.
  template <typename... Types, typename... Names>
  requires(sizeof...(Types) == sizeof...(Names) &&
           sizeof...(Types) > 0) void Declares(const Names&... names) {
    DeclaresStream<Types...>("default", names...);
  }
  template <typename... Types, typename... Names>
  requires(sizeof...(Types) == sizeof...(Names) &&
           sizeof...(Types) > 0) void DeclaresStream(std::string_view stream,
                                                     const Names&... names) {
    Declare({std::string(stream),
             {std::string(std::string_view(names))...},
             {heron::internal::FieldType<Types>::kDeclared...},
             {heron::internal::UserTypeNameOf<Types>().value_or("")...}});
  }

 protected:
  explicit TaskHarness(HarnessOptions options);
  // Of a component of `builder`. std::invalid_argument if there is none, or the topology has
  // mistakes.
  TaskHarness(const TopologyBuilder& builder, const std::string& component, HarnessOptions options);
  ~TaskHarness() override;
  TaskHarness(const TaskHarness&) = delete;
  TaskHarness& operator=(const TaskHarness&) = delete;

  heron::internal::TaskRuntime& runtime() { return *this; }
  const heron::internal::TaskFacts& facts() const { return facts_; }
  void CloseCalls();
  bool TakeWoken();

  // Runs user code as on a task thread.
  template <typename Function>
  decltype(auto) InTask(Function function) {
    struct Current {
      explicit Current(heron::internal::Emitter* emitter)
          : before(std::exchange(heron::internal::current_emitter, emitter)) {}
      ~Current() { heron::internal::current_emitter = before; }
      heron::internal::Emitter* const before;
    } current(this);
    return function();
  }

 private:
  class Calls;
  class Wakes;

  void Declare(heron::internal::OutputDeclaration declaration);
  void PlaceTasks();
  bool IsTask(int32_t task) const;

  // heron::internal::TaskRuntime
  heron::internal::Emitter& emitter() override { return *this; }
  const heron::TopologyInfo& topology_info() override;
  void SetProgress(double fraction) override { progress_ = fraction; }
  std::shared_ptr<heron::internal::WakeTarget> wake_target() override;
  std::shared_ptr<heron::internal::CallTarget> call_target() override;
  std::optional<uint32_t> UndeclaredOutput(
      const heron::internal::OutputDeclaration& output) override;

  // heron::internal::Emitter
  EmitResult Emit(uint32_t stream, std::span<const FieldView> values) override;
  EmitResult EmitTo(uint32_t stream, int32_t task, std::span<const FieldView> values) override;
  EmitResult EmitWith(uint32_t stream, std::span<const FieldView> values,
                      const heron::internal::EmitOptions& options) override;
  void Refused(uint32_t stream, EmitResult why) override;
  EmitResult Take(uint32_t stream, std::optional<int32_t> task, std::span<const FieldView> values);

  heron::internal::TaskFacts facts_;
  std::map<std::string, std::vector<int32_t>> tasks_;
  heron::TopologyInfo info_;          // with the tasks of tasks_
  bool strict_ = false;               // everything is declared
  std::vector<std::string> streams_;  // by the number that emits have
  std::vector<Emission> emissions_;
  std::vector<Refusal> refusals_;
  double progress_ = -1;
  const std::shared_ptr<Calls> calls_;
  const std::shared_ptr<Wakes> wakes_;
};

}  // namespace heron::testing
