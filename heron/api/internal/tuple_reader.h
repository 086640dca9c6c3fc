// Makes the tuples that bolts see out of a batch's payload. Thread: the task's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heron/api/tuple.h"
#include "heron/model/anchors.h"
#include "heron/model/tuple_codec.h"

namespace heron::internal {

// Of one input: made once per (component, stream) that a bolt subscribes to.
struct TupleOrigin {
  std::string component;  // that emitted
  std::string stream;
  std::vector<std::string> fields;      // names, as declared
  std::string reader;                   // the component that reads, for messages
  std::vector<std::string> user_types;  // by field, empty where there is no serializer
};

// One after the other over a payload. The tuple and its views die with the next Next.
class TupleReader {
 public:
  TupleReader() = default;
  TupleReader(const TupleReader&) = delete;
  TupleReader& operator=(const TupleReader&) = delete;

  // Both must outlive the reading. `edge_base`: of the batch; not 0 if tuples have anchors.
  void Start(std::string_view payload, const TupleOrigin& origin, int32_t source_task,
             uint64_t edge_base = 0) {
    walk_ = model::TupleWalk(payload);
    edge_base_ = edge_base;
    index_ = 0;
    context_ = model::AnchorContext();
    anchors_.clear();
    tuple_.origin_ = &origin;
    tuple_.source_task_ = source_task;
  }

  // The next tuple; nullptr at the end and on damage (then damage() says what).
  const Tuple* Next() {
    if (edge_base_ != 0 && !ReadAnchors()) return nullptr;
    if (walk_.Next(fields_) != model::TupleWalk::Step::kTuple) return nullptr;
    tuple_.fields_ = fields_;
    return &tuple_;
  }
  // Of the tuple that Next gave last.
  const std::vector<model::Anchor>& anchors() const { return anchors_; }
  const char* damage() const { return walk_.damage(); }
  size_t offset() const { return walk_.offset(); }

 private:
  // False at the end and on damage.
  bool ReadAnchors() {
    if (walk_.at() == walk_.end() || walk_.damage() != nullptr) return false;
    const char* at = model::DecodeAnchors(walk_.at(), walk_.end(), edge_base_, index_++, context_, anchors_);
    if (at != nullptr && at != walk_.end()) {
      walk_.GoOn(at);
      return true;
    }
    walk_.Damage("the anchors of a tuple are broken");
    return false;
  }

  model::TupleWalk walk_{std::string_view()};
  std::vector<FieldView> fields_;
  Tuple tuple_;
  uint64_t edge_base_ = 0;
  uint64_t index_ = 0;
  model::AnchorContext context_;
  std::vector<model::Anchor> anchors_;
};

}  // namespace heron::internal
