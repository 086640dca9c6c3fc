#include "heron/testing/task_harness.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>

#include "heron/api/internal/builder_access.h"
#include "heron/api/internal/task_facts.h"
#include "heron/api/task_runner.h"
#include "heron/model/tuple_codec.h"
#include "proto/topology.pb.h"

namespace heron::testing {

using heron::internal::BuilderAccess;
using heron::internal::OutputDeclaration;

// Outlives the harness: users may keep it.
class TaskHarness::Calls : public heron::internal::CallTarget {
 public:
  // Nobody empties the queue meanwhile, so there is no waiting for room.
  bool Post(std::unique_ptr<heron::internal::Call> call, bool /*wait*/) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || calls_.size() >= TaskRunner::kMaxWaiting) return false;
    calls_.push_back(std::move(call));
    return true;
  }
  std::vector<std::unique_ptr<heron::internal::Call>> Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(calls_, {});
  }
  void Close() {
    std::vector<std::unique_ptr<heron::internal::Call>> dropped;  // without the lock: user code
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    dropped.swap(calls_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<heron::internal::Call>> calls_;
  bool closed_ = false;
};

class TaskHarness::Wakes : public heron::internal::WakeTarget {
 public:
  void Wake() override { woken_ = true; }
  bool Take() { return woken_.exchange(false); }

 private:
  std::atomic<bool> woken_{false};
};

TaskHarness::TaskHarness(HarnessOptions options)
    : tasks_(std::move(options.tasks)),
      calls_(std::make_shared<Calls>()),
      wakes_(std::make_shared<Wakes>()) {
  facts_.topology = "test";
  facts_.topology_id = "test-1";
  facts_.component = std::move(options.component);
  facts_.task = options.task;
  facts_.index = options.index;
  facts_.parallelism = options.parallelism;
  facts_.container = 1;
  facts_.arguments = std::move(options.arguments);
  facts_.config = std::move(options.config);
  facts_.container_folder = std::move(options.container_folder);
  tasks_.try_emplace(facts_.component, std::vector<int32_t>{facts_.task});
  PlaceTasks();
}

TaskHarness::TaskHarness(const TopologyBuilder& builder, const std::string& component,
                         HarnessOptions options)
    : strict_(true), calls_(std::make_shared<Calls>()), wakes_(std::make_shared<Wakes>()) {
  const std::vector<std::string> mistakes = BuilderAccess::Mistakes(builder);
  if (!mistakes.empty()) {
    std::string text = "topology '" + builder.name() + "' has mistakes:";
    for (const std::string& mistake : mistakes) text += "\n  " + mistake;
    throw std::invalid_argument(text);
  }
  const proto::Topology& topology = BuilderAccess::Definition(builder);
  const proto::Component* found = nullptr;
  int32_t next_task = 1;
  for (const proto::Component& each : topology.components()) {
    std::vector<int32_t>& tasks = tasks_[each.name()];
    for (uint32_t i = 0; i < each.parallelism(); ++i) tasks.push_back(next_task++);
    info_.components.push_back(heron::internal::InfoOf(each));
    if (each.name() == component) found = &each;
  }
  if (found == nullptr) {
    throw std::invalid_argument("topology '" + builder.name() + "' has no component '" + component +
                                "'");
  }
  facts_ = heron::internal::FactsOf(topology, *found);
  facts_.topology_id = facts_.topology + "-1";
  const std::vector<int32_t>& own = tasks_[component];
  if (options.index < 0 || static_cast<size_t>(options.index) >= own.size()) {
    throw std::invalid_argument("component '" + component + "' has no task with index " +
                                std::to_string(options.index));
  }
  facts_.index = options.index;
  facts_.task = own[static_cast<size_t>(options.index)];
  facts_.container = 1;
  facts_.arguments = std::move(options.arguments);
  facts_.container_folder = std::move(options.container_folder);
  for (auto& [key, value] : options.config) facts_.config[key] = value;
  for (auto& [name, tasks] : options.tasks) tasks_[name] = tasks;
  PlaceTasks();
  for (const OutputDeclaration& output : facts_.outputs) streams_.push_back(output.stream);
}

TaskHarness::~TaskHarness() { calls_->Close(); }

void TaskHarness::Declare(OutputDeclaration declaration) {
  if (std::count(streams_.begin(), streams_.end(), declaration.stream) > 0) {
    throw std::invalid_argument("stream '" + declaration.stream + "' is declared already");
  }
  streams_.push_back(declaration.stream);
  facts_.outputs.push_back(std::move(declaration));
}

std::vector<Row> TaskHarness::Emitted(std::string_view stream) const {
  std::vector<Row> rows;
  for (const Emission& emission : emissions_) {
    if (emission.stream == stream && !emission.task) rows.push_back(emission.row);
  }
  return rows;
}

std::vector<Row> TaskHarness::EmittedTo(int32_t task, std::string_view stream) const {
  std::vector<Row> rows;
  for (const Emission& emission : emissions_) {
    if (emission.stream == stream && emission.task == task) rows.push_back(emission.row);
  }
  return rows;
}

void TaskHarness::Clear() {
  emissions_.clear();
  refusals_.clear();
}

void TaskHarness::RunCalls() {
  for (const auto& call : calls_->Take()) {
    InTask([&] { call->Run(); });
  }
}

void TaskHarness::CloseCalls() { calls_->Close(); }
bool TaskHarness::TakeWoken() { return wakes_->Take(); }

const heron::TopologyInfo& TaskHarness::topology_info() { return info_; }

void TaskHarness::PlaceTasks() {
  info_.containers = 1;
  for (const auto& [name, tasks] : tasks_) {
    if (info_.Find(name) == nullptr) info_.components.push_back({.name = name});
    for (heron::ComponentInfo& component : info_.components) {
      if (component.name != name) continue;
      for (size_t i = 0; i < tasks.size(); ++i) {
        component.tasks.push_back({tasks[i], static_cast<int32_t>(i), facts_.container});
      }
    }
  }
}

bool TaskHarness::IsTask(int32_t task) const {
  return std::any_of(tasks_.begin(), tasks_.end(), [task](const auto& of) {
    return std::count(of.second.begin(), of.second.end(), task) > 0;
  });
}

std::shared_ptr<heron::internal::WakeTarget> TaskHarness::wake_target() { return wakes_; }
std::shared_ptr<heron::internal::CallTarget> TaskHarness::call_target() { return calls_; }

// Numbers behind those of the declared ones, which are the context's own.
std::optional<uint32_t> TaskHarness::UndeclaredOutput(const OutputDeclaration& output) {
  if (strict_) return std::nullopt;
  const auto at = std::find(streams_.begin(), streams_.end(), output.stream);
  if (at != streams_.end()) return static_cast<uint32_t>(at - streams_.begin());
  streams_.push_back(output.stream);
  return static_cast<uint32_t>(streams_.size() - 1);
}

EmitResult TaskHarness::Emit(uint32_t stream, std::span<const FieldView> values) {
  return Take(stream, std::nullopt, values);
}

EmitResult TaskHarness::EmitTo(uint32_t stream, int32_t task, std::span<const FieldView> values) {
  if (!IsTask(task)) {
    Refused(stream, EmitResult::kNotATask);
    return EmitResult::kNotATask;
  }
  return Take(stream, task, values);
}

EmitResult TaskHarness::EmitWith(uint32_t stream, std::span<const FieldView> values,
                                 const heron::internal::EmitOptions& options) {
  const EmitResult result = Take(stream, std::nullopt, values);
  if (result == EmitResult::kOk && options.id != nullptr) emissions_.back().id = *options.id;
  return result;
}

EmitResult TaskHarness::Take(uint32_t stream, std::optional<int32_t> task,
                             std::span<const FieldView> values) {
  if (model::EncodedTupleBytes(values) == 0) {
    Refused(stream, EmitResult::kTooLarge);
    return EmitResult::kTooLarge;
  }
  Values copies;
  for (const FieldView& value : values) copies.push_back(Value(value));
  emissions_.push_back({streams_.at(stream), task, Row::Of(std::move(copies)), std::nullopt});
  return EmitResult::kOk;
}

void TaskHarness::Refused(uint32_t stream, EmitResult why) {
  refusals_.push_back({stream < streams_.size() ? streams_[stream] : "", why});
}

}  // namespace heron::testing
