// Where a component's tuples go. Made once in Open or Prepare by ctx.Output<Types...>(...); cheap
// to copy. A typed emit writes views on the stack and makes one virtual call: no allocation, no
// look-up. Thread: the task's; emits of other threads are refused, RunInTask brings them here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
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
                "a type that no field can have; heron/api/field_type.h has those that can, "
                "heron/api/serializer.h says how to add your own. Unsigned 64-bit integers are "
                "int64_t here");

 public:
  Output() = default;  // emits nowhere: kUnknownStream
  Output(internal::Emitter* emitter, uint32_t stream) : emitter_(emitter), stream_(stream) {}

  // Sends one tuple to the tasks that the groupings of the stream's readers pick; direct readers
  // get nothing. Blocks while there is no room; throws nothing but what a custom grouping or a
  // serializer throws, and then the tuple goes nowhere.
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
  // kNotATask if there is no such task. ctx.TasksOf("bolt") has the tasks. Blocks like Emit; throws
  // nothing but what a serializer throws.
  EmitResult EmitTo(int32_t task, typename internal::FieldType<Types>::Arg... values) {
    if (emitter_ == nullptr) return internal::EmitNowhere();
    return Send([this, task](auto& views) { return emitter_->EmitTo(stream_, task, views); },
                values...);
  }

 private:
  static constexpr size_t kCount = sizeof...(Types);
  static constexpr bool kOwned = (internal::IsOwnedFieldType<Types> || ...);
  static constexpr bool kSerialized = (internal::IsSerializedFieldType<Types> || ...);
  static constexpr size_t kMaxKeptBytes = 1 << 20;

  // Lists and values of any type are copied; what a serializer writes lies in strings that are used
  // again; the rest is not copied.
  template <typename Do>
  static EmitResult Send(Do send, typename internal::FieldType<Types>::Arg... values) {
    if constexpr (kOwned) {
      const std::array<Value, kCount> owned{OwnedOf<Types>(values)...};
      const internal::ValueViews owned_views(owned);
      return SendViews(send, owned_views.views().data(), values...);
    } else {
      return SendViews(send, nullptr, values...);
    }
  }

  template <typename Do>
  static EmitResult SendViews(Do send, [[maybe_unused]] const FieldView* owned,
                              typename internal::FieldType<Types>::Arg... values) {
    [[maybe_unused]] size_t i = 0;
    if constexpr (kSerialized) {
      static thread_local std::array<std::string, kCount> written;
      const std::array<FieldView, kCount> views{ViewOf<Types>(values, owned, written, i++)...};
      const EmitResult result = send(views);
      for (std::string& bytes : written) {
        if (bytes.capacity() > kMaxKeptBytes) bytes = std::string();
      }
      return result;
    } else {
      [[maybe_unused]] std::array<std::string, 0> none;
      const std::array<FieldView, kCount> views{ViewOf<Types>(values, owned, none, i++)...};
      return send(views);
    }
  }

  template <typename T>
  static FieldView ViewOf(typename internal::FieldType<T>::Arg value,
                          [[maybe_unused]] const FieldView* owned, [[maybe_unused]] auto& written,
                          [[maybe_unused]] size_t i) {
    if constexpr (internal::IsOwnedFieldType<T>) {
      return owned[i];
    } else if constexpr (internal::IsSerializedFieldType<T>) {
      written[i].clear();
      const bool present = internal::FieldType<T>::Write(value, written[i]);
      return present ? FieldView::Bytes(written[i]) : FieldView::Null();
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
