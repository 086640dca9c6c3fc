#include "heron/api/output.h"

namespace heron {

EmitResult FieldsOutput::EmitFields(std::span<const FieldView> values) {
  if (emitter_ == nullptr) return EmitResult::kUnknownStream;
  bool fits = values.size() == types_.size();
  for (size_t i = 0; fits && i < values.size(); ++i) {
    fits = internal::TypeAllows(types_[i], values[i].type());
  }
  if (!fits) {
    emitter_->Refused(stream_, EmitResult::kWrongValues);
    return EmitResult::kWrongValues;
  }
  return emitter_->Emit(stream_, values);
}

EmitResult FieldsOutput::Emit(const Values& values) {
  internal::ValueViews views(values);
  return EmitFields(views.views());
}

}  // namespace heron
