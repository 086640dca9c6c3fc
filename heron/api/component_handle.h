// What TopologyBuilder gives for a spout or a bolt: its streams, its inputs, its settings. Handles
// are small, may be copied, and belong to the builder, which must outlive them. Nothing throws and
// nothing is checked one by one: Build tells all mistakes at once. Thread: one.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heron/api/component.h"
#include "heron/api/field_type.h"
#include "heron/api/internal/factory.h"
#include "heron/routing/custom_grouping.h"

namespace heron {

class TopologyBuilder;

namespace internal {
struct FieldDeclaration {
  std::string name;
  DeclaredType type;
  std::optional<std::string> user_type;  // of types with a serializer
};
}  // namespace internal

class ComponentHandle;

// A stream of a component: of a handle ("default", or handle["errors"]), or by names.
class StreamRef {
 public:
  StreamRef(const ComponentHandle& handle);  // NOLINT(google-explicit-constructor)
  StreamRef(std::string component, std::string stream = "default")  // NOLINT
      : component_(std::move(component)), stream_(std::move(stream)) {}
  StreamRef(const char* component) : StreamRef(std::string(component)) {}  // NOLINT

  const std::string& component() const { return component_; }
  const std::string& stream() const { return stream_; }
  bool feedback() const { return feedback_; }

 private:
  friend StreamRef Feedback(StreamRef stream);
  std::string component_;
  std::string stream_;
  bool feedback_ = false;
};

// An input that closes a cycle on purpose: split.Shuffle(heron::Feedback(count["again"])). Such a
// topology does not end by itself in this version: a spout must be without Bounded(). The sender of
// a feedback stream is never held back, or the loop could wait for itself; when the reader's queue
// has reached several times topology.queue.high.bytes, tuples of the stream are dropped and counted
// as "queue_overflow".
inline StreamRef Feedback(StreamRef stream) {
  stream.feedback_ = true;
  return stream;
}

class ComponentHandle {
 public:
  const std::string& name() const;
  StreamRef operator[](std::string_view stream) const { return {name(), std::string(stream)}; }

 protected:
  friend class TopologyBuilder;
  ComponentHandle(TopologyBuilder* builder, size_t index) : builder_(builder), index_(index) {}

  void SetParallelism(int64_t tasks);
  void SetBounded();
  void SetTick(std::chrono::duration<double, std::micro> interval);
  void AddConfig(std::string key, std::string value);
  void AddOutput(std::string stream, std::vector<internal::FieldDeclaration> fields);
  enum class Grouping {
    kShuffle,
    kFields,
    kAll,
    kGlobal,
    kLocalOrShuffle,
    kPartialKey,
    kNone,
    kDirect,
    kCustom
  };
  void AddInput(const StreamRef& from, Grouping grouping, std::vector<std::string> fields);
  void AddCustomInput(const StreamRef& from, internal::GroupingFactory factory);

  TopologyBuilder* builder_;
  size_t index_;
};

inline StreamRef::StreamRef(const ComponentHandle& handle) : StreamRef(handle.name(), "default") {}

namespace internal {

std::string ConfigText(bool value);
std::string ConfigText(int64_t value);
std::string ConfigText(double value);

// What spouts and bolts have in common. `Self` is the handle's own type, so that calls chain.
template <typename Self>
class HandleOf : public ComponentHandle {
 public:
  // How many tasks: 1 to 10000. At submit it can be changed.
  Self& Parallelism(int64_t tasks) {
    SetParallelism(tasks);
    return self();
  }
  // The fields of the stream "default": as many names as types.
  template <typename... Types, typename... Names>
  requires(sizeof...(Types) == sizeof...(Names) &&
           sizeof...(Types) > 0) Self& Declares(const Names&... names) {
    return DeclaresStream<Types...>("default", names...);
  }
  template <typename... Types, typename... Names>
  requires(sizeof...(Types) == sizeof...(Names) &&
           sizeof...(Types) > 0) Self& DeclaresStream(std::string_view stream,
                                                      const Names&... names) {
    static_assert((IsFieldType<Types> && ...),
                  "a type that no field can have; heron/api/field_type.h has those that can, "
                  "heron/api/serializer.h says how to add your own");
    AddOutput(std::string(stream),
              {FieldDeclaration{std::string(std::string_view(names)), FieldType<Types>::kDeclared,
                                UserTypeNameOf<Types>()}...});
    return self();
  }
  // User keys are free; keys that begin with "topology." are the engine's.
  Self& Config(std::string key, std::string value) {
    AddConfig(std::move(key), std::move(value));
    return self();
  }
  template <typename T>
  requires std::is_arithmetic_v<T> Self& Config(std::string key, T value) {
    using Wide = std::conditional_t<std::is_same_v<T, bool>, bool,
                                    std::conditional_t<std::is_integral_v<T>, int64_t, double>>;
    return Config(std::move(key), ConfigText(static_cast<Wide>(value)));
  }

