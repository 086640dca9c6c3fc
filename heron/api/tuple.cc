#include "heron/api/tuple.h"

#include "heron/api/errors.h"
#include "heron/api/internal/tuple_reader.h"

namespace heron {

namespace {

std::string FieldText(const internal::TupleOrigin& origin, size_t index) {
  std::string text = "field " + std::to_string(index);
  if (index < origin.fields.size()) text += " '" + origin.fields[index] + "'";
  return text;
}

std::string StreamText(const internal::TupleOrigin& origin) {
  return "stream '" + origin.stream + "' of component '" + origin.component + "'";
}

std::string Names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

}  // namespace

heron::List ListView::ToList() const {
  heron::Value copy(list_);
  const heron::List* list = copy.GetIf<heron::List>();
  return list == nullptr ? heron::List() : *list;
}

const std::string& Tuple::component() const { return origin_->component; }
const std::string& Tuple::stream() const { return origin_->stream; }

size_t Tuple::IndexOf(std::string_view field) const {
  for (size_t i = 0; i < origin_->fields.size(); ++i) {
    if (origin_->fields[i] == field) return i;
  }
  throw TypeError("component '" + origin_->reader + "' reads field '" + std::string(field) +
                  "', which " + StreamText(*origin_) + " does not have; its fields are " +
                  Names(origin_->fields));
}

Values Tuple::ToValues() const {
  Values values;
  values.reserve(fields_.size());
  for (const FieldView& field : fields_) values.emplace_back(field);
  return values;
}

void Tuple::ThrowIndex(size_t index) const {
  throw TypeError("component '" + origin_->reader + "' reads " + FieldText(*origin_, index) +
                  " of a tuple with " + std::to_string(fields_.size()) + " fields from " +
                  StreamText(*origin_));
}

std::string_view Tuple::BytesOf(size_t index, std::string_view user_type) const {
  const FieldView& field = At(index);
  const bool declared = index < origin_->user_types.size() && !origin_->user_types[index].empty();
  if (field.type() != ValueType::kBytes || (declared && origin_->user_types[index] != user_type)) {
    ThrowType(index, user_type);
  }
  return field.text();
}

void Tuple::ThrowType(size_t index, std::string_view asked) const {
  std::string is(ValueTypeName(fields_[index].type()));
  if (fields_[index].type() == ValueType::kBytes && index < origin_->user_types.size() &&
      !origin_->user_types[index].empty()) {
    is = origin_->user_types[index];
  }
  throw TypeError("component '" + origin_->reader + "' reads " + FieldText(*origin_, index) +
                  " from " + StreamText(*origin_) + " as " + std::string(asked) + ", but it is " +
                  is);
}

void Tuple::ThrowRange(size_t index, size_t bytes) const {
  throw TypeError("component '" + origin_->reader + "' reads " + FieldText(*origin_, index) +
                  " from " + StreamText(*origin_) + " as an integer of " +
                  std::to_string(8 * bytes) + " bits, but it is " +
                  std::to_string(fields_[index].int64_value()));
}

void Tuple::RethrowUnreadable(size_t index, std::string_view user_type) const {
  const std::string where = "component '" + origin_->reader + "' cannot read " +
                            FieldText(*origin_, index) + " from " + StreamText(*origin_) + " as " +
                            std::string(user_type) + ": ";
  try {
    throw;
  } catch (const Unrecoverable& error) {
    throw Unrecoverable(where + error.what());
  } catch (const std::exception& error) {
    throw SerializerError(where + error.what());
  }
}

}  // namespace heron
