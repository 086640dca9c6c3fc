// Owned values: for what a component keeps, for generic components, and the declared types of
// fields.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "heron/model/field_view.h"

namespace heron {

// Bytes that are not text. A field of bytes is never equal to a field of string with the same
// content.
struct Bytes {
  std::string bytes;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

// The same, not owned.
struct BytesView {
  std::string_view bytes;
  BytesView() = default;
  explicit BytesView(std::string_view b) : bytes(b) {}
  BytesView(const Bytes& b) : bytes(b.bytes) {}  // NOLINT(google-explicit-constructor)
};

class Value;
// Note: compilers differ in what braces around a single list mean, List{List{...}}: a copy or a
// list of one list. Write List(1, List{...}).
using List = std::vector<Value>;

// Two values are equal if type and content are: null, "", bytes without content, an empty list, 0,
// 0.0 and false are seven different values. Doubles compare as in C++: -0.0 equals 0.0, NaN equals
// nothing. Groupings by key look at the same identity, except that all NaNs are one key, of
// whatever bits. On the wire every bit of a double is kept, -0.0 and NaNs too.
class Value {
 public:
  using Variant = std::variant<std::nullptr_t, bool, int64_t, double, std::string, Bytes, List>;

  Value() = default;                                       // null
  Value(std::nullptr_t) {}                                 // NOLINT(google-explicit-constructor)
  Value(double v) : variant_(v) {}                         // NOLINT(google-explicit-constructor)
  Value(const char* v) : variant_(std::string(v)) {}       // NOLINT(google-explicit-constructor)
  Value(std::string v) : variant_(std::move(v)) {}         // NOLINT(google-explicit-constructor)
  Value(std::string_view v) : variant_(std::string(v)) {}  // NOLINT(google-explicit-constructor)
  Value(Bytes v) : variant_(std::move(v)) {}               // NOLINT(google-explicit-constructor)
  Value(List v) : variant_(std::move(v)) {}                // NOLINT(google-explicit-constructor)
  template <typename T>
  requires std::is_integral_v<T> Value(T v) {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<T, bool>) {
      variant_ = v;
    } else {
      variant_ = static_cast<int64_t>(v);
    }
  }
  // A copy of what the view shows.
  explicit Value(const FieldView& view);

  ValueType type() const { return static_cast<ValueType>(variant_.index()); }
  bool is_null() const { return variant_.index() == 0; }
  const Variant& variant() const { return variant_; }
  template <typename T>
  const T* GetIf() const {
    return std::get_if<T>(&variant_);
  }

  // "null", "true", "1", "0.5", "\"text\"", "bytes(3)", "[1, 2]": for people.
  std::string ToString() const;

  friend bool operator==(const Value& a, const Value& b) { return a.variant_ == b.variant_; }

 private:
  Variant variant_ = nullptr;
};

// The fields of one tuple, the slow way.
using Values = std::vector<Value>;

namespace internal {

// Views of Values, with the memory that the views of lists need. Both must outlive the views.
class ValueViews {
 public:
  explicit ValueViews(std::span<const Value> values) : views_(ViewsOf(values)) {}
  ValueViews(const ValueViews&) = delete;
  ValueViews& operator=(const ValueViews&) = delete;
  std::span<const FieldView> views() const { return views_; }

 private:
  std::vector<FieldView> ViewsOf(std::span<const Value> values);
  FieldView ViewOf(const Value& value);

  std::deque<std::vector<FieldView>> lists_;
  std::vector<FieldView> views_;
};

}  // namespace internal
}  // namespace heron
