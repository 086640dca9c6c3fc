#include "heron/api/value.h"

#include <charconv>

#include "heron/model/tuple_codec.h"

namespace heron {

namespace {

std::string DoubleText(double v) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), v).ptr;
  return std::string(text, end);
}

}  // namespace

Value::Value(const FieldView& view) {
  switch (view.type()) {
    case ValueType::kNull:
      break;
    case ValueType::kBool:
      variant_ = view.bool_value();
      break;
    case ValueType::kInt64:
      variant_ = view.int64_value();
      break;
    case ValueType::kDouble:
      variant_ = view.double_value();
      break;
    case ValueType::kString:
      variant_ = std::string(view.text());
      break;
    case ValueType::kBytes:
      variant_ = Bytes{std::string(view.text())};
      break;
    case ValueType::kList: {
      List list;
      list.reserve(view.list_size());
      model::ListItems items(view);
      FieldView item;
      while (items.Next(item)) list.push_back(Value(item));
      variant_ = std::move(list);
      break;
    }
  }
}

std::string Value::ToString() const {
  switch (type()) {
    case ValueType::kNull:
      return "null";
    case ValueType::kBool:
      return std::get<bool>(variant_) ? "true" : "false";
    case ValueType::kInt64:
      return std::to_string(std::get<int64_t>(variant_));
    case ValueType::kDouble:
      return DoubleText(std::get<double>(variant_));
    case ValueType::kString:
      return "\"" + std::get<std::string>(variant_) + "\"";
    case ValueType::kBytes:
      return "bytes(" + std::to_string(std::get<Bytes>(variant_).bytes.size()) + ")";
    case ValueType::kList: {
      std::string text = "[";
      for (const Value& item : std::get<List>(variant_)) {
        if (text.size() > 1) text += ", ";
        text += item.ToString();
      }
      return text + "]";
    }
  }
  return "?";
}

namespace internal {

FieldView ValueViews::ViewOf(const Value& value) {
  switch (value.type()) {
    case ValueType::kNull:
      return FieldView::Null();
    case ValueType::kBool:
      return FieldView::Bool(*value.GetIf<bool>());
    case ValueType::kInt64:
      return FieldView::Int64(*value.GetIf<int64_t>());
    case ValueType::kDouble:
      return FieldView::Double(*value.GetIf<double>());
    case ValueType::kString:
      return FieldView::String(*value.GetIf<std::string>());
    case ValueType::kBytes:
      return FieldView::Bytes(value.GetIf<Bytes>()->bytes);
    case ValueType::kList: {
      std::vector<FieldView> views = ViewsOf(*value.GetIf<List>());
      lists_.push_back(std::move(views));
      return FieldView::List(lists_.back());
    }
  }
  return FieldView::Null();
}

std::vector<FieldView> ValueViews::ViewsOf(std::span<const Value> values) {
  std::vector<FieldView> views;
  views.reserve(values.size());
  for (const Value& value : values) views.push_back(ViewOf(value));
  return views;
}

}  // namespace internal
}  // namespace heron
