// Any bytes as a batch: the header's decoder, the walk over the tuples, and the items of lists.
// What was read must be written as the same bytes.
#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heron/model/tuple_batch.h"
#include "heron/model/tuple_codec.h"

namespace {

using heron::model::FieldView;

size_t Visit(const FieldView& field) {
  size_t sum = field.text().size() + static_cast<size_t>(field.int64_value() & 1);
  heron::model::ListItems items(field);
  FieldView item;
  size_t count = 0;
  while (items.Next(item)) {
    sum += Visit(item);
    ++count;
  }
  CHECK_EQ(count, field.list_size());
  return sum;
}

void Walk(std::string_view payload) {
  heron::model::TupleWalk walk(payload);
  std::vector<FieldView> fields;
  size_t before = 0;
  while (walk.Next(fields) == heron::model::TupleWalk::Step::kTuple) {
    for (const FieldView& field : fields) Visit(field);
    std::string again(heron::model::EncodedTupleBytes(fields), '\0');
    CHECK(!again.empty());
    heron::model::EncodeTuple(fields, again.data());
    CHECK(again == payload.substr(before, walk.offset() - before));
    before = walk.offset();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Walk(bytes);
  heron::Result<heron::model::BatchView> view = heron::model::DecodeBatch(bytes);
  if (!view.ok()) return 0;
  Walk(view->payload);
  char header[heron::model::kMaxBatchHeaderBytes];
  size_t header_bytes = heron::model::EncodeBatchHeader(view->header, view->payload.size(), header);
  std::string again = std::string(header, header_bytes) + std::string(view->payload);
  heron::Result<heron::model::BatchView> same = heron::model::DecodeBatch(again);
  CHECK(same.ok());
  CHECK(same->payload == view->payload);
  CHECK(same->header.source_epoch == view->header.source_epoch);
  CHECK_EQ(same->header.number, view->header.number);
  CHECK_EQ(same->header.destination_task, view->header.destination_task);
  return 0;
}
