// The packed form of tuples in a batch's payload, bit by bit in heron/docs/tuple_encoding.md. Every
// value has exactly one encoding. Plain functions over the caller's memory; nothing allocates
// except a walk's list of fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heron/model/field_view.h"

namespace heron::model {

inline constexpr size_t kMaxFields = 255;  // of a tuple
inline constexpr int kMaxListDepth = 32;   // a list in a field has depth 1

// The bytes that EncodeTuple writes for `fields`; 0 if they cannot be encoded: more than kMaxFields
// fields, lists nested too deep, a string, bytes or list of 4 GiB or more.
size_t EncodedTupleBytes(std::span<const FieldView> fields);

// Writes the tuple at `out`, which has room for EncodedTupleBytes(fields), not 0. Returns the end
// of what was written.
char* EncodeTuple(std::span<const FieldView> fields, char* out);

// Reads the tuples of a payload one after the other. Believes nothing: any bytes give tuples, an
// end or damage, never a read outside of `payload`. Views stay valid as long as the payload.
class TupleWalk {
 public:
  enum class Step { kTuple, kEnd, kDamaged };

  explicit TupleWalk(std::string_view payload)
      : begin_(payload.data()), at_(payload.data()), end_(payload.data() + payload.size()) {}

  // kTuple: `fields` holds its values. After kEnd or kDamaged comes the same again.
  Step Next(std::vector<FieldView>& fields);

  // For payloads with something before each tuple: where the walk stands, and the end; goes on from
  // there, or ends as damaged.
  const char* at() const { return at_; }
  const char* end() const { return end_; }
  void GoOn(const char* at) { at_ = at; }
  void Damage(const char* what) { damage_ = what; }

  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  const char* damage() const { return damage_; }  // after kDamaged: what is wrong, for people

 private:
  const char* begin_;
  const char* at_;
  const char* end_;
  const char* damage_ = nullptr;
};

// Walks the items of a list, of either form.
class ListItems {
 public:
  explicit ListItems(const FieldView& list);
  bool Next(FieldView& item);  // false at the end

 private:
  std::span<const FieldView> items_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace heron::model
