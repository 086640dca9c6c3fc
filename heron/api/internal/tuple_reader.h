// Makes the tuples that bolts see out of a batch's payload. Thread: the task's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heron/api/tuple.h"
#include "heron/model/tuple_codec.h"

namespace heron::internal {

// Of one input: made once per (component, stream) that a bolt subscribes to.
struct TupleOrigin {
  std::string component;  // that emitted
  std::string stream;
  std::vector<std::string> fields;  // names, as declared
  std::string reader;               // the component that reads, for messages
};

// One after the other over a payload. The tuple and its views die with the next Next.
class TupleReader {
 public:
  TupleReader() = default;
  TupleReader(const TupleReader&) = delete;
  TupleReader& operator=(const TupleReader&) = delete;

  // Both must outlive the reading.
  void Start(std::string_view payload, const TupleOrigin& origin, int32_t source_task) {
    walk_ = model::TupleWalk(payload);
    tuple_.origin_ = &origin;
    tuple_.source_task_ = source_task;
  }

  // The next tuple; nullptr at the end and on damage (then damage() says what).
  const Tuple* Next() {
    if (walk_.Next(fields_) != model::TupleWalk::Step::kTuple) return nullptr;
    tuple_.fields_ = fields_;
    return &tuple_;
  }
  const char* damage() const { return walk_.damage(); }
  size_t offset() const { return walk_.offset(); }

 private:
  model::TupleWalk walk_{std::string_view()};
  std::vector<FieldView> fields_;
  Tuple tuple_;
};

}  // namespace heron::internal
