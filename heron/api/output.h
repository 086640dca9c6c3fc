// Where a component's tuples go. Made once in Open or Prepare by ctx.Output<Types...>(...); cheap
// to copy. A typed emit writes views on the stack and makes one virtual call: no allocation, no
// look-up. Thread: the task's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "heron/api/field_type.h"
#include "heron/api/held_tuple.h"
#include "heron/api/internal/emitter.h"
#include "heron/api/message_id.h"
#include "heron/api/value.h"

namespace heron {

template <typename... Types>
class Output {
  static_assert((internal::IsFieldType<Types> && ...),
                "a type that no field can have; see heron/api/field_type.h. Unsigned 64-bit "
                "integers are int64_t here");

 public:
  Output() = default;  // emits nowhere: kUnknownStream
  Output(internal::Emitter* emitter, uint32_t stream) : emitter_(emitter), stream_(stream) {}

  // Sends one tuple to the tasks that the groupings of the stream's readers pick; direct readers
  // get nothing. Blocks while there is no room; throws nothing but what a custom grouping throws.
  EmitResult Emit(typename internal::FieldType<Types>::Arg... values) {
    if (emitter_ == nullptr) return internal::EmitNowhere();
    return Send([this](auto& views) { return emitter_->Emit(stream_, views); }, values...);
  }

  // Of a spout: the same, and Spout::Ack or Spout::Fail will say of this id what became of the tuple
  // and all that came of it. Not tracked, and acknowledged at once, unless topology.reliability.mode
  // is ATLEAST_ONCE.
  EmitResult Emit(const MessageId& id, typename internal::FieldType<Types>::Arg... values) {
    return EmitWith({.id = &id}, values...);
  }
  // Of a bolt: the tuple comes of these held tuples, not of the one that is executed.
  EmitResult Emit(const Anchors& anchors, typename internal::FieldType<Types>::Arg... values) {
    return EmitWith({.has_anchors = true, .anchors = anchors.held()}, values...);
  }
  // Of a bolt: nobody waits for this tuple, and its loss fails nothing.
  EmitResult EmitUnanchored(typename internal::FieldType<Types>::Arg... values) {
    return EmitWith({.unanchored = true}, values...);
  }

  // Sends one tuple to this task of a bolt that reads the stream by Direct, and to nobody else;
  // kNotATask if there is no such task. ctx.TasksOf("bolt") has the tasks. Blocks like Emit; never
  // throws.
  EmitResult EmitTo(int32_t task, typename internal::FieldType<Types>::Arg... values) {
    if (emitter_ == nullptr) return internal::EmitNowhere();
    return Send([this, task](auto& views) { return emitter_->EmitTo(stream_, task, views); },
                values...);
  }

 private:
  template <typename T>
  static FieldView ViewOf(typename internal::FieldType<T>::Arg value, FieldView owned) {
    if constexpr (internal::IsOwnedFieldType<T>) {
      return owned;
    } else {
      return internal::FieldType<T>::View(value);
    }
  }

  template <typename T>
  static Value OwnedOf(typename internal::FieldType<T>::Arg value) {
    if constexpr (internal::IsOwnedFieldType<T>) {
      return Value(value);
    } else {
      return Value();
    }
  }

  EmitResult EmitWith(const internal::EmitOptions& options,
                      typename internal::FieldType<Types>::Arg... values) {
    if (emitter_ == nullptr) return internal::EmitNowhere();
    return Send(
        [&](auto& views) { return emitter_->EmitWith(stream_, views, options); }, values...);
  }

  // Lists and values of any type are copied, the rest is not.
  template <typename Do>
  static EmitResult Send(Do send, typename internal::FieldType<Types>::Arg... values) {
    if constexpr ((internal::IsOwnedFieldType<Types> || ...)) {
      const std::array<Value, sizeof...(Types)> owned{OwnedOf<Types>(values)...};
      const internal::ValueViews owned_views(owned);
      size_t i = 0;
      const std::array<FieldView, sizeof...(Types)> views{
          ViewOf<Types>(values, owned_views.views()[i++])...};
      return send(views);
    } else {
      const std::array<FieldView, sizeof...(Types)> views{
          internal::FieldType<Types>::View(values)...};
      return send(views);
    }
  }

  internal::Emitter* emitter_ = nullptr;
  uint32_t stream_ = 0;
};

// For components whose fields are known at run time only. Checks number and types of the values
// with each emit.
class FieldsOutput {
 public:
  FieldsOutput() = default;
  FieldsOutput(internal::Emitter* emitter, uint32_t stream,
               std::vector<internal::DeclaredType> types)
      : emitter_(emitter), stream_(stream), types_(std::move(types)) {}

  EmitResult EmitFields(std::span<const FieldView> values);
  EmitResult Emit(const Values& values);  // slow: makes views first
  // As Output::Emit with an id, with anchors, and EmitUnanchored.
  EmitResult Emit(const MessageId& id, const Values& values);
  EmitResult Emit(const Anchors& anchors, const Values& values);
  EmitResult EmitUnanchored(const Values& values);
  // To one task of a bolt that reads the stream by Direct; see Output::EmitTo.
  EmitResult EmitFieldsTo(int32_t task, std::span<const FieldView> values);
  EmitResult EmitTo(int32_t task, const Values& values);

 private:
  EmitResult EmitWith(const internal::EmitOptions& options, const Values& values);
  // kOk if the values can be emitted; otherwise it has been counted.
  EmitResult Check(std::span<const FieldView> values);

  internal::Emitter* emitter_ = nullptr;
  uint32_t stream_ = 0;
  std::vector<internal::DeclaredType> types_;
};

}  // namespace heron