 protected:
  using ComponentHandle::ComponentHandle;
  Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace internal

class SpoutHandle : public internal::HandleOf<SpoutHandle> {
 public:
  // It ends by itself. A topology whose spouts are all bounded finishes, or fails instead of trying
  // for ever.
  SpoutHandle& Bounded() {
    SetBounded();
    return *this;
  }

 private:
  friend class TopologyBuilder;
  using HandleOf::HandleOf;
};

// Each of the calls below lets the bolt read a stream and says which of its tasks get a tuple. The
// end of a stream goes to all tasks, whatever the grouping.
class BoltHandle : public internal::HandleOf<BoltHandle> {
 public:
  // Bolt::Tick is called this often in each task: 1 ms to 1 day, in any unit of std::chrono.
  template <typename Rep, typename Period>
  BoltHandle& Tick(std::chrono::duration<Rep, Period> interval) {
    SetTick(interval);
    return *this;
  }
  // Tuples go to the tasks in turn.
  BoltHandle& Shuffle(const StreamRef& from) { return Input(from, Grouping::kShuffle, {}); }
  // Tuples with equal values in these fields go to the same task.
  template <typename... Names>
  requires(sizeof...(Names) > 0) BoltHandle& Fields(const StreamRef& from, const Names&... fields) {
    return Input(from, Grouping::kFields, {std::string(std::string_view(fields))...});
  }
  // Every task gets every tuple.
  BoltHandle& All(const StreamRef& from) { return Input(from, Grouping::kAll, {}); }
  // The task with the lowest id gets every tuple.
  BoltHandle& Global(const StreamRef& from) { return Input(from, Grouping::kGlobal, {}); }
  // Tuples go in turn to the tasks that are in the emitter's container; if there is none, to all.
  // Saves the way between containers, but is as even as the emitters are spread.
  BoltHandle& LocalOrShuffle(const StreamRef& from) {
    return Input(from, Grouping::kLocalOrShuffle, {});
  }
  // Every key has two tasks; of these, a tuple goes to the one to which its emitter has sent less
  // so far. Keys that are much more frequent than others load two tasks instead of one, and who
  // aggregates by key adds up two parts. The fields are those of the key, as with Fields.
  template <typename... Names>
  requires(sizeof...(Names) > 0) BoltHandle& PartialKey(const StreamRef& from,
                                                        const Names&... fields) {
    return Input(from, Grouping::kPartialKey, {std::string(std::string_view(fields))...});
  }
  // For who does not care which task gets a tuple: the same as Shuffle in this version.
  BoltHandle& None(const StreamRef& from) { return Input(from, Grouping::kNone, {}); }
  // The emitter names the task, with Output::EmitTo; what it emits with Emit goes to the stream's
  // other readers only.
  BoltHandle& Direct(const StreamRef& from) { return Input(from, Grouping::kDirect, {}); }
  // An object of yours chooses. `factory` gives a heron::CustomGrouping, by value or as a
  // unique_ptr; it is called once in each emitting task's process, where the object then runs.
  template <std::invocable Factory>
  BoltHandle& Custom(const StreamRef& from, Factory factory) {
    AddCustomInput(from, internal::Wrap<CustomGrouping>(std::move(factory)));
    return *this;
  }

 private:
  friend class TopologyBuilder;
  using HandleOf::HandleOf;
  BoltHandle& Input(const StreamRef& from, Grouping grouping, std::vector<std::string> fields) {
    AddInput(from, grouping, std::move(fields));
    return *this;
  }
};

}  // namespace heron
