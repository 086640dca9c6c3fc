#include "heron/api/output.h"

namespace heron {

EmitResult FieldsOutput::Check(std::span<const FieldView> values) {
  if (emitter_ == nullptr) return internal::EmitNowhere();
  bool fits = values.size() == types_.size();
  for (size_t i = 0; fits && i < values.size(); ++i) {
    fits = internal::TypeAllows(types_[i], values[i].type());
  }
  if (fits) return EmitResult::kOk;
  emitter_->Refused(stream_, EmitResult::kWrongValues);
  return EmitResult::kWrongValues;
}

EmitResult FieldsOutput::EmitFields(std::span<const FieldView> values) {
  const EmitResult checked = Check(values);
  return checked == EmitResult::kOk ? emitter_->Emit(stream_, values) : checked;
}

EmitResult FieldsOutput::EmitFieldsTo(int32_t task, std::span<const FieldView> values) {
  const EmitResult checked = Check(values);
  return checked == EmitResult::kOk ? emitter_->EmitTo(stream_, task, values) : checked;
}

EmitResult FieldsOutput::Emit(const Values& values) {
  internal::ValueViews views(values);
  return EmitFields(views.views());
}

EmitResult FieldsOutput::EmitWith(const internal::EmitOptions& options, const Values& values) {
  internal::ValueViews views(values);
  const EmitResult checked = Check(views.views());
  return checked == EmitResult::kOk ? emitter_->EmitWith(stream_, views.views(), options) : checked;
}

EmitResult FieldsOutput::Emit(const MessageId& id, const Values& values) {
  return EmitWith({.id = &id}, values);
}

EmitResult FieldsOutput::Emit(const Anchors& anchors, const Values& values) {
  return EmitWith({.has_anchors = true, .anchors = anchors.held()}, values);
}

EmitResult FieldsOutput::EmitUnanchored(const Values& values) {
  return EmitWith({.unanchored = true}, values);
}

EmitResult FieldsOutput::EmitTo(int32_t task, const Values& values) {
  internal::ValueViews views(values);
  return EmitFieldsTo(task, views.views());
}

}  // namespace heron
