// A tuple that a bolt receives: views into the batch it came in. Valid until Execute returns; copy
// what you keep
// (`ToValues`, or std::string of what String gives).
//
// Reading by index costs a comparison. Reading by name looks the name up with every call: fine for
// rare streams, slower. A wrong index, name or type throws TypeError that names component, stream,
// field and both types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "heron/api/field_type.h"
#include "heron/api/serializer.h"
#include "heron/api/value.h"
#include "heron/model/field_view.h"
#include "heron/model/tuple_codec.h"

namespace heron {

namespace internal {
struct TupleOrigin;
class TupleReader;
}  // namespace internal

// The items of a list field, to be gone through.
//   for (model::ListItems items = in.List(0).Items(); items.Next(item);) ...
class ListView {
 public:
  explicit ListView(const FieldView& list) : list_(list) {}
  size_t size() const { return list_.list_size(); }
  bool empty() const { return size() == 0; }
  model::ListItems Items() const { return model::ListItems(list_); }
  heron::List ToList() const;  // a copy
  const FieldView& view() const { return list_; }

 private:
  FieldView list_;
};

class Tuple {
 public:
  Tuple(const Tuple&) = delete;
  Tuple& operator=(const Tuple&) = delete;

  size_t size() const { return fields_.size(); }
  std::span<const FieldView> fields() const { return fields_; }

  // Where it comes from.
  const std::string& component() const;
  const std::string& stream() const;
  int32_t source_task() const { return source_task_; }

  bool Bool(size_t index) const { return Checked(index, ValueType::kBool).bool_value(); }
  int64_t Int64(size_t index) const { return Checked(index, ValueType::kInt64).int64_value(); }
  double Double(size_t index) const { return Checked(index, ValueType::kDouble).double_value(); }
  std::string_view String(size_t index) const { return Checked(index, ValueType::kString).text(); }
  std::string_view Bytes(size_t index) const { return Checked(index, ValueType::kBytes).text(); }
  ListView List(size_t index) const { return ListView(Checked(index, ValueType::kList)); }
  bool IsNull(size_t index) const { return At(index).is_null(); }
  ValueType Type(size_t index) const { return At(index).type(); }
  heron::Value Value(size_t index) const { return heron::Value(At(index)); }  // a copy

  bool Bool(std::string_view field) const { return Bool(IndexOf(field)); }
  int64_t Int64(std::string_view field) const { return Int64(IndexOf(field)); }
  double Double(std::string_view field) const { return Double(IndexOf(field)); }
  std::string_view String(std::string_view field) const { return String(IndexOf(field)); }
  std::string_view Bytes(std::string_view field) const { return Bytes(IndexOf(field)); }
  ListView List(std::string_view field) const { return List(IndexOf(field)); }
  bool IsNull(std::string_view field) const { return IsNull(IndexOf(field)); }
  ValueType Type(std::string_view field) const { return Type(IndexOf(field)); }
  heron::Value Value(std::string_view field) const { return Value(IndexOf(field)); }

  // As T, which may be any type that Declares takes (heron/api/field_type.h), your own included. A
  // null is read as std::optional<T>. Throws TypeError, also when the field was declared as another
  // type of yours, or does not fit into a smaller integer; SerializerError when its bytes are
  // wrong.
  template <typename T>
  requires internal::IsFieldType<T> T Get(size_t index)
  const;
  template <typename T>
  requires internal::IsFieldType<T> T Get(std::string_view field)
  const { return Get<T>(IndexOf(field)); }

  // Of a field name of the stream it came in; throws TypeError if there is none.
  size_t IndexOf(std::string_view field) const;

  Values ToValues() const;  // a copy

 private:
  friend class internal::TupleReader;
  Tuple() = default;

  const FieldView& At(size_t index) const {
    if (index >= fields_.size()) [[unlikely]]
      ThrowIndex(index);
    return fields_[index];
  }
  const FieldView& Checked(size_t index, ValueType type) const {
    const FieldView& field = At(index);
    if (field.type() != type) [[unlikely]]
      ThrowType(index, ValueTypeName(type));
    return field;
  }
  template <typename T>
  T ReadUserType(size_t index) const;
  // The bytes of a field that is or may be of this type.
  std::string_view BytesOf(size_t index, std::string_view user_type) const;
  [[noreturn]] void ThrowIndex(size_t index) const;
  [[noreturn]] void ThrowType(size_t index, std::string_view asked) const;
  [[noreturn]] void ThrowRange(size_t index, size_t bytes) const;
  // In a catch block: what the serializer threw, with the field's name.
  [[noreturn]] void RethrowUnreadable(size_t index, std::string_view user_type) const;

  std::span<const FieldView> fields_;
  const internal::TupleOrigin* origin_ = nullptr;
  int32_t source_task_ = 0;
};

template <typename T>
T Tuple::ReadUserType(size_t index) const {
  const std::string name = Serializer<T>::TypeName();
  const std::string_view bytes = BytesOf(index, name);
  try {
    return Serializer<T>::Read(bytes);
  } catch (...) {
    RethrowUnreadable(index, name);
  }
}

template <typename T>
requires internal::IsFieldType<T> T Tuple::Get(size_t index)
const {
  if constexpr (internal::kIsOptional<T>) {
    if (IsNull(index)) return std::nullopt;
    return Get<typename T::value_type>(index);
  } else if constexpr (UserType<T>) {
    return ReadUserType<T>(index);
  } else if constexpr (std::is_same_v<T, bool>) {
    return Bool(index);
  } else if constexpr (std::is_integral_v<T>) {
    const int64_t value = Int64(index);
    const T narrow = static_cast<T>(value);
    if (static_cast<int64_t>(narrow) != value) ThrowRange(index, sizeof(T));
    return narrow;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(Double(index));
  } else if constexpr (internal::FieldType<T>::kDeclared == internal::DeclaredType::kString) {
    return T(String(index));
  } else if constexpr (std::is_same_v<T, heron::Bytes>) {
    return heron::Bytes{std::string(Bytes(index))};
  } else if constexpr (std::is_same_v<T, BytesView>) {
    return BytesView(Bytes(index));
  } else if constexpr (std::is_same_v<T, heron::List>) {
    return List(index).ToList();
  } else if constexpr (std::is_same_v<T, heron::Value>) {
    return Value(index);
  } else {
    if (!IsNull(index)) ThrowType(index, "null");
    return nullptr;
  }
}

}  // namespace heron
