// One value of a tuple as a view: what an emit passes down and what a walk over a batch gives back.
// It owns nothing.
//
// A list has two forms. On the way out it is a span of FieldViews; on the way in it is its encoded
// items, already checked by the walk that made it (heron/model/tuple_codec.h reads them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace heron::model {

// The numbers from 1 are those of proto::ValueType.
enum class ValueType : uint8_t {
  kNull = 0,
  kBool = 1,
  kInt64 = 2,
  kDouble = 3,
  kString = 4,
  kBytes = 5,
  kList = 6,
};

// "null", "bool", "int64", "double", "string", "bytes", "list".
constexpr std::string_view ValueTypeName(ValueType type) {
  constexpr std::string_view kNames[] = {"null",   "bool",  "int64", "double",
                                         "string", "bytes", "list"};
  size_t index = static_cast<size_t>(type);
  return index < 7 ? kNames[index] : "unknown";
}

// The accessors of a wrong type return that type's zero: look at type() first, or read through
// heron::Tuple, which checks.
class FieldView {
 public:
  constexpr FieldView() = default;  // null

  static constexpr FieldView Null() { return FieldView(); }
  static constexpr FieldView Bool(bool v) {
    FieldView f(ValueType::kBool);
    f.int64_ = v ? 1 : 0;
    return f;
  }
  static constexpr FieldView Int64(int64_t v) {
    FieldView f(ValueType::kInt64);
    f.int64_ = v;
    return f;
  }
  static constexpr FieldView Double(double v) {
    FieldView f(ValueType::kDouble);
    f.double_ = v;
    return f;
  }
  static constexpr FieldView String(std::string_view v) {
    FieldView f(ValueType::kString);
    f.data_ = v.data();
    f.size_ = v.size();
    return f;
  }
  static constexpr FieldView Bytes(std::string_view v) {
    FieldView f(ValueType::kBytes);
    f.data_ = v.data();
    f.size_ = v.size();
    return f;
  }
  static constexpr FieldView List(std::span<const FieldView> items) {
    FieldView f(ValueType::kList);
    f.items_ = items.data();
    f.size_ = items.size();
    return f;
  }
  // `items` must be `count` whole encoded values, nested no deeper than allowed: only a walk may
  // make one.
  static constexpr FieldView EncodedList(std::string_view items, uint32_t count) {
    FieldView f(ValueType::kList);
    f.encoded_ = true;
    f.count_ = count;
    f.data_ = items.data();
    f.size_ = items.size();
    return f;
  }

  constexpr ValueType type() const { return type_; }
  constexpr bool is_null() const { return type_ == ValueType::kNull; }
  constexpr bool bool_value() const { return type_ == ValueType::kBool && int64_ != 0; }
  constexpr int64_t int64_value() const { return type_ == ValueType::kInt64 ? int64_ : 0; }
  constexpr double double_value() const { return type_ == ValueType::kDouble ? double_ : 0.0; }
  // Of a string or of bytes.
  constexpr std::string_view text() const {
    bool has = type_ == ValueType::kString || type_ == ValueType::kBytes;
    return has ? std::string_view(data_, size_) : std::string_view();
  }

  constexpr size_t list_size() const {
    if (type_ != ValueType::kList) return 0;
    return encoded_ ? count_ : size_;
  }
  constexpr bool is_encoded_list() const { return encoded_; }
  constexpr std::span<const FieldView> list_items() const {
    bool has = type_ == ValueType::kList && !encoded_;
    return has ? std::span<const FieldView>(items_, size_) : std::span<const FieldView>();
  }
  constexpr std::string_view encoded_items() const {
    return encoded_ ? std::string_view(data_, size_) : std::string_view();
  }

 private:
  explicit constexpr FieldView(ValueType type) : type_(type) {}

  ValueType type_ = ValueType::kNull;
  bool encoded_ = false;
  uint32_t count_ = 0;
  union {
    int64_t int64_ = 0;
    double double_;
    const char* data_;
    const FieldView* items_;
  };
  size_t size_ = 0;
};

}  // namespace heron::model

namespace heron {
using model::FieldView;
using model::ValueType;
using model::ValueTypeName;
}  // namespace heron
