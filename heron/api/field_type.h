// How C++ types stand for types of fields. In Declares<...> and Output<...>:
//
//   bool                                    bool
//   integers up to 64 bits signed           int64
//   float, double                           double
//   std::string, std::string_view           string
//   heron::Bytes, heron::BytesView          bytes
//   heron::List                             list
//   heron::Value                            any
//   std::nullptr_t                          any, always null
//   what has a heron::Serializer<T>         bytes, with the type's name
//   std::optional<T>                        as T; null when empty
//
// Every field may be null on the wire; reading it as something else throws TypeError.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "heron/api/serializer.h"
#include "heron/api/value.h"
#include "heron/model/field_view.h"

namespace heron::internal {

// A declared type; kAny takes every value. The numbers are those of proto::ValueType.
enum class DeclaredType : uint8_t {
  kAny = 0,
  kBool = 1,
  kInt64 = 2,
  kDouble = 3,
  kString = 4,
  kBytes = 5,
  kList = 6,
};

constexpr std::string_view DeclaredTypeName(DeclaredType type) {
  return type == DeclaredType::kAny ? "any" : ValueTypeName(static_cast<ValueType>(type));
}

constexpr bool TypeAllows(DeclaredType declared, ValueType value) {
  return declared == DeclaredType::kAny || value == ValueType::kNull ||
         static_cast<uint8_t>(declared) == static_cast<uint8_t>(value);
}

template <typename T>
struct FieldType {
  static constexpr bool kKnown = false;
};

template <DeclaredType kType, typename A>
struct KnownFieldType {
  static constexpr bool kKnown = true;
  static constexpr DeclaredType kDeclared = kType;
  using Arg = A;  // what Emit takes
};

template <>
struct FieldType<bool> : KnownFieldType<DeclaredType::kBool, bool> {
  static FieldView View(bool v) { return FieldView::Bool(v); }
};

template <typename T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool> &&
         (sizeof(T) < 8 || std::is_signed_v<T>)) struct FieldType<T>
    : KnownFieldType<DeclaredType::kInt64, T> {
  static FieldView View(T v) { return FieldView::Int64(static_cast<int64_t>(v)); }
};

template <typename T>
requires(std::is_same_v<T, float> || std::is_same_v<T, double>) struct FieldType<T>
    : KnownFieldType<DeclaredType::kDouble, T> {
  static FieldView View(T v) { return FieldView::Double(static_cast<double>(v)); }
};

template <typename T>
requires(std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) struct FieldType<T>
    : KnownFieldType<DeclaredType::kString, std::string_view> {
  static FieldView View(std::string_view v) { return FieldView::String(v); }
};

template <typename T>
requires(std::is_same_v<T, Bytes> || std::is_same_v<T, BytesView>) struct FieldType<T>
    : KnownFieldType<DeclaredType::kBytes, BytesView> {
  static FieldView View(BytesView v) { return FieldView::Bytes(v.bytes); }
};

template <>
struct FieldType<std::nullptr_t> : KnownFieldType<DeclaredType::kAny, std::nullptr_t> {
  static FieldView View(std::nullptr_t) { return FieldView::Null(); }
};

template <>
struct FieldType<List> : KnownFieldType<DeclaredType::kList, const List&> {
  static constexpr bool kOwned = true;
};

template <>
struct FieldType<Value> : KnownFieldType<DeclaredType::kAny, const Value&> {
  static constexpr bool kOwned = true;
};

template <UserType T>
struct FieldType<T> : KnownFieldType<DeclaredType::kBytes, const T&> {
  static constexpr bool kSerialized = true;
  static std::string UserTypeName() { return Serializer<T>::TypeName(); }
  // The bytes; false if the field is null.
  static bool Write(const T& v, std::string& out) {
    Serializer<T>::Write(v, out);
    return true;
  }
};

// Of types with a serializer, and optional ones.
template <typename T>
concept IsSerializedFieldType = requires {
  FieldType<T>::kSerialized;
};

template <typename T>
requires IsSerializedFieldType<T>
struct FieldType<std::optional<T>> : KnownFieldType<DeclaredType::kBytes, const std::optional<T>&> {
  static constexpr bool kSerialized = true;
  static std::string UserTypeName() { return FieldType<T>::UserTypeName(); }
  static bool Write(const std::optional<T>& v, std::string& out) {
    return v && FieldType<T>::Write(*v, out);
  }
};

template <typename T>
struct FieldType<std::optional<T>>
    : KnownFieldType<FieldType<T>::kDeclared,
                     const std::optional<std::decay_t<typename FieldType<T>::Arg>>&> {
  static_assert(
      !requires { FieldType<T>::kOwned; },
      "an optional list or value: use heron::Value, which may be null");
  static FieldView View(const std::optional<std::decay_t<typename FieldType<T>::Arg>>& v) {
    return v ? FieldType<T>::View(*v) : FieldView::Null();
  }
};

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
concept IsFieldType = FieldType<T>::kKnown;

// What the serializer calls the type; nullopt for types that have none.
template <typename T>
std::optional<std::string> UserTypeNameOf() {
  if constexpr (IsSerializedFieldType<T>) {
    return FieldType<T>::UserTypeName();
  } else {
    return std::nullopt;
  }
}

// Of lists and values, which need memory for their views.
template <typename T>
concept IsOwnedFieldType = requires {
  FieldType<T>::kOwned;
};

}  // namespace heron::internal
