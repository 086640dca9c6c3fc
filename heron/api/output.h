// Where a component's tuples go. Made once in Open or Prepare by ctx.Output<Types...>(...); cheap
// to copy. A typed emit writes views on the stack and makes one virtual call: no allocation, no
// look-up. Thread: the task's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "heron/api/field_type.h"
#include "heron/api/internal/emitter.h"
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

  // Sends one tuple. Blocks while there is no room; never throws.
  EmitResult Emit(typename internal::FieldType<Types>::Arg... values) {
    if (emitter_ == nullptr) return EmitResult::kUnknownStream;
    if constexpr ((internal::IsOwnedFieldType<Types> || ...)) {
      return EmitOwned(values...);
    } else {
      const std::array<FieldView, sizeof...(Types)> views{
          internal::FieldType<Types>::View(values)...};
      return emitter_->Emit(stream_, views);
    }
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

  // With lists or values of any type: these are copied, the rest is not.
  EmitResult EmitOwned(typename internal::FieldType<Types>::Arg... values) {
    const std::array<Value, sizeof...(Types)> owned{OwnedOf<Types>(values)...};
    const internal::ValueViews owned_views(owned);
    size_t i = 0;
    const std::array<FieldView, sizeof...(Types)> views{
        ViewOf<Types>(values, owned_views.views()[i++])...};
    return emitter_->Emit(stream_, views);
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

 private:
  internal::Emitter* emitter_ = nullptr;
  uint32_t stream_ = 0;
  std::vector<internal::DeclaredType> types_;
};

}  // namespace heron
