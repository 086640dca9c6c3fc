// The values of one tuple, to be compared and printed.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "heron/api/serializer.h"
#include "heron/api/value.h"

namespace heron::testing {

// Row("a", 3) has a string and an integer; types with a heron::Serializer are bytes. Values of
// different types differ: Row(1) != Row(1.0).
class Row {
 public:
  Row() = default;  // no fields
  template <typename... Types>
  requires(sizeof...(Types) > 0 &&
           ((std::is_constructible_v<heron::Value, const Types&> || UserType<Types>)&&...))  //
      explicit Row(const Types&... values) {
    values_.reserve(sizeof...(Types));
    (Add(values), ...);
  }
  static Row Of(Values values) {
    Row row;
    row.values_ = std::move(values);
    return row;
  }

  size_t size() const { return values_.size(); }
  const heron::Value& operator[](size_t index) const { return values_.at(index); }
  const Values& values() const { return values_; }

  std::string ToString() const {  // (a, 3)
    std::string text = "(";
    for (size_t i = 0; i < values_.size(); ++i) {
      text += (i > 0 ? ", " : "") + values_[i].ToString();
    }
    return text + ")";
  }
  friend bool operator==(const Row& a, const Row& b) { return a.values_ == b.values_; }
  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.ToString();
  }

 private:
  template <typename T>
  void Add(const T& value) {
    if constexpr (UserType<T>) {
      Bytes written;
      Serializer<T>::Write(value, written.bytes);
      values_.emplace_back(std::move(written));
    } else {
      values_.emplace_back(value);
    }
  }

  Values values_;
};

}  // namespace heron::testing
