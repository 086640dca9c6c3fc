#include "heron/model/tuple_codec.h"

#include <bit>
#include <cstring>
#include <limits>

namespace heron::model {

static_assert(std::endian::native == std::endian::little,
              "the packed form is little-endian; big-endian machines need byte swaps here");

namespace {

enum Tag : uint8_t {
  kTagNull = 0x00,
  kTagFalse = 0x01,
  kTagTrue = 0x02,
  kTagInt8 = 0x10,
  kTagInt16 = 0x11,
  kTagInt32 = 0x12,
  kTagInt64 = 0x13,
  kTagDouble = 0x18,
  kTagString8 = 0x20,
  kTagString32 = 0x21,
  kTagBytes8 = 0x22,
  kTagBytes32 = 0x23,
  kTagList8 = 0x28,
  kTagList32 = 0x29,
  kTagShortString = 0x40,  // to 0x7f: the length in the low six bits
};

constexpr size_t kShortStringMax = 63;
constexpr size_t kMax32 = std::numeric_limits<uint32_t>::max();
constexpr size_t kImpossible = std::numeric_limits<size_t>::max();

template <typename T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
char* Store(char* out, T value) {
  std::memcpy(out, &value, sizeof(T));
  return out + sizeof(T);
}

template <typename T>
bool Fits(int64_t v) {
  return v >= std::numeric_limits<T>::min() && v <= std::numeric_limits<T>::max();
}

bool SmallList(size_t item_bytes, size_t count) { return item_bytes <= 255 && count <= 255; }

// One value at `at`. Fills `value`, or leaves it and returns nullptr with `damage` set. `depth` is
// that of a list here.
const char* ReadValue(const char* at, const char* end, int depth, FieldView& value,
                      const char*& damage);

const char* Damaged(const char*& damage, const char* text) {
  damage = text;
  return nullptr;
}

const char* ReadText(const char* at, const char* end, bool wide, bool bytes, FieldView& value,
                     const char*& damage) {
  size_t left = static_cast<size_t>(end - at);
  size_t head = wide ? 4 : 1;
  if (left < head) return Damaged(damage, "a length is cut off");
  size_t size = wide ? Load<uint32_t>(at) : Load<uint8_t>(at);
  size_t smaller_form = wide ? 255 : (bytes ? 0 : kShortStringMax);
  if ((wide || !bytes) && size <= smaller_form) {
    return Damaged(damage, "a length is not in its shortest form");
  }
  if (left - head < size) return Damaged(damage, "a string or bytes are cut off");
  std::string_view text(at + head, size);
  value = bytes ? FieldView::Bytes(text) : FieldView::String(text);
  return at + head + size;
}

const char* ReadList(const char* at, const char* end, bool wide, int depth, FieldView& value,
                     const char*& damage) {
  if (depth > kMaxListDepth) return Damaged(damage, "lists are nested too deep");
  size_t left = static_cast<size_t>(end - at);
  size_t head = wide ? 8 : 2;
  if (left < head) return Damaged(damage, "a list's head is cut off");
  size_t size = wide ? Load<uint32_t>(at) : Load<uint8_t>(at);
  uint32_t count = wide ? Load<uint32_t>(at + 4) : Load<uint8_t>(at + 1);
  if (wide && SmallList(size, count)) {
    return Damaged(damage, "a list's head is not in its shortest form");
  }
  if (left - head < size) return Damaged(damage, "a list is cut off");
  if (count > size) return Damaged(damage, "a list has more items than bytes");
  const char* item = at + head;
  const char* list_end = item + size;
  FieldView ignored;
  for (uint32_t i = 0; i < count; ++i) {
    item = ReadValue(item, list_end, depth + 1, ignored, damage);
    if (item == nullptr) return nullptr;
  }
  if (item != list_end) return Damaged(damage, "a list has bytes behind its last item");
  value = FieldView::EncodedList({at + head, size}, count);
  return list_end;
}

template <typename Wide, typename Narrow>
const char* ReadInt(const char* at, const char* end, FieldView& value, const char*& damage) {
  if (static_cast<size_t>(end - at) < sizeof(Wide)) return Damaged(damage, "an int64 is cut off");
  int64_t number = Load<Wide>(at);
  if (sizeof(Wide) > 1 && Fits<Narrow>(number)) {
    return Damaged(damage, "an int64 is not in its shortest form");
  }
  value = FieldView::Int64(number);
  return at + sizeof(Wide);
}

const char* ReadValue(const char* at, const char* end, int depth, FieldView& value,
                      const char*& damage) {
  if (at == end) return Damaged(damage, "a value is missing");
  uint8_t tag = static_cast<uint8_t>(*at++);
  if (tag >= kTagShortString && tag <= kTagShortString + kShortStringMax) {
    size_t size = tag & kShortStringMax;
    if (static_cast<size_t>(end - at) < size) return Damaged(damage, "a string is cut off");
    value = FieldView::String({at, size});
    return at + size;
  }
  switch (tag) {
    case kTagNull:
      value = FieldView::Null();
      return at;
    case kTagFalse:
    case kTagTrue:
      value = FieldView::Bool(tag == kTagTrue);
      return at;
    case kTagInt8:
      return ReadInt<int8_t, int8_t>(at, end, value, damage);
    case kTagInt16:
      return ReadInt<int16_t, int8_t>(at, end, value, damage);
    case kTagInt32:
      return ReadInt<int32_t, int16_t>(at, end, value, damage);
    case kTagInt64:
      return ReadInt<int64_t, int32_t>(at, end, value, damage);
    case kTagDouble:
      if (end - at < 8) return Damaged(damage, "a double is cut off");
      value = FieldView::Double(Load<double>(at));
      return at + 8;
    case kTagString8:
    case kTagString32:
      return ReadText(at, end, tag == kTagString32, false, value, damage);
    case kTagBytes8:
    case kTagBytes32:
      return ReadText(at, end, tag == kTagBytes32, true, value, damage);
    case kTagList8:
    case kTagList32:
      return ReadList(at, end, tag == kTagList32, depth, value, damage);
    default:
      return Damaged(damage, "an unknown type tag");
  }
}

// How deep the lists in checked, encoded items go below them.
int DepthOf(std::string_view items) {
  int deepest = 0;
  const char* at = items.data();
  const char* end = at + items.size();
  while (at != end) {
    FieldView item;
    const char* damage = nullptr;
    at = ReadValue(at, end, 1, item, damage);
    if (at == nullptr) return kMaxListDepth;
    if (item.type() == ValueType::kList) {
      int depth = 1 + DepthOf(item.encoded_items());
      if (depth > deepest) deepest = depth;
    }
  }
  return deepest;
}

size_t TextBytes(size_t size, bool bytes) {
  if (!bytes && size <= kShortStringMax) return 1 + size;
  if (size <= 255) return 2 + size;
  return size <= kMax32 ? 5 + size : kImpossible;
}

size_t ValueBytes(const FieldView& value, int depth);

// Bytes of the items without the list's head.
size_t ItemBytes(const FieldView& list, int depth) {
  if (depth > kMaxListDepth) return kImpossible;
  if (list.is_encoded_list()) {
    bool fits = depth == 1 || depth + DepthOf(list.encoded_items()) <= kMaxListDepth;
    return fits ? list.encoded_items().size() : kImpossible;
  }
  size_t total = 0;
  for (const FieldView& item : list.list_items()) {
    size_t bytes = ValueBytes(item, depth + 1);
    if (bytes == kImpossible) return kImpossible;
    total += bytes;
  }
  return total;
}

size_t ValueBytes(const FieldView& value, int depth) {
  switch (value.type()) {
    case ValueType::kNull:
    case ValueType::kBool:
      return 1;
    case ValueType::kInt64: {
      int64_t v = value.int64_value();
      return Fits<int8_t>(v) ? 2 : Fits<int16_t>(v) ? 3 : Fits<int32_t>(v) ? 5 : 9;
    }
    case ValueType::kDouble:
      return 9;
    case ValueType::kString:
      return TextBytes(value.text().size(), false);
    case ValueType::kBytes:
      return TextBytes(value.text().size(), true);
    case ValueType::kList: {
      size_t items = ItemBytes(value, depth);
      if (items > kMax32 || value.list_size() > kMax32) return kImpossible;
      return items + (SmallList(items, value.list_size()) ? 3 : 9);
    }
  }
  return kImpossible;
}

char* WriteValue(const FieldView& value, int depth, char* out);

char* WriteText(std::string_view text, bool bytes, char* out) {
  size_t size = text.size();
  if (!bytes && size <= kShortStringMax) {
    *out++ = static_cast<char>(kTagShortString | size);
  } else if (size <= 255) {
    *out++ = bytes ? kTagBytes8 : kTagString8;
    *out++ = static_cast<char>(size);
  } else {
    *out++ = bytes ? kTagBytes32 : kTagString32;
    out = Store(out, static_cast<uint32_t>(size));
  }
  if (size > 0) std::memcpy(out, text.data(), size);
  return out + size;
}

char* WriteInt(int64_t v, char* out) {
  if (Fits<int8_t>(v)) {
    *out++ = kTagInt8;
    return Store(out, static_cast<int8_t>(v));
  }
  if (Fits<int16_t>(v)) {
    *out++ = kTagInt16;
    return Store(out, static_cast<int16_t>(v));
  }
  if (Fits<int32_t>(v)) {
    *out++ = kTagInt32;
    return Store(out, static_cast<int32_t>(v));
  }
  *out++ = kTagInt64;
  return Store(out, v);
}

char* WriteList(const FieldView& list, int depth, char* out) {
  size_t items = ItemBytes(list, depth);
  if (SmallList(items, list.list_size())) {
    *out++ = kTagList8;
    *out++ = static_cast<char>(items);
    *out++ = static_cast<char>(list.list_size());
  } else {
    *out++ = kTagList32;
    out = Store(out, static_cast<uint32_t>(items));
    out = Store(out, static_cast<uint32_t>(list.list_size()));
  }
  if (list.is_encoded_list()) {
    std::string_view bytes = list.encoded_items();
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
    return out + bytes.size();
  }
  for (const FieldView& item : list.list_items()) out = WriteValue(item, depth + 1, out);
  return out;
}

char* WriteValue(const FieldView& value, int depth, char* out) {
  switch (value.type()) {
    case ValueType::kNull:
      *out++ = kTagNull;
      return out;
    case ValueType::kBool:
      *out++ = value.bool_value() ? kTagTrue : kTagFalse;
      return out;
    case ValueType::kInt64:
      return WriteInt(value.int64_value(), out);
    case ValueType::kDouble:
      *out++ = kTagDouble;
      return Store(out, value.double_value());
    case ValueType::kString:
      return WriteText(value.text(), false, out);
    case ValueType::kBytes:
      return WriteText(value.text(), true, out);
    case ValueType::kList:
      return WriteList(value, depth, out);
  }
  return out;
}

}  // namespace

size_t EncodedTupleBytes(std::span<const FieldView> fields) {
  if (fields.size() > kMaxFields) return 0;
  size_t total = 1;
  for (const FieldView& field : fields) {
    size_t bytes = ValueBytes(field, 1);
    if (bytes == kImpossible) return 0;
    total += bytes;
  }
  return total;
}

char* EncodeTuple(std::span<const FieldView> fields, char* out) {
  *out++ = static_cast<char>(fields.size());
  for (const FieldView& field : fields) out = WriteValue(field, 1, out);
  return out;
}

TupleWalk::Step TupleWalk::Next(std::vector<FieldView>& fields) {
  if (damage_ != nullptr) return Step::kDamaged;
  if (at_ == end_) return Step::kEnd;
  const char* at = at_;
  size_t count = static_cast<uint8_t>(*at++);
  fields.resize(count);
  for (size_t i = 0; i < count; ++i) {
    at = ReadValue(at, end_, 1, fields[i], damage_);
    if (at == nullptr) return Step::kDamaged;
  }
  at_ = at;
  return Step::kTuple;
}

ListItems::ListItems(const FieldView& list) : items_(list.list_items()) {
  std::string_view encoded = list.encoded_items();
  at_ = encoded.data();
  end_ = at_ + encoded.size();
}

bool ListItems::Next(FieldView& item) {
  if (!items_.empty()) {
    item = items_.front();
    items_ = items_.subspan(1);
    return true;
  }
  if (at_ == end_) return false;
  const char* damage = nullptr;
  at_ = ReadValue(at_, end_, 1, item, damage);
  if (at_ == nullptr) at_ = end_;  // not for a list that a walk has made
  return damage == nullptr;
}

}  // namespace heron::model
